#include "stoker/sources/tar.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "stoker/codecs/archive.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/record_limit.h"
#include "stoker/io/file_set.h"
#include "stoker/io/stream.h"

namespace stoker {
namespace {

// Larger than any member of a training set, and small enough to stop a decompression bomb.
constexpr int64_t kMostMemberBytes = int64_t{1} << 31;

class StreamInput final : public ArchiveInput {
 public:
  explicit StreamInput(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)), buffer_(kPieceBytes) {}

  Result<Bytes> read() override {
    STOKER_TRY(const size_t count, bytes_->read(buffer_));
    return Bytes(buffer_.data(), count);
  }
  Result<int64_t> skip(int64_t wanted) override {
    const int64_t bytes = std::min(wanted, bytes_->left().value_or(0));
    if (bytes > 0) STOKER_TRY(bytes_->skip(bytes));
    return bytes;
  }

 private:
  static constexpr size_t kPieceBytes = 64 << 10;  // small, because of large members only the headers are read
  const std::unique_ptr<ByteStream> bytes_;
  std::vector<char> buffer_;
};

Result<std::unique_ptr<TarReader>> open_tar(const std::string& path, Compression compression) {
  STOKER_TRY(auto bytes, open_stream(path, compression));
  return TarReader::open(std::make_unique<StreamInput>(std::move(bytes)));
}

Error about(const std::string& path, const Error& error) {
  if (!error.place().path.empty()) return error;
  return Error::of(error.code(), path, ": ", error.message()).set_path(path);
}

std::string without_dot(std::string_view name) {
  while (name.starts_with("./") || name.starts_with('/')) name.remove_prefix(name.starts_with('/') ? 1 : 2);
  return std::string(name);
}

// The structure of the elements and the position of each component in it.
struct Structure {
  const Nest* nest = nullptr;

  explicit Structure(const std::vector<std::string>& components) {
    std::vector<Nest::Field> fields{{"__key__", Nest::leaf()}, {"__url__", Nest::leaf()}};
    for (const std::string& component : components) fields.emplace_back(component, Nest::leaf());
    nest = Nest::dict(std::move(fields));
  }

  Element element(const std::string& key, const std::string& url, std::vector<Array> components) const {
    Element element(nest, {});
    for (size_t i = 0; i < nest->leaf_count(); ++i) element.leaves.emplace_back(Array());
    element.leaves[nest->first_leaf(0)] = Array::of_bytes(key);
    element.leaves[nest->first_leaf(1)] = Array::of_bytes(url);
    for (size_t i = 0; i < components.size(); ++i) element.leaves[nest->first_leaf(i + 2)] = std::move(components[i]);
    return element;
  }
};

Error lacks(const std::string& path, const std::string& key, const std::string& component) {
  return Error::invalid(path, ": the sample ", key, " has no ", component).set_path(path);
}

// The members of one sample, by extension.
struct Sample {
  std::string key;
  std::map<std::string, ArchiveMember> parts;
  std::string problem;

  void add(const std::string& extension, const ArchiveMember& member) {
    const auto [before, fresh] = parts.emplace(extension, member);
    if (!fresh && problem.empty())
      problem = "the sample " + key + " has " + extension + " twice, at bytes " +
                std::to_string(before->second.offset) + " and " + std::to_string(member.offset);
  }
  std::vector<std::string> extensions() const {
    std::vector<std::string> names;
    for (const auto& [name, _] : parts) names.push_back(name);
    return names;
  }
};

// Indexes the samples of one uncompressed file, in the order of the first member of each key, and the error that ended
// the file early.
class FileIndex {
 public:
  explicit FileIndex(const std::string& path) : path_(path) {
    if (const Result<void> walked = walk(); !walked) failure = about(path, walked.error());
  }

  std::vector<Sample> samples;
  std::optional<Error> failure;

 private:
  Result<void> walk() {
    STOKER_TRY(const File file, File::open_regular(path_));
    if (file.size() == 0) return {};
    STOKER_TRY(const auto tar, open_tar(path_, Compression::kNone));
    while (true) {
      STOKER_TRY(std::optional<ArchiveMember> member, tar->next());
      if (!member) return {};
      stop_if_interrupted();
      if (member->size > file.size() - member->offset)
        return Error::corrupt(path_, " ends at byte ", file.size(), ", inside the member ", member->name, " of ",
                              member->size, " bytes at byte ", member->offset)
            .set_path(path_, member->offset);
      add(*std::move(member));
    }
  }

  void add(ArchiveMember member) {
    std::string problem;
    if (!member.link.empty()) problem = resolve(member);
    places_[without_dot(member.name)] = {member.offset, member.size};
    const std::optional<TarName> name = tar_name_of(member.name);
    if (!name) return;
    const auto [known, fresh] = by_key_.emplace(name->key, samples.size());
    if (fresh) samples.push_back({name->key, {}, {}});
    Sample& sample = samples[known->second];
    sample.add(name->extension, member);
    if (sample.problem.empty()) sample.problem = problem;
  }

  // Replaces a hard link by the member that it points to. Returns a message if that fails, otherwise an empty string.
  std::string resolve(ArchiveMember& member) const {
    const auto target = places_.find(without_dot(member.link));
    if (target == places_.end())
      return "the member " + member.name + " is a link to " + member.link + ", expected a link to an earlier member";
    std::tie(member.offset, member.size) = target->second;
    return {};
  }

  const std::string& path_;
  std::unordered_map<std::string, size_t> by_key_;
  std::unordered_map<std::string, std::pair<int64_t, int64_t>> places_;  // offset and size, for links
};

}  // namespace

std::optional<TarName> tar_name_of(std::string_view member) {
  TarName name{without_dot(member), {}};
  const size_t base = name.key.rfind('/') + 1;
  const size_t dot = name.key.find('.', base);
  if (dot == std::string::npos || dot == base) return std::nullopt;
  const bool from_macos = name.key.starts_with("__MACOSX/") || name.key.find("/__MACOSX/") != std::string::npos;
  const bool meta = name.key.compare(base, 2, "__") == 0 && name.key.ends_with("__");
  if (from_macos || meta) return std::nullopt;
  name.extension = name.key.substr(dot + 1);
  name.key.resize(dot);
  for (char& c : name.extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

// The samples of all uncompressed files as one list. An error that ends a file early has one position.
class Tar::Index {
 public:
  // Builds the index at the first call. Returns an error if the dataset cannot be used at all.
  const Result<void>& of(const Tar& tar) {
    std::call_once(once_, [&] { built_ = tar.by_position() ? build(tar) : look_into(tar); });
    return built_;
  }

  const Structure& structure() const { return *structure_; }
  const std::vector<std::string>& components() const { return components_; }
  int64_t length() const { return static_cast<int64_t>(samples_.size()); }
  Name name_of(int64_t i) const {
    const Entry& entry = samples_[static_cast<size_t>(i)];
    return {entry.file, entry.key};
  }
  RecordName describe_record(int64_t i) const {
    if (i < 0 || i >= length()) return {};
    const Entry& entry = samples_[static_cast<size_t>(i)];
    if (entry.error) return {};
    const std::string& path = files_->path(entry.file);
    return {"sample " + entry.key + " of " + path, path};
  }

  Result<Element> read(int64_t i) {
    const Entry& entry = samples_[static_cast<size_t>(i)];
    if (entry.error) return *entry.error;
    std::vector<Array> parts;
    for (size_t c = 0; c < components_.size(); ++c) {
      const Place& place = places_[entry.first_place + c];
      STOKER_TRY(Array part, files_->read(entry.file, place.offset, place.size));
      parts.push_back(std::move(part));
    }
    return structure_->element(entry.key, files_->path(entry.file), std::move(parts));
  }

 private:
  struct Place {
    int64_t offset, size;
  };
  struct Entry {
    size_t file;
    std::string key;
    size_t first_place;
    std::unique_ptr<Error> error;  // if set, the sample has no places
  };

  Result<void> build(const Tar& tar) {
    files_.emplace(tar.filenames);
    components_ = tar.components;
    samples_.clear();  // left by an interrupted build
    places_.clear();
    for (size_t file = 0; file < files_->size(); ++file) add(file, FileIndex(files_->path(file)));
    if (components_.empty()) {
      if (!samples_.empty() && samples_[0].error) return *samples_[0].error;
      return Error::invalid("the files contain no samples; list the extensions in `components`");
    }
    structure_.emplace(components_);
    return {};
  }

  void add(size_t file, FileIndex found) {
    if (components_.empty() && !found.samples.empty()) components_ = found.samples[0].extensions();
    for (const Sample& sample : found.samples) {
      const bool last = &sample == &found.samples.back();
      if (last && found.failure && !missing(sample).empty())
        break;  // the error of the file replaces the incomplete sample
      add(file, sample);
    }
    if (found.failure) samples_.push_back({file, {}, 0, std::make_unique<Error>(*found.failure)});
  }

  void add(size_t file, const Sample& sample) {
    Entry entry{file, sample.key, places_.size(), nullptr};
    const std::string& path = files_->path(file);
    if (const std::string component = missing(sample); !component.empty())
      entry.error = std::make_unique<Error>(lacks(path, sample.key, component));
    else if (!sample.problem.empty())
      entry.error = std::make_unique<Error>(Error::invalid(path, ": ", sample.problem).set_path(path));
    else
      for (const std::string& component : components_) {
        const ArchiveMember& member = sample.parts.at(component);
        places_.push_back({member.offset, member.size});
      }
    samples_.push_back(std::move(entry));
  }

  std::string missing(const Sample& sample) const {
    for (const std::string& component : components_)
      if (!sample.parts.contains(component)) return component;
    return {};
  }

  // For compressed files, only the components must be known in advance.
  Result<void> look_into(const Tar& tar);

  std::once_flag once_;
  Result<void> built_;
  std::optional<FileSet> files_;
  std::vector<std::string> components_;
  std::optional<Structure> structure_;
  std::vector<Entry> samples_;
  std::vector<Place> places_;  // for each sample, one place per component
};

// A sample of a compressed file, with the bytes of each extension.
struct Tar::SampleParts {
  std::string key;
  std::map<std::string, std::string> parts;
  int64_t bytes = 0;  // total size of the parts
  std::string problem;
  std::optional<Error> too_large;  // the error of the last part that was too large
};

// Reads the samples of one compressed file in order. Members of one key that are not adjacent become two samples.
class Tar::Samples {
 public:
  static Result<std::shared_ptr<Samples>> open(const std::string& path, const std::string& compression) {
    STOKER_TRY(const Compression known, compression_of(compression));
    Result<std::unique_ptr<TarReader>> tar = open_tar(path, known);
    if (!tar) return about(path, tar.error());
    return std::make_shared<Samples>(path, *std::move(tar));
  }
  Samples(std::string path, std::unique_ptr<TarReader> tar) : path_(std::move(path)), tar_(std::move(tar)) {}

  // Returns the next sample, or nothing at the end. If `read` is true, the sample has the bytes of its members.
  Result<std::optional<SampleParts>> next(bool read) {
    Result<std::optional<SampleParts>> found = gather(read);
    if (!found) return about(path_, found.error());
    return found;
  }

 private:
  Result<std::optional<SampleParts>> gather(bool read) {
    std::optional<SampleParts> found;
    while (true) {
      STOKER_TRY(const bool more, look());
      if (!more || (found && found->key != name_.key)) return found;
      if (!found) found.emplace().key = name_.key;
      std::string bytes;
      if (read && ahead_->link.empty()) {
        const int64_t most = std::min(kMostMemberBytes, record_limit());
        Result<std::string> read_bytes = tar_->contents(most - found->bytes);
        const bool too_large = !read_bytes && read_bytes.error().code() == Code::kResourceExhausted;
        if (!read_bytes && !too_large) return read_bytes.error();
        if (too_large)
          found->too_large = record_too_large("member " + ahead_->name, path_, ahead_->offset, most);
        else
          bytes = *std::move(read_bytes);
        found->bytes += static_cast<int64_t>(bytes.size());
      }
      if (!ahead_->link.empty())
        found->problem = "the member " + ahead_->name + " is a hard link, which is not supported in compressed files";
      if (!found->parts.emplace(name_.extension, std::move(bytes)).second)
        found->problem = "the sample " + found->key + " has " + name_.extension + " twice";
      ahead_.reset();
    }
  }

  // Moves to the next member that is part of a sample.
  Result<bool> look() {
    while (!ahead_) {
      STOKER_TRY(ahead_, tar_->next());
      if (!ahead_) return false;
      const std::optional<TarName> name = tar_name_of(ahead_->name);
      if (name) name_ = *name;
      if (!name) ahead_.reset();
    }
    return true;
  }

  const std::string path_;
  const std::unique_ptr<TarReader> tar_;
  std::optional<ArchiveMember> ahead_;
  TarName name_;  // of ahead_
};

Result<void> Tar::Index::look_into(const Tar& tar) {
  components_ = tar.components;
  for (const std::string& path : tar.filenames) {
    if (!components_.empty()) break;
    if (is_special_file(path))
      return Error::precondition(path, " is not a regular file and can be read only once; ",
                                 "list the extensions in `components`")
          .set_path(path);
    STOKER_TRY(const auto samples, Samples::open(path, tar.compression_type));
    STOKER_TRY(const auto first, samples->next(false));
    if (!first) continue;
    for (const auto& [extension, _] : first->parts) components_.push_back(extension);
  }
  if (components_.empty()) return Error::invalid("the files contain no samples; list the extensions in `components`");
  structure_.emplace(components_);
  return {};
}

std::shared_ptr<Tar::Index> Tar::new_index() { return std::make_shared<Index>(); }

Result<void> Tar::check() const {
  STOKER_TRY(const Compression known, compression_of(compression_type));
  (void)known;
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  for (size_t i = 0; i < components.size(); ++i)
    if (std::ranges::count(components, components[i]) > 1 || components[i].starts_with("__"))
      return Error::invalid("components contains '", components[i], "', expected distinct extensions such as 'jpg'");
  return index->of(*this);
}

Result<void> Tar::check_state(const State& state) const {
  if (state.file >= 0 && state.samples >= 0 && state.samples < kEndless) return {};
  return Error::invalid("the checkpoint is damaged: sample ", state.samples, " of file ", state.file);
}

Result<Spec> Tar::spec(std::span<const Spec>) const {
  STOKER_TRY(index->of(*this));
  const Nest* const nest = index->structure().nest;
  return Spec{nest, std::vector<LeafSpec>(nest->leaf_count(), {DType::kBytes, std::vector<int64_t>{}})};
}

RecordName Tar::describe_record(const Origin& origin) const {
  return by_position() && index->of(*this) ? index->describe_record(origin.position) : RecordName();
}

Tar::Name Tar::name_of(int64_t position) const { return index->name_of(position); }

Result<int64_t> Tar::length(Context&) const {
  STOKER_TRY(index->of(*this));
  return index->length();
}

Result<Element> Tar::load(Element element, Context&) const {
  if (!by_position()) return element;
  return index->read(element[0].scalar<int64_t>());
}

// Opens the current file of the state and skips the samples that were already returned.
Result<void> Tar::open(State& state, const Context& context) const {
  const std::string& path = filenames[static_cast<size_t>(state.file)];
  STOKER_TRY(state.reader, Samples::open(path, compression_type));
  for (int64_t i = 0; i < state.samples; ++i) {
    if (context.stopped()) return Error::cancelled();
    STOKER_TRY(const auto passed, state.reader->next(false));
    if (!passed)
      return Error::corrupt(path, " has ", i, " samples, expected at least ", state.samples, ": the file has changed")
          .set_path(path);
  }
  return {};
}

Result<std::optional<Element>> Tar::next(State& state, Context& context) const {
  STOKER_TRY(index->of(*this));
  while (state.file < static_cast<int64_t>(filenames.size())) {
    const std::string& path = filenames[static_cast<size_t>(state.file)];
    const Result<void> opened = state.reader ? Result<void>() : open(state, context);
    Result<std::optional<SampleParts>> found =
        opened ? state.reader->next(true) : Result<std::optional<SampleParts>>(opened.error());
    if (found && *found) {
      ++state.samples;
      STOKER_TRY(Element element, element_of(*std::move(*found), path));
      return std::optional<Element>(std::move(element));
    }
    ++state.file;
    state.samples = 0;
    state.reader.reset();
    if (!found) return std::move(found).error();
  }
  return std::optional<Element>();
}

Result<Element> Tar::element_of(SampleParts found, const std::string& path) const {
  if (found.too_large) return *found.too_large;
  std::vector<Array> parts;
  for (const std::string& component : index->components()) {
    const auto part = found.parts.find(component);
    if (part == found.parts.end()) return lacks(path, found.key, component);
    parts.push_back(Array::of_bytes(part->second));
  }
  if (!found.problem.empty()) return Error::invalid(path, ": ", found.problem).set_path(path);
  return index->structure().element(found.key, path, std::move(parts));
}

}  // namespace stoker
