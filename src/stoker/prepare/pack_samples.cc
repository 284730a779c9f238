// Reads images and labels for pack() from tar files in WebDataset's layout and from TFRecord files.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>

#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"
#include "stoker/io/file.h"
#include "stoker/prepare/image_check.h"
#include "stoker/prepare/inputs.h"
#include "stoker/prepare/pack_input.h"
#include "stoker/prepare/unpacked.h"
#include "stoker/sources/range.h"
#include "stoker/sources/record_index.h"
#include "stoker/sources/tar.h"
#include "stoker/transforms/map.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

constexpr std::array kImageParts = {"jpg", "jpeg", "png", "webp", "gif", "bmp"};
constexpr std::array kLabelParts = {"cls", "json"};
constexpr std::array kLabelKeys = {"label", "cls", "class", "class_id"};

// An image with its label and path.
struct Found {
  Array image;
  int64_t label = 0;
  std::string path;
};

// Where an image comes from: the index of its file, and " record 7" or
// " sample 00012"; empty if the sample has no key.
struct Name {
  size_t file = 0;
  std::string part;
};

// Images by position. at() is safe from several threads.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual int64_t count() const = 0;
  virtual Name name(int64_t i) const = 0;
  virtual Result<Found> at(int64_t i) const = 0;
};

bool is_tar(const std::string& path) { return name_unpacked(path).ends_with(".tar"); }

bool is_file(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// ---- tar

Result<int64_t> number_in(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  return Error::corrupt("the label is '", text.substr(0, 40), "', expected an integer");
}

Result<int64_t> label_in_json(Bytes text) {
  STOKER_TRY(const Json json, parse_json(text));
  for (const char* key : kLabelKeys)
    if (const Json* found = json.find(key); found && found->as<int64_t>()) return *found->as<int64_t>();
  return Error::corrupt("the json has no label, expected an integer under label, cls, class or class_id");
}

class TarSamples final : public Samples {
 public:
  static Result<std::shared_ptr<const Samples>> open(const PackOptions& options,
                                                     const std::vector<std::string>& paths) {
    auto samples = std::make_shared<TarSamples>();
    samples->tar_.filenames = paths;
    if (const Result<void> checked = samples->tar_.check(); !checked) {
      if (checked.error().code() != Code::kInvalidArgument) return checked.error();
      return Error::corrupt(options.source, " contains no samples, expected files such as 0001.jpg and 0001.cls");
    }
    STOKER_TRY(const Spec spec, samples->tar_.spec({}));
    STOKER_TRY(samples->image_, one_of(spec, kImageParts, "image (jpg, png, ...)", options.source));
    STOKER_TRY(samples->label_, one_of(spec, kLabelParts, "label (cls, json)", options.source));
    Context context;
    STOKER_TRY(samples->count_, samples->tar_.length(context));
    return std::shared_ptr<const Samples>(std::move(samples));
  }

  int64_t count() const override { return count_; }
  Name name(int64_t i) const override {
    Tar::Name name = tar_.name_of(i);
    return {name.file, name.key.empty() ? "" : " sample " + name.key};
  }

  Result<Found> at(int64_t i) const override {
    Context context;
    STOKER_TRY(const Element sample, tar_.load(Element(Array::of(i)), context));
    const Bytes text = sample[label_].bytes();
    STOKER_TRY(const int64_t label, label_ == "cls" ? number_in(text) : label_in_json(text));
    return Found{sample[image_], label, std::string(sample["__key__"].bytes()) + "." + image_};
  }

 private:
  template <size_t n>
  static Result<std::string> one_of(const Spec& spec, const std::array<const char*, n>& names, const char* what,
                                    const std::string& source) {
    for (const char* name : names)
      if (spec.nest->find(name)) return std::string(name);
    std::string found;
    for (const auto& [name, _] : spec.nest->fields())
      if (!name.starts_with("__")) found += (found.empty() ? "" : ", ") + name;
    return Error::corrupt("the first sample of ", source, " has no ", what, "; it has ", found);
  }

  Tar tar_;
  std::string image_;
  std::string label_;
  int64_t count_ = 0;
};

// ---- TFRecord

class RecordSamples final : public Samples {
 public:
  static Result<std::shared_ptr<const Samples>> open(const PackOptions& options, std::vector<std::string> paths) {
    auto samples = std::make_shared<RecordSamples>();
    samples->paths_ = std::move(paths);
    samples->count_ = samples->index_.records(samples->paths_);
    samples->find_begins();
    if (samples->count_ == 0) return Error::corrupt(options.source, " contains no records");
    STOKER_TRY(samples->choose(options));
    return std::shared_ptr<const Samples>(std::move(samples));
  }

  int64_t count() const override { return count_; }
  Name name(int64_t i) const override {
    const auto file = static_cast<size_t>(std::ranges::upper_bound(begins_, i) - begins_.begin()) - 1;
    return {file, " record " + std::to_string(i - begins_[file])};
  }

  Result<Found> at(int64_t i) const override {
    STOKER_TRY(const Array record, index_.read(i));
    STOKER_TRY(const Feature image, find_feature(record.bytes(), image_));
    if (image.kind != Feature::Kind::kBytes)
      return Error::corrupt("the feature '", image_, "' has no bytes, expected an image");
    STOKER_TRY(const std::vector<Bytes> images, strings_in(image));
    if (images.size() != 1)
      return Error::corrupt("the feature '", image_, "' has ", images.size(), " values, expected one image");
    STOKER_TRY(const int64_t label, label_in(record.bytes(), label_));
    record.owner()->keep();  // the view of the image is another owner
    return Found{Array::view_bytes(images[0], record.owner()), label, path_of(record.bytes(), i)};
  }

 private:
  // Finds the position of each file's first record. A file that cannot be read
  // counts as one record, which fails.
  void find_begins() {
    int64_t begin = 0;
    for (const std::string& path : paths_) {
      stop_if_interrupted();
      begins_.push_back(begin);
      std::optional<FileIndex> index = FileIndex::kept(path);
      if (Result<FileIndex> made = index ? Result<FileIndex>(*index) : FileIndex::made(path); made)
        begin += made->view().records();
      else
        ++begin;
    }
  }

  // Chooses the features that the options do not name, from the first complete record.
  Result<void> choose(const PackOptions& options) {
    Result<void> chosen;
    for (int64_t i = 0; i < std::min(count_, kLookedAt); ++i) {
      const Result<Array> record = index_.read(i);
      const Result<void> now = record ? choose(options, record->bytes()) : Result<void>(record.error());
      if (now || now.error().code() == Code::kFailedPrecondition) return now;
      if (i == 0) chosen = Error::corrupt(paths_[0], " record 0: ", now.error().message());
    }
    return chosen;
  }

  // Returns FailedPrecondition if the record is a tf.train.Example without such features.
  Result<void> choose(const PackOptions& options, Bytes record) {
    image_ = options.image_feature;
    label_ = options.label_feature;
    std::string names;
    FeatureWalk walk(record);
    while (true) {
      STOKER_TRY(const bool any, walk.next());
      if (!any) break;
      const std::string name(walk.name());
      names += (names.empty() ? "" : ", ") + name;
      STOKER_TRY(const Feature feature, walk.feature());
      if (feature.kind == Feature::Kind::kInt64 && label_.empty() && name.ends_with("label")) label_ = name;
      if (feature.kind != Feature::Kind::kBytes || !image_.empty()) continue;
      STOKER_TRY(const std::vector<Bytes> values, strings_in(feature));
      if (values.size() == 1 && looks_like_image(values[0])) image_ = name;
    }
    if (image_.empty())
      return Error::precondition("no feature of the first record contains an image, found ", names, "; name one with ",
                                 option_name(options.option_names, "image_feature"));
    if (label_.empty())
      return Error::precondition("no int64 feature of the first record has a name that ends with 'label', found ",
                                 names, "; name one with ", option_name(options.option_names, "label_feature"));
    return {};
  }

  static std::string path_of(Bytes record, int64_t i) {
    for (const char* name : {"path", "image/filename", "filename"}) {
      const Result<Feature> feature = find_feature(record, name);
      if (!feature || feature->kind != Feature::Kind::kBytes) continue;
      const Result<std::vector<Bytes>> values = strings_in(*feature);
      if (values && values->size() == 1) return std::string(values->front());
    }
    return std::to_string(i);
  }

  static constexpr int64_t kLookedAt = 1000;  // maximum number of unreadable records before the first readable one

  std::vector<std::string> paths_;
  mutable RecordIndex index_;
  int64_t count_ = 0;
  std::vector<int64_t> begins_;
  std::string image_;
  std::string label_;
};

// Names samples in errors by the files that the user passed, not by their
// decompressed copies.
class Names {
 public:
  Names(std::shared_ptr<const Samples> samples, std::vector<std::string> given, std::vector<std::string> read)
      : samples_(std::move(samples)), given_(std::move(given)), read_(std::move(read)) {}

  std::string whole(int64_t i) const {
    const Name name = samples_->name(i);
    return given_[name.file] + name.part;
  }
  // The key that determines the split of a sample. It has no folder, so that a
  // copy in another folder, or a decompressed one, is split in the same way.
  std::string key(int64_t i) const {
    const Name name = samples_->name(i);
    return fs::path(read_[name.file]).filename().string() + name.part;
  }
  Error in_words(int64_t i, const Error& error) const {
    const size_t file = samples_->name(i).file;
    std::string message = error.message();
    const size_t at = message.find(read_[file]);
    if (at == std::string::npos) return error;
    return Error(error.code(), message.replace(at, read_[file].size(), given_[file])).set_path(given_[file]);
  }

 private:
  const std::shared_ptr<const Samples> samples_;
  const std::vector<std::string> given_, read_;
};

Split split_of(const PackOptions& options, Share share, const std::shared_ptr<const Samples>& samples,
               const std::shared_ptr<const Names>& names, int64_t bytes) {
  const auto count = static_cast<int64_t>(share.order.size());
  const auto order = std::make_shared<const std::vector<int64_t>>(std::move(share.order));
  const auto number = [order](int64_t i) { return (*order)[static_cast<size_t>(i)]; };
  Dataset records = Dataset::range({.stop = count})
                        .map({.map_func = [options, samples, names, number](int64_t i) -> Result<PackedRecord> {
                          const Result<Found> found = samples->at(number(i));
                          if (!found) return names->in_words(number(i), found.error());
                          return packed_record(found->image, found->label, found->path, options);
                        }});
  const int64_t share_of_bytes = samples->count() > 0 ? bytes / samples->count() * count : 0;
  return {share.name, count, share_of_bytes, std::move(records),
          [names, number](int64_t i) { return names->whole(number(i)); }};
}

// An empty mark if the file cannot be read; reading its records reports the error.
FileMark mark_if_readable(const std::string& path) {
  const Result<FileMark> mark = mark_of(path);
  return mark ? *mark : FileMark();
}

}  // namespace

SampleFiles sample_files(const std::string& source) {
  if (!fs::exists(source) && source.find_first_of("*?[") == std::string::npos) return {};
  if (is_file(source) && is_tar(source)) return {{source}, SampleKind::kTar};
  std::error_code failed;
  SampleFiles tars;
  for (fs::directory_iterator at(source, failed); !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    if (at->is_directory(failed) || named_as_image(name)) return {};
    if (is_tar(name)) tars.paths.push_back(at->path().string());
  }
  std::ranges::sort(tars.paths);
  if (!tars.paths.empty()) return tars;
  const Result<Inputs> inputs = find_inputs({source});
  stop_if_interrupted();  // other errors are reported when the source is checked
  SampleFiles records{{}, SampleKind::kRecords};
  for (const InputFile& file : inputs ? inputs->files : std::vector<InputFile>()) {
    if (is_tar(file.path)) tars.paths.push_back(file.path);
    if (looks_like_records(file)) records.paths.push_back(file.path);
  }
  return tars.paths.empty() ? records : tars;
}

Result<PackInput> sample_input(const PackOptions& options, const SampleFiles& files, BadFiles& bad,
                               const OnProgress& on_progress) {
  if (!options.labels.empty())
    return Error::precondition(options.source, " contains labels; remove ",
                               option_name(options.option_names, "labels"));
  PackInput input;
  STOKER_TRY(input.unpacked, Unpacked::of(files.paths, options.destination, bad, on_progress));
  const std::vector<std::string>& paths = input.unpacked->paths();
  STOKER_TRY(const std::shared_ptr<const Samples> samples,
             files.kind == SampleKind::kTar ? TarSamples::open(options, paths) : RecordSamples::open(options, paths));
  const auto names = std::make_shared<const Names>(samples, files.paths, paths);
  input.classes = classes_next_to(files.paths[0]);
  int64_t bytes = 0;
  for (const std::string& path : files.paths) {
    const FileMark mark = mark_if_readable(path);
    const uint64_t numbers[] = {static_cast<uint64_t>(mark.bytes), static_cast<uint64_t>(mark.changed_ns),
                                mark.ends_hash};
    input.mark = hash_of({reinterpret_cast<const char*>(numbers), sizeof(numbers)}, hash_of(path, input.mark));
  }
  for (const std::string& path : paths) bytes += mark_if_readable(path).bytes;
  input.mark = hash_of(options.image_feature + "\n" + options.label_feature, input.mark);
  STOKER_TRY(std::vector<Share> shares, shares_of(options, samples->count(), [&](int64_t i) { return names->key(i); }));
  for (Share& share : shares) input.splits.push_back(split_of(options, std::move(share), samples, names, bytes));
  return input;
}

}  // namespace stoker::prepare
