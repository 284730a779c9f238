#include "stoker/prepare/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "stoker/codecs/tfrecord.h"
#include "stoker/core/interrupt.h"
#include "stoker/io/file.h"
#include "stoker/io/glob.h"
#include "stoker/prepare/image_check.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClassesFile = "labels.txt";  // pack() writes it next to its shards
constexpr std::array kImageEndings = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp"};

std::string lower_name(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool named_as_records(const std::string& path) {
  const std::string name = lower_name(path);
  return name.find(".tfrec") != std::string::npos || name.ends_with(".record") || name.ends_with(".records");
}

bool is_hidden(const std::string& name) { return name.starts_with('.') || name == "__MACOSX"; }

// ZLIB has no magic number. Its first two bytes are a multiple of 31, and all
// writers produce 0x78 as the first.
bool begins_like_zlib(Bytes front) {
  if (front.size() < 2 || front[0] != 0x78) return false;
  return (0x78 * 256 + static_cast<unsigned char>(front[1])) % 31 == 0;
}

bool begins_with_record(Bytes front) { return front.size() >= kRecordHeaderBytes && record_length(front); }

Compression compression_in(Bytes front) {
  using namespace std::string_view_literals;
  if (begins_with_record(front)) return Compression::kNone;
  if (front.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (front.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::kZstd;
  return begins_like_zlib(front) ? Compression::kZlib : Compression::kNone;
}

Result<std::string> front_of(const std::string& path, Compression compression) {
  STOKER_TRY(const auto bytes, open_stream(path, compression));
  std::string front(32, '\0');
  size_t count = 0, more = 1;
  for (; more > 0 && count < front.size(); count += more) {
    STOKER_TRY(more, bytes->read(std::span(front).subspan(count)));
  }
  front.resize(count);
  return front;
}

class Finder {
 public:
  Result<void> add(const std::string& path) {
    struct stat status{};
    if (stat(path.c_str(), &status) == 0) return add(path, status);
    const Error missing = Error::io("cannot open ", path);
    if (path.find_first_of("*?[") == std::string::npos) return missing;
    const Result<std::vector<std::string>> matches = list_files({path});
    if (!matches) return Error::precondition(matches.error().message());
    for (const std::string& match : *matches)
      if (stat(match.c_str(), &status) == 0) STOKER_TRY(add(match, status));
    return {};
  }

  Inputs take() { return std::move(found_); }

 private:
  using Id = std::pair<dev_t, ino_t>;

  Result<void> add(const std::string& path, const struct stat& status) {
    if (S_ISDIR(status.st_mode)) return enter(path, {status.st_dev, status.st_ino});
    if (!S_ISREG(status.st_mode)) return Error::precondition(path, " is neither a folder nor a regular file");
    add_file(path, status.st_size, /*named=*/true);
    return {};
  }

  Result<void> enter(const std::string& folder, Id id) {
    if (std::ranges::find(open_, id) != open_.end()) return left_out();
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed))
      names.push_back(at->path().filename().string());
    if (failed) return add_unreadable(folder, Error::from_errno(failed.value(), "cannot list the folder " + folder));
    std::ranges::sort(names);
    open_.push_back(id);
    const bool has_records = std::ranges::any_of(names, named_as_records);
    for (const std::string& name : names)
      if (!(has_records && name == kClassesFile)) STOKER_TRY(visit(folder, name));
    open_.pop_back();
    return {};
  }

  Result<void> visit(const std::string& folder, const std::string& name) {
    if (is_interrupted()) return Error::cancelled();
    if (is_hidden(name)) return left_out();
    const std::string path = (fs::path(folder) / name).string();
    struct stat status{};
    if (stat(path.c_str(), &status) != 0)
      return named_as_image(path) || named_as_records(path) ? add_unreadable(path, Error::io("cannot open ", path))
                                                            : left_out();
    if (S_ISDIR(status.st_mode)) return enter(path, {status.st_dev, status.st_ino});
    if (!S_ISREG(status.st_mode)) return left_out();
    add_file(path, status.st_size, /*named=*/false);
    return {};
  }

  // A file that the user named counts as records unless its bytes or name identify
  // an image.
  void add_file(const std::string& path, int64_t bytes, bool named) {
    InputFile file{path, bytes};
    Result<std::string> front = front_of(path, Compression::kNone);
    if (!front) {
      file.unreadable = front.error();
      front = std::string();
    }
    file.compression = compression_in(*front);
    file.framed = is_framed(file, *front);
    if (!file.framed && (looks_like_image(*front) || named_as_image(path)))
      file.kind = InputFile::Kind::kImage;
    else if (!file.framed && !named && !named_as_records(path))
      return (void)left_out();
    found_.files.push_back(std::move(file));
  }

  static bool is_framed(const InputFile& file, Bytes front) {
    if (file.compression == Compression::kNone) return begins_with_record(front);
    const Result<std::string> inside = front_of(file.path, file.compression);
    return inside && begins_with_record(*inside);
  }

  Result<void> add_unreadable(const std::string& path, const Error& why) {
    InputFile file{path};
    file.kind = named_as_image(path) ? InputFile::Kind::kImage : InputFile::Kind::kRecords;
    file.unreadable = why;
    found_.files.push_back(std::move(file));
    return {};
  }

  Result<void> left_out() {
    ++found_.left_out;
    return {};
  }

  Inputs found_;
  std::vector<Id> open_;  // the folders being searched, outermost first
};

}  // namespace

Result<Inputs> find_inputs(const std::vector<std::string>& paths) {
  if (paths.empty()) return Error::precondition("expected at least one path, got an empty list");
  Finder finder;
  for (const std::string& path : paths) STOKER_TRY(finder.add(path));
  Inputs found = finder.take();
  if (found.files.empty())
    return Error::precondition("no TFRecord files and no images found in ", paths[0],
                               "; they are recognized by their first bytes and names");
  return found;
}

bool named_as_image(const std::string& path) {
  const std::string ending = fs::path(lower_name(path)).extension().string();
  return std::ranges::find(kImageEndings, ending) != kImageEndings.end();
}

bool looks_like_records(const InputFile& file) {
  return file.kind == InputFile::Kind::kRecords && (file.framed || named_as_records(file.path));
}

std::vector<std::string> classes_next_to(const std::string& file) {
  const Result<std::string> text = read_file((fs::path(file).parent_path() / kClassesFile).string());
  std::vector<std::string> classes;
  for (size_t at = 0; text && at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    classes.push_back(text->substr(at, end - at));
    at = end + 1;
  }
  return classes;
}

}  // namespace stoker::prepare
