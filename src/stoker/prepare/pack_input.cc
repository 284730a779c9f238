#include "stoker/prepare/pack_input.h"

#include <sys/stat.h>

#include <filesystem>

#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/prepare/unpacked.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

Result<void> check_source(const std::string& source) {
  struct stat found{};
  if (stat(source.c_str(), &found) != 0) {
    const Error why = Error::io("cannot open ", source);
    return Error::of(why.code(), why.message(), "; expected a folder of images, or idx, tar or TFRecord files");
  }
  if (S_ISDIR(found.st_mode) || S_ISREG(found.st_mode)) return {};
  return Error::precondition(source, " is neither a folder nor a regular file");
}

Result<void> check_name(const PackOptions& options) {
  if (options.name.find_first_of(std::string_view("/\n\0", 3)) == std::string::npos) return {};
  return Error::precondition(option_name(options.option_names, "name"), " '", options.name,
                             "' has a slash, line break or null byte, expected the prefix of a file name");
}

std::string own_name(const std::string& folder) {
  std::error_code unknown;
  fs::path path = fs::absolute(folder, unknown).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.has_filename() ? path.filename().string() : "data";
}

// The default name for a file or pattern: "train" for train-{000..010}.tar or
// train-*.tfrecord.
std::string samples_name(const std::string& source) {
  const fs::path path(source);
  std::string name = fs::is_directory(path) ? own_name(source) : fs::path(name_unpacked(source)).stem().string();
  name = name.substr(0, name.find_first_of("*?["));
  while (name.ends_with('-') || name.ends_with('_') || name.ends_with('.')) name.pop_back();
  return name.empty() ? "data" : name;
}

template <typename T>
Result<void> check_range(const PackOptions& options, const char* field, const std::optional<T>& value, int64_t most) {
  if (!value || (*value >= 1 && *value <= most)) return {};
  return Error::precondition(option_name(options.option_names, field), " is ", *value, ", expected 1 to ", most);
}

Result<void> check_options(const PackOptions& options) {
  const auto name_of = [&](const char* field) { return option_name(options.option_names, field); };
  STOKER_TRY(check_name(options));
  STOKER_TRY(check_range(options, "shards", options.shards, kMostShards));
  STOKER_TRY(check_range(options, "resize", options.resize, 65500));  // the largest side of a JPEG image
  STOKER_TRY(check_range(options, "quality", options.quality, 100));
  if (options.resize && options.keep_bytes)
    return Error::precondition(name_of("resize"), " changes images and ", name_of("keep_bytes"),
                               " does not; use only one of them");
  if (options.quality && !options.resize)
    return Error::precondition(name_of("quality"), " applies to images that ", name_of("resize"), " shrinks; add ",
                               name_of("resize"), " or remove ", name_of("quality"));
  return {};
}

}  // namespace

Result<PackInput> find_pack_input(const PackOptions& given, BadFiles& bad, const OnProgress& on_progress) {
  PackOptions options = given;
  STOKER_TRY(check_options(options));
  const Reporter progress(on_progress, {.phase = Phase::kFind});
  if (const SampleFiles samples = sample_files(options.source); !samples.paths.empty()) {
    if (options.name.empty() && options.split.empty()) options.name = samples_name(options.source);
    return sample_input(options, samples, bad, on_progress);
  }
  STOKER_TRY(check_source(options.source));
  bad.below(fs::is_directory(options.source) ? options.source : fs::path(options.source).parent_path().string());
  if (is_idx_source(options.source)) return idx_input(options);
  if (options.name.empty() && options.split.empty()) options.name = own_name(options.source);
  return image_input(options, bad);
}

Result<void> BadFiles::add(const std::string& path, const Error& error) {
  if (on_error_ == OnError::kSkip) {
    all_.push_back({path, error.message()});
    return {};
  }
  const std::string whole = folder_ + path;
  const std::string& message = error.message();
  const std::string& named = error.place().path.empty() ? whole : error.place().path;
  return Error::corrupt(message.find(named) == std::string::npos ? whole + ": " : "", message,
                        "; repair or remove it, or skip such files with ", option_name(names_, "on_error", "skip"));
}

PackedRecord record_of(Array image, int64_t label, Bytes path, int64_t how) {
  ExampleWriter example;
  example.set("label", std::span<const int64_t>(&label, 1));
  example.set("path", path);
  const ExampleWriter::Around around = example.serialized_around("image", image.bytes().size());
  const Bytes payload[] = {around.before, image.bytes(), around.behind};
  const RecordFrame frame = frame_of(payload);
  return {Array::of_bytes(frame.header + around.before), std::move(image),
          Array::of_bytes(around.behind + frame.footer), how};
}

}  // namespace stoker::prepare
