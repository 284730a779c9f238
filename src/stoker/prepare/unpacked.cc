#include "stoker/prepare/unpacked.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <functional>

#include "stoker/core/interrupt.h"
#include "stoker/prepare/inputs.h"
#include "stoker/prepare/pack_input.h"
#include "stoker/prepare/partial_file.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = ".unpacked-";  // followed by the process id and a number

using OnDamage = std::function<Result<void>(const Error&)>;

// Removes the folders of processes that were killed.
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

// kNone for a file that cannot be read; reading it later reports the error.
Compression compression_of_file(const std::string& path) {
  const Result<Inputs> inputs = find_inputs({path});
  return inputs ? inputs->files[0].compression : Compression::kNone;
}

Result<void> unpack(ByteStream& bytes, const std::string& to, Reporter& progress, const OnDamage& on_damage) {
  STOKER_TRY(PartialFile file, PartialFile::create(to));
  std::string piece(size_t{1} << 20, '\0');
  while (true) {
    if (is_interrupted()) return Error::cancelled();
    const Result<size_t> count = bytes.read(piece);
    if (!count) STOKER_TRY(on_damage(count.error()));
    if (!count || *count == 0) break;
    STOKER_TRY(file.append(std::string_view(piece).substr(0, *count)));
    progress.advance(0, static_cast<int64_t>(*count));
  }
  progress.advance(1, 0);
  STOKER_TRY(file.finish());
  return file.keep();
}

}  // namespace

std::string name_unpacked(std::string name) {
  for (const auto& [packed, plain] : {std::pair{".tgz", ".tar"}, {".gz", ""}, {".zst", ""}, {".zlib", ""}})
    if (name.ends_with(packed)) return name.substr(0, name.size() - std::string_view(packed).size()) + plain;
  return name;
}

Result<std::shared_ptr<const Unpacked>> Unpacked::of(const std::vector<std::string>& paths, const std::string& target,
                                                     BadFiles& bad, const OnProgress& on_progress) {
  static std::atomic<int64_t> created{0};  // several threads may pack at the same time
  auto unpacked = std::make_shared<Unpacked>(fmt::format("{}/{}{}-{}", target, kFolder, getpid(), created++));
  remove_left_behind(target);
  Reporter progress(on_progress, {.phase = Phase::kDecompress, .total = static_cast<int64_t>(paths.size())});
  for (const std::string& path : paths) {
    const Compression compression = compression_of_file(path);
    if (compression == Compression::kNone)
      unpacked->paths_.push_back(path);
    else
      STOKER_TRY(unpacked->add(path, compression, progress, bad));
  }
  progress.finish();
  return std::shared_ptr<const Unpacked>(std::move(unpacked));
}

// Each file gets its own folder, because two files may have the same name.
Result<void> Unpacked::add(const std::string& path, Compression compression, Reporter& progress, BadFiles& bad) {
  const std::string folder = fmt::format("{}/{}", folder_, paths_.size());
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error::from_errno(failed.value(), "cannot create the folder " + folder);
  paths_.push_back(folder + "/" + name_unpacked(fs::path(path).filename().string()));
  STOKER_TRY(const auto bytes, open_stream(path, compression));
  return unpack(*bytes, paths_.back(), progress, [&](const Error& error) { return bad.add(path, error); });
}

Unpacked::~Unpacked() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace stoker::prepare
