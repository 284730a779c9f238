// `stoker pack`: pictures and idx files into TFRecord shards.
#include "cli/pack.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kShardBytes = int64_t{128} << 20;
constexpr int64_t kMostShards = 99999;  // five digits
constexpr size_t kMostListed = 20;

struct Written {
  std::vector<PartialFile> files;
  int64_t records = 0;
  int64_t bytes = 0;
};

// ---- before anything is written

Result<void> check_source(const std::string& source) {
  struct stat found{};
  if (stat(source.c_str(), &found) != 0) {
    const Error why = Error::io("cannot look at ", source);
    return Error::precondition(why.message(), "; SRC is a folder of pictures, or idx files");
  }
  if (S_ISDIR(found.st_mode) || S_ISREG(found.st_mode)) return {};
  return Error::precondition(source, " is neither a folder nor a file");
}

Result<void> check_name(const std::string& name) {
  if (name.find_first_of(std::string_view("/\n\0", 3)) == std::string::npos) return {};
  return Error::precondition("--name '", name, "' would be no file name in DST; it begins the names of the shards");
}

std::string own_name(const std::string& folder) {
  std::error_code unknown;
  fs::path path = fs::absolute(folder, unknown).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.has_filename() ? path.filename().string() : "data";
}

Result<PackInput> input_of(PackOptions options, BadFiles& bad) {
  STOKER_TRY(check_source(options.source));
  STOKER_TRY(check_name(options.name));
  if (is_idx_source(options.source)) return idx_input(options);
  if (options.name.empty()) options.name = own_name(options.source);
  return picture_input(options, bad);
}

std::string text_of_classes(const std::vector<std::string>& classes) {
  std::string text;
  for (const std::string& name : classes) text += name + "\n";
  return text;
}

// "train-00003-of-00008.tfrecord"
bool is_shard_of(std::string_view file, const std::string& name) {
  constexpr std::string_view kPattern = "-00000-of-00000.tfrecord";  // 0: a digit
  if (!file.starts_with(name) || file.size() != name.size() + kPattern.size()) return false;
  return std::ranges::equal(file.substr(name.size()), kPattern, [](char found, char wanted) {
    return wanted == '0' ? std::isdigit(static_cast<unsigned char>(found)) != 0 : found == wanted;
  });
}

// Shards in the target under one of the names to be written.
std::vector<std::string> old_shards(const std::string& target, const PackInput& input) {
  std::vector<std::string> old;
  std::error_code none;
  for (fs::directory_iterator at(target, none); !none && at != fs::directory_iterator(); at.increment(none))
    for (const Split& split : input.splits)
      if (is_shard_of(at->path().filename().string(), split.name)) old.push_back(at->path().string());
  return old;
}

Result<void> check_classes(const PackInput& input) {
  for (const std::string& name : input.classes)
    if (name.find('\n') != std::string::npos)
      return Error::corrupt("the class '", name, "' has a line break in its name, and labels.txt one class a line");
  return {};
}

// Labels of other shards there would mean something else.
Result<void> check_labels_file(const std::string& path, const PackInput& input) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return {};
  STOKER_TRY(const std::string text, read_text_file(path));
  if (text == text_of_classes(input.classes)) return {};
  return Error::precondition(path, " is there already and names other classes; choose another folder, or --overwrite");
}

Result<int64_t> shard_count(const PackOptions& options, const Split& split) {
  if (!options.shards) return std::max<int64_t>(1, std::min({split.bytes / kShardBytes, split.count, kMostShards}));
  if (*options.shards <= split.count) return *options.shards;
  return Error::precondition("--shards ", *options.shards, " for ", split.count, " records of '", split.name,
                             "' leaves some empty; at most ", split.count);
}

Result<void> prepare_target(const PackOptions& options, const PackInput& input) {
  STOKER_TRY(check_classes(input));
  for (const Split& split : input.splits) STOKER_TRY(shard_count(options, split));
  std::error_code failed;
  fs::create_directories(options.target, failed);
  if (failed) return Error::from_errno(failed.value(), "cannot make the folder " + options.target);
  if (options.overwrite) return {};
  const std::vector<std::string> old = old_shards(options.target, input);
  if (!old.empty())
    return Error::precondition(*std::ranges::min_element(old),
                               " is there already; --overwrite replaces the shards of that name, --name gives another");
  return check_labels_file(options.target + "/labels.txt", input);
}

// ---- writing

class ShardWriter {
 public:
  ShardWriter(const PackOptions& options, int64_t records, BadFiles& bad)
      : options_(options), bad_(bad), progress_({"pictures", records, Progress::By::kThings, options.quiet}) {}

  Result<void> write(const Split& split) {
    STOKER_TRY(const int64_t shards, shard_count(options_, split));
    Loader loader(split.records, {.interrupted = [] { return interrupted(); }});
    int64_t at = 0;
    for (int64_t shard = 0; shard < shards; ++shard) {
      const std::string name = fmt::format("{}-{:05}-of-{:05}.tfrecord", split.name, shard, shards);
      STOKER_TRY(PartialFile file, PartialFile::create(options_.target + "/" + name));
      for (const int64_t end = split.count * (shard + 1) / shards; at < end; ++at)
        STOKER_TRY(write_record(split, at, loader, file));
      STOKER_TRY(file.finish());
      written_.files.push_back(std::move(file));
    }
    return {};
  }

  Written take() { return std::move(written_); }

 private:
  Result<void> write_record(const Split& split, int64_t at, Loader& loader, PartialFile& file) {
    const Result<std::optional<Element>> next = loader.next();
    if (interrupted()) return Error::cancelled();
    if (!next) {
      progress_.advance(1, 0);
      return bad_.add(split.path_of(at), next.error());
    }
    const Bytes record = next.value()->leaves[0].bytes();
    ++written_.records;
    written_.bytes += static_cast<int64_t>(record.size());
    progress_.advance(1, static_cast<int64_t>(record.size()));
    return file.append(record);
  }

  const PackOptions& options_;
  BadFiles& bad_;
  Progress progress_;
  Written written_;
};

// Gives everything its name.
Result<void> keep(const PackOptions& options, const PackInput& input, Written& written) {
  const std::string labels_path = options.target + "/labels.txt";
  STOKER_TRY(PartialFile labels, PartialFile::create(labels_path));
  STOKER_TRY(labels.append(text_of_classes(input.classes)));
  STOKER_TRY(labels.finish());
  for (const std::string& old : old_shards(options.target, input))
    if (unlink(old.c_str()) != 0) return Error::io("cannot replace ", old);
  for (PartialFile& file : written.files) STOKER_TRY(file.keep());
  if (!input.classes.empty()) return labels.keep();
  unlink(labels_path.c_str());
  return {};
}

Result<Written> write(const PackOptions& options, const PackInput& input, BadFiles& bad) {
  const Uninterrupted until_done;  // the loop ends at once by itself, and removes what it began
  int64_t records = 0;
  for (const Split& split : input.splits) records += split.count;
  ShardWriter writer(options, records, bad);
  for (const Split& split : input.splits) STOKER_TRY(writer.write(split));
  Written written = writer.take();
  if (written.records == 0)
    return Error::corrupt("none of the ", bad.all().size(), " files could be packed; the first is ", bad.all()[0].path,
                          ": ", bad.all()[0].error);
  STOKER_TRY(keep(options, input, written));
  return written;
}

// ---- telling

Json json_of(const Written& written, const PackInput& input, const BadFiles& bad) {
  Json json = Json::dict(), shards = Json::list(), classes = Json::list(), skipped = Json::list();
  for (const PartialFile& file : written.files) shards.push(json_text(file.path()));
  for (const std::string& name : input.classes) classes.push(json_text(name));
  for (const BadFile& file : bad.all()) {
    Json one = Json::dict();
    one.set("path", json_text(file.path));
    one.set("error", json_text(file.error));
    skipped.push(std::move(one));
  }
  json.set("records", written.records);
  json.set("bytes", written.bytes);
  json.set("shards", std::move(shards));
  json.set("classes", std::move(classes));
  json.set("skipped", std::move(skipped));
  json.set("left_out", input.left_out);
  return json;
}

void say_what_was_written(const PackOptions& options, const Written& written, const PackInput& input, double seconds) {
  print_line(fmt::format("{} in {}, {}, in {}", plural(written.records, "record", "records"),
                         plural(static_cast<int64_t>(written.files.size()), "shard", "shards"),
                         bytes_words(static_cast<double>(written.bytes)), seconds_words(seconds)));
  const size_t listed = std::min(written.files.size(), kMostListed);
  for (size_t i = 0; i < listed; ++i) print_line("  " + written.files[i].path());
  if (written.files.size() > listed) print_line(fmt::format("  and {} more", written.files.size() - listed));
  if (!input.classes.empty())
    print_line(fmt::format("  {}/labels.txt: {}", options.target,
                           plural(static_cast<int64_t>(input.classes.size()), "class", "classes")));
  if (input.left_out > 0)
    print_line(fmt::format("  {} left out: hidden, or named as something else",
                           plural(input.left_out, "file was", "files were")));
}

void list_skipped(const BadFiles& bad) {
  if (bad.all().empty()) return;
  const auto count = static_cast<int64_t>(bad.all().size());
  remark(plural(count, "file was", "files were") + " skipped:");
  for (const BadFile& file : std::span(bad.all()).first(std::min(bad.all().size(), kMostListed)))
    remark("  " + file.path + "  " + file.error);
  if (bad.all().size() > kMostListed)
    remark(fmt::format("  and {} more; --json lists all", grouped(count - static_cast<int64_t>(kMostListed))));
}

}  // namespace

Result<void> BadFiles::add(const std::string& path, const Error& error) {
  if (skip_) {
    all_.push_back({path, error.message()});
    return {};
  }
  const std::string whole = folder_ + "/" + path;
  const std::string& message = error.message();
  return Error::corrupt(message.find(whole) == std::string::npos ? whole + ": " : "", message,
                        "; mend or remove it, or leave such files out by --on-error skip");
}

std::string record_of(Bytes image, int64_t label, Bytes path) {
  ExampleWriter example;
  example.set("image", image);
  example.set("label", std::span<const int64_t>(&label, 1));
  example.set("path", path);
  std::string record;
  append_record(record, example.serialized());
  return record;
}

int pack(const PackOptions& options) {
  const Clock::time_point begun = Clock::now();
  BadFiles bad(options.source, options.skip_errors);
  const Result<PackInput> input = input_of(options, bad);
  if (!input) return refuse(input.error());
  if (const Result<void> prepared = prepare_target(options, *input); !prepared) return refuse(prepared.error());
  const Result<Written> written = write(options, *input, bad);
  if (!written) return refuse(written.error());
  if (options.json)
    print_line(json_of(*written, *input, bad).text(2));
  else if (!options.quiet)
    say_what_was_written(options, *written, *input, seconds_since(begun));
  if (!options.quiet) list_skipped(bad);
  return kFine;
}

}  // namespace stoker::cli
