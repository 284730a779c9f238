#include "cli/unpacked.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>

#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "stoker/io/stream.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = ".unpacked-";  // and the process

// Of processes that were killed.
void remove_left_behind(const std::string& target) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(target, ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    if (!name.starts_with(kFolder)) continue;
    const auto [end, wrong] = std::from_chars(name.data() + kFolder.size(), name.data() + name.size(), process);
    if (wrong != std::errc() || process <= 0 || kill(process, 0) == 0 || errno != ESRCH) continue;
    fs::remove_all(entry.path(), ignored);
  }
}

Result<bool> is_compressed(const std::string& path) {
  STOKER_TRY(const Inputs inputs, find_inputs({path}));
  return inputs.files[0].compression != Compression::kNone;
}

Result<void> unpack(const std::string& path, const std::string& to, Progress& progress) {
  const Uninterrupted until_done;  // it ends by itself, and removes what it wrote
  STOKER_TRY(const auto bytes, open_stream(path, Compression::kAuto));
  STOKER_TRY(PartialFile file, PartialFile::create(to));
  std::string piece(size_t{1} << 20, '\0');
  while (true) {
    if (interrupted()) return Error::cancelled();
    STOKER_TRY(const size_t count, bytes->read(piece));
    if (count == 0) break;
    STOKER_TRY(file.append(std::string_view(piece).substr(0, count)));
    progress.advance(0, static_cast<int64_t>(count));
  }
  progress.advance(1, 0);
  STOKER_TRY(file.finish());
  return file.keep();
}

}  // namespace

std::string name_unpacked(std::string name) {
  for (const auto& [packed, plain] : {std::pair{".tgz", ".tar"}, {".gz", ""}, {".zst", ""}})
    if (name.ends_with(packed)) return name.substr(0, name.size() - std::string_view(packed).size()) + plain;
  return name;
}

Result<std::shared_ptr<const Unpacked>> Unpacked::of(const std::vector<std::string>& paths, const std::string& target,
                                                     bool quiet) {
  auto unpacked = std::make_shared<Unpacked>(fmt::format("{}/{}{}", target, kFolder, getpid()));
  remove_left_behind(target);
  Progress progress({.things = "files", .total = static_cast<int64_t>(paths.size()), .quiet = quiet});
  for (const std::string& path : paths) {
    STOKER_TRY(const bool compressed, is_compressed(path));
    if (compressed)
      STOKER_TRY(unpacked->add(path, progress));
    else
      unpacked->paths_.push_back(path);
  }
  return std::shared_ptr<const Unpacked>(std::move(unpacked));
}

// Each in a folder of its own: they may be of one name.
Result<void> Unpacked::add(const std::string& path, Progress& progress) {
  const std::string folder = fmt::format("{}/{}", folder_, paths_.size());
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error::from_errno(failed.value(), "cannot make the folder " + folder);
  paths_.push_back(folder + "/" + name_unpacked(fs::path(path).filename().string()));
  return unpack(path, paths_.back(), progress);
}

Unpacked::~Unpacked() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace stoker::cli
