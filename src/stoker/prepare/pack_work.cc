#include "stoker/prepare/pack_work.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "stoker/io/file.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNotes = ".whole";

Json json_of(const ShardNotes& notes) {
  Json json = Json::dict(), skipped = Json::list();
  for (const SkippedFile& file : notes.skipped) {
    Json one = Json::dict();
    one.set("path", to_base64(file.path));
    one.set("error", to_base64(file.error));
    skipped.push(std::move(one));
  }
  json.set("records", notes.records);
  json.set("bytes", notes.bytes);
  json.set("resized", notes.resized);
  json.set("turned", notes.turned);
  json.set("skipped", std::move(skipped));
  return json;
}

std::optional<std::string> text_in(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  const auto* text = found ? found->as<std::string>() : nullptr;
  Result<std::string> plain = text ? from_base64(*text) : Result<std::string>(Error::corrupt("no text"));
  return plain ? std::optional(*std::move(plain)) : std::nullopt;
}

std::optional<ShardNotes> notes_in(const Json& json) {
  ShardNotes notes;
  for (const auto& [key, number] : {std::pair{"records", &notes.records},
                                    {"bytes", &notes.bytes},
                                    {"resized", &notes.resized},
                                    {"turned", &notes.turned}}) {
    const Json* found = json.find(key);
    if (!found || !found->as<int64_t>()) return std::nullopt;
    *number = *found->as<int64_t>();
  }
  const Json* skipped = json.find("skipped");
  if (!skipped || !skipped->as<Json::List>()) return std::nullopt;
  for (const Json& one : *skipped->as<Json::List>()) {
    const auto path = text_in(one, "path"), error = text_in(one, "error");
    if (!path || !error) return std::nullopt;
    notes.skipped.push_back({*path, *error});
  }
  return notes;
}

std::string packed_path(const std::string& target, const std::string& name) { return target + "/." + name + ".packed"; }

// The contents of .NAME.packed; nullopt if it does not exist or is of another input.
std::optional<Json> kept_by(const std::string& path, const std::string& input) {
  const Result<std::string> text = read_file(path);
  Result<Json> json = text ? parse_json(*text) : Result<Json>(text.error());
  if (!json || text_in(*json, "input") != input) return std::nullopt;
  return *std::move(json);
}

}  // namespace

bool PackWork::is_giving_places(const std::string& target, const std::string& name, const std::string& input) {
  return kept_by(packed_path(target, name), input).has_value();
}

PackWork::PackWork(std::string target, const std::string& name, std::string input)
    : target_(std::move(target)),
      folder_(target_ + "/." + name + ".packing"),
      packed_(packed_path(target_, name)),
      input_(std::move(input)) {}

Result<PackWork> PackWork::open(const std::string& target, const std::string& name, const std::string& input) {
  PackWork work(target, name, input);
  work.kept_ = kept_by(work.packed_, input);
  if (work.kept_) return work;
  const std::string state = work.folder_ + "/input";
  const Result<std::string> before = read_file(state);
  std::error_code failed;
  fs::remove(work.packed_, failed);  // of another input
  if (!before || *before != input) fs::remove_all(work.folder_, failed);
  fs::create_directories(work.folder_, failed);
  if (failed) return Error::from_errno(failed.value(), "cannot create the folder " + work.folder_);
  for (const auto& entry : fs::directory_iterator(work.folder_, failed)) {
    work.whole_ += entry.path().extension() == kNotes ? 1 : 0;
    if (entry.path().extension() == ".partial") fs::remove(entry.path(), failed);
  }
  STOKER_TRY(write_file(state, input));
  return work;
}

PackWork::~PackWork() {
  if (whole_ == 0 && !kept_) (void)remove();  // if this fails, the next run removes it
}

Result<void> PackWork::remove() {
  if (folder_.empty()) return {};  // moved from
  for (const std::string& path : {folder_, packed_}) {
    std::error_code failed;
    fs::remove_all(path, failed);
    if (failed) return Error::from_errno(failed.value(), "cannot remove " + path);
  }
  kept_.reset();
  return {};
}

std::optional<ShardNotes> PackWork::finished(const std::string& shard) const {
  if (kept_) {
    const Json* shards = kept_->find("shards");
    const Json* notes = shards ? shards->find(to_base64(shard)) : nullptr;
    return notes ? notes_in(*notes) : std::nullopt;
  }
  const Result<std::string> text = read_file(folder_ + "/" + shard + std::string(kNotes));
  const Result<Json> json = text ? parse_json(*text) : Result<Json>(text.error());
  std::optional<ShardNotes> notes = json ? notes_in(*json) : std::nullopt;
  std::error_code failed;
  const auto bytes = fs::file_size(folder_ + "/" + shard, failed);
  return notes && !failed && static_cast<int64_t>(bytes) == notes->bytes ? notes : std::nullopt;
}

Result<PartialFile> PackWork::begin(const std::string& shard) const {
  return PartialFile::create(folder_ + "/" + shard);
}

Result<void> PackWork::finish(PartialFile file, const ShardNotes& notes) {
  STOKER_TRY(file.finish());
  STOKER_TRY(file.keep());
  STOKER_TRY(write_file(file.path() + std::string(kNotes), json_of(notes).text()));
  ++whole_;
  return {};
}

Result<void> PackWork::begin_to_keep(const std::vector<std::string>& shards, const std::string& labels) {
  if (kept_) return {};
  if (!labels.empty()) STOKER_TRY(write_file(folder_ + "/" + kLabels, labels));
  Json all = Json::dict(), notes = Json::dict();
  for (const std::string& shard : shards) notes.set(to_base64(shard), json_of(finished(shard).value_or(ShardNotes())));
  all.set("input", to_base64(input_));
  all.set("shards", std::move(notes));
  const std::string whole = folder_ + "/packed";
  STOKER_TRY(write_file(whole, all.text()));
  std::error_code failed;
  fs::rename(whole, packed_, failed);
  if (failed) return Error::from_errno(failed.value(), "cannot write " + packed_);
  kept_ = std::move(all);
  return {};
}

Result<void> PackWork::keep(const std::string& file) const {
  std::error_code failed;
  fs::rename(folder_ + "/" + file, target_ + "/" + file, failed);
  if (failed == std::errc::no_such_file_or_directory && fs::exists(target_ + "/" + file)) return {};
  if (failed) return Error::from_errno(failed.value(), "cannot write " + target_ + "/" + file);
  return {};
}

namespace {

// The id of the process that holds a lock on the folder, from /proc/locks:
// "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF".
std::string holder_of(const struct stat& folder) {
  const std::string file = fmt::format("{:02x}:{:02x}:{}", major(folder.st_dev), minor(folder.st_dev), folder.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, manner, access, process, locked;
    words >> number >> kind >> manner >> access >> process >> locked;
    if (kind == "FLOCK" && locked == file) return process;
  }
  return {};
}

Error taken(const std::string& folder, int descriptor) {
  struct stat found{};
  const std::string process = fstat(descriptor, &found) == 0 ? holder_of(found) : "";
  return Error::precondition("another stoker pack", process.empty() ? "" : ", process " + process + ",",
                             " is writing into ", folder, "; wait until it is done, or choose another folder");
}

}  // namespace

Result<PackLock> PackLock::take(const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error::from_errno(failed.value(), "cannot create the folder " + folder);
  PackLock lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.descriptor_ < 0) return Error::io("cannot open the folder ", folder);
  if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return taken(folder, lock.descriptor_);
  return lock;
}

PackLock::PackLock(PackLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

PackLock::~PackLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace stoker::prepare
