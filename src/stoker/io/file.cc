#include "stoker/io/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/hash.h"

namespace stoker {
namespace {

// Calls again what a signal has broken off.
template <typename Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

Error about(const std::string& path, Error error) { return error.set_path(path); }

bool resize(std::string& bytes, size_t size) {
  try {
    bytes.resize(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
}

Result<std::string> read_rest(File& file, int64_t at_most) {
  const int64_t expected = std::min(file.size(), at_most);
  std::string bytes;
  size_t used = 0;
  // One byte more than expected, so that the end shows without growing.
  size_t room = expected > 0 ? static_cast<size_t>(expected) + 1 : 4096;
  for (;; room = bytes.size() * 2) {
    if (!resize(bytes, room))
      return about(file.path(), Error::exhausted("no memory for ", room, " bytes of ", file.path()));
    while (used < bytes.size()) {
      STOKER_TRY(const size_t count, file.read(std::span(bytes).subspan(used)));
      used += count;
      if (static_cast<uint64_t>(used) > static_cast<uint64_t>(at_most))
        return about(file.path(), Error::exhausted(file.path(), " has more than the ", at_most, " bytes allowed"));
      if (count > 0) continue;
      bytes.resize(used);
      if (bytes.capacity() > 2 * used) bytes.shrink_to_fit();
      return bytes;
    }
  }
}

int64_t changed_ns(const struct stat& status) { return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec; }

bool may_map() {
  const char* setting = std::getenv("STOKER_MAP");
  return setting == nullptr || std::string_view(setting) != "0";
}

}  // namespace

Result<File> File::open(std::string path) {
  if (path.find('\0') != std::string::npos)
    return Error::invalid("the path '", path.c_str(), "…' has a zero byte in it");
  const int descriptor = retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (descriptor < 0) return about(path, Error::io("cannot open ", path));
  File file(std::move(path), descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0) return about(file.path(), Error::io("cannot look at ", file.path()));
  if (S_ISDIR(status.st_mode))
    return about(file.path(), Error::precondition(file.path(), " is a directory, a file was wanted"));
  if (S_ISREG(status.st_mode)) file.size_ = status.st_size;
  return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<size_t> File::read(std::span<char> into) {
  const ssize_t count = retried([&] { return ::read(descriptor_, into.data(), into.size()); });
  if (count < 0) return about(path_, Error::io("cannot read ", path_));
  return static_cast<size_t>(count);
}

Result<void> File::seek(int64_t offset) {
  if (lseek(descriptor_, offset, SEEK_SET) != offset)
    return about(path_, Error::io("cannot go to byte ", offset, " of ", path_));
  return {};
}

FileIdentity File::identity() const {
  struct stat status;
  if (fstat(descriptor_, &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, changed_ns(status)};
}

Result<std::string> read_file(const std::string& path, int64_t at_most) {
  STOKER_TRY(File file, File::open(path));
  return read_rest(file, at_most);
}

Result<FileMark> mark_of(const std::string& path) {
  constexpr int64_t kEnd = 4096;
  STOKER_TRY(File file, File::open(path));
  struct stat status;
  if (fstat(file.descriptor(), &status) != 0) return about(path, Error::io("cannot look at ", path));
  std::string ends(2 * kEnd, '\0');
  const ssize_t first = pread(file.descriptor(), ends.data(), kEnd, 0);
  const ssize_t last = pread(file.descriptor(), ends.data() + kEnd, kEnd, std::max<int64_t>(0, file.size() - kEnd));
  const uint64_t hash = hash_of(ends, static_cast<uint64_t>(std::max<ssize_t>(first, 0) + std::max<ssize_t>(last, 0)));
  return FileMark{file.size(), changed_ns(status), hash};
}

Result<std::string> fingerprint_of(const std::string& path) {
  STOKER_TRY(const FileMark mark, mark_of(path));
  return path.substr(path.rfind('/') + 1) + " of " + std::to_string(mark.bytes) + " bytes, " + hex_of(mark.ends_hash);
}

std::string fingerprint_of(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    const Result<std::string> one = fingerprint_of(path);
    all += (all.empty() ? "" : "; ") + (one ? *one : one.error().message());
  }
  return shortened(std::move(all), 400);
}

std::optional<MappedFile> MappedFile::map(const File& file) {
  const auto size = static_cast<size_t>(file.size());
  if (size == 0 || !may_map()) return std::nullopt;
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED) return std::nullopt;
  MappedFile mapped(file.path());
  mapped.mapping_ = static_cast<const char*>(address);
  mapped.size_ = size;
  mapped.guard_ = std::make_unique<BusGuard>(address, size);
  return mapped;
}

Result<MappedFile> MappedFile::open(std::string path) {
  STOKER_TRY(File file, File::open(std::move(path)));
  if (std::optional<MappedFile> mapped = map(file)) return *std::move(mapped);
  MappedFile mapped(file.path());
  STOKER_TRY(mapped.read_, read_rest(file, std::numeric_limits<int64_t>::max()));
  return mapped;
}

void MappedFile::expect_jumps() const { advise(0, static_cast<int64_t>(size_), MADV_RANDOM); }
void MappedFile::will_need(int64_t offset, int64_t bytes) const { advise(offset, bytes, MADV_WILLNEED); }
void MappedFile::done_with(int64_t offset, int64_t bytes) const { advise(offset, bytes, MADV_COLD); }

void MappedFile::advise(int64_t offset, int64_t bytes, int advice) const {
  const int64_t page = sysconf(_SC_PAGESIZE), begin = offset / page * page;
  const int64_t end = std::min(offset + bytes, static_cast<int64_t>(size_));
  if (mapping_ && begin < end) madvise(const_cast<char*>(mapping_) + begin, static_cast<size_t>(end - begin), advice);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      guard_(std::move(other.guard_)),
      read_(std::move(other.read_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(guard_, other.guard_);
  std::swap(read_, other.read_);
  return *this;
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (mapping_) munmap(const_cast<char*>(mapping_), size_);
}

}  // namespace stoker
