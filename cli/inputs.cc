#include "cli/inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/picture_check.h"
#include "cli/terminal.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/io/glob.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kPictureEndings = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp"};

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

// ZLIB has no mark but two bytes that are a multiple of 31, the first of them 0x78 by all writers.
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
    const Error missing = Error::io("cannot look at ", path);
    if (path.find_first_of("*?[") == std::string::npos) return Error::precondition(missing.message());
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
    if (!S_ISREG(status.st_mode)) return Error::precondition(path, " is neither a folder nor a file");
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
    for (const std::string& name : names) STOKER_TRY(visit(folder, name));
    open_.pop_back();
    return {};
  }

  Result<void> visit(const std::string& folder, const std::string& name) {
    if (interrupted()) return Error::cancelled();
    if (is_hidden(name)) return left_out();
    const std::string path = (fs::path(folder) / name).string();
    struct stat status{};
    if (stat(path.c_str(), &status) != 0)
      return named_as_picture(path) || named_as_records(path) ? add_unreadable(path, Error::io("cannot look at ", path))
                                                              : left_out();
    if (S_ISDIR(status.st_mode)) return enter(path, {status.st_dev, status.st_ino});
    if (!S_ISREG(status.st_mode)) return left_out();
    add_file(path, status.st_size, /*named=*/false);
    return {};
  }

  // What the user named is taken for records where nothing speaks against it.
  void add_file(const std::string& path, int64_t bytes, bool named) {
    InputFile file{path, bytes};
    Result<std::string> front = front_of(path, Compression::kNone);
    if (!front) {
      file.unreadable = front.error();
      front = std::string();
    }
    file.compression = compression_in(*front);
    file.framed = is_framed(file, *front);
    if (!file.framed && (looks_like_picture(*front) || named_as_picture(path)))
      file.kind = InputFile::Kind::kPicture;
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
    file.kind = named_as_picture(path) ? InputFile::Kind::kPicture : InputFile::Kind::kRecords;
    file.unreadable = why;
    found_.files.push_back(std::move(file));
    return {};
  }

  Result<void> left_out() {
    ++found_.left_out;
    return {};
  }

  Inputs found_;
  std::vector<Id> open_;  // from the first folder to where it stands
};

}  // namespace

Result<Inputs> find_inputs(const std::vector<std::string>& paths) {
  Finder finder;
  for (const std::string& path : paths) STOKER_TRY(finder.add(path));
  Inputs found = finder.take();
  if (found.files.empty())
    return Error::precondition(paths[0], " holds neither TFRecord files nor pictures, by their first bytes and names");
  return found;
}

bool named_as_picture(const std::string& path) {
  const std::string ending = fs::path(lower_name(path)).extension().string();
  return std::ranges::find(kPictureEndings, ending) != kPictureEndings.end();
}

bool looks_like_records(const InputFile& file) {
  return file.kind == InputFile::Kind::kRecords && (file.framed || named_as_records(file.path));
}

Json json_text(const std::string& text) {
  if (is_utf8(text)) return text;
  Json json = Json::dict();
  json.set("base64", to_base64(text));
  return json;
}

int refuse(const Error& error) {
  if (interrupted()) return interrupted_status();
  complain(error.message());
  const bool wrong_use = error.code() == Code::kInvalidArgument || error.code() == Code::kFailedPrecondition;
  return wrong_use ? kWrongUse : kBadData;
}

}  // namespace stoker::cli
