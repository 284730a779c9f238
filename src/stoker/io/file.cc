#include "stoker/io/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"
#include "stoker/io/file_set.h"

namespace stoker {
namespace {

// Repeats a call that a signal interrupted, unless the caller interrupts the work.
template <typename Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    stop_if_interrupted();
    result = call();
  }
  return result;
}

// Opening a pipe without O_NONBLOCK waits for its writer. With it, a file with a lease is refused.
int open_at_once(const std::string& path) {
  const auto open_with = [&](int flags) { return retried([&] { return ::open(path.c_str(), O_RDONLY | flags); }); };
  const int descriptor = open_with(O_CLOEXEC | O_NONBLOCK);
  return descriptor < 0 && errno == EWOULDBLOCK ? open_with(O_CLOEXEC) : descriptor;
}

// Waits until a read would return bytes, the end or an error.
void wait_to_read(int descriptor) {
  constexpr int kInterruptMs = 50;
  pollfd file{descriptor, POLLIN, 0};
  while (true) {
    stop_if_interrupted();
    const int ready = poll(&file, 1, kInterruptMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
  }
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

Error above_limit(const std::string& path, int64_t at_most) {
  return about(path, Error::exhausted(path, " is larger than the limit of ", at_most, " bytes"));
}

Result<std::string> read_rest(File& file, int64_t at_most) {
  constexpr size_t kMostAtOnce = size_t{64} << 20;  // about 10 ms between two checks for an interrupt
  if (file.size() > at_most) return above_limit(file.path(), at_most);
  const uint64_t most_room = static_cast<uint64_t>(at_most) + 1;
  std::string bytes;
  size_t used = 0;
  // One byte more than expected, so that reading detects the end without another allocation.
  size_t room = file.size() > 0 ? static_cast<size_t>(file.size()) + 1 : 4096;
  for (;; room = std::min<uint64_t>(bytes.size() * 2, most_room)) {
    if (!resize(bytes, room))
      return about(file.path(), Error::exhausted("no memory for ", room, " bytes of ", file.path()));
    while (used < bytes.size()) {
      if (used >= kMostAtOnce) stop_if_interrupted();
      const std::span<char> rest = std::span(bytes).subspan(used);
      STOKER_TRY(const size_t count, file.read(rest.first(std::min(rest.size(), kMostAtOnce))));
      used += count;
      if (used >= most_room) return above_limit(file.path(), at_most);
      if (count > 0) continue;
      bytes.resize(used);
      if (bytes.capacity() > 2 * used) bytes.shrink_to_fit();
      return bytes;
    }
  }
}

int64_t changed_ns(const struct stat& status) { return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec; }

// False, with errno as it was, where no file could be closed.
bool make_a_descriptor_free() {
  const int number = errno;
  const bool closed = FileSet::close_idle_file();
  errno = number;
  return closed;
}

// The end of the last byte that is not zero. Nothing where the last 64 KB are zeros:
// such a file is not mapped, because nothing would show that it was truncated.
std::optional<size_t> end_of_content(const File& file) {
  constexpr int64_t kPart = 4096, kMost = 64 << 10;
  char part[kPart];
  for (int64_t end = file.size(); end > 0 && end > file.size() - kMost;) {
    const int64_t begin = (end - 1) / kPart * kPart;
    const auto bytes = static_cast<size_t>(end - begin);
    if (retried([&] { return pread(file.descriptor(), part, bytes, begin); }) != static_cast<ssize_t>(bytes))
      return std::nullopt;
    const size_t last = std::string_view(part, bytes).find_last_not_of('\0');
    if (last != std::string_view::npos) return static_cast<size_t>(begin) + last + 1;
    end = begin;
  }
  return std::nullopt;
}

bool may_map() {
  const char* setting = std::getenv("STOKER_MAP");
  return setting == nullptr || std::string_view(setting) != "0";
}

// Reads errno.
Error cannot_open(const std::string& path) {
  Error error = Error::io("cannot open ", path);
  if (error.code() != Code::kNotFound || path.find_first_of("*?[") == std::string::npos) return error;
  return Error::not_found(error.message(),
                          "; a pattern is not expanded here: list_files finds the files that match it");
}

}  // namespace

bool is_special_file(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Result<File> File::open_regular(std::string path) {
  const auto refused = [](const std::string& special) {
    return about(special, Error::precondition(special, " cannot be read at an offset: it is not a regular file"));
  };
  if (path.find('\0') == std::string::npos && is_special_file(path)) return refused(path);
  STOKER_TRY(File file, open(std::move(path)));
  if (file.waits_) return refused(file.path());
  return file;
}

Result<File> File::open(std::string path) {
  if (path.find('\0') != std::string::npos)
    return Error::invalid("the path '", path.c_str(), "…' contains a zero byte");
  int descriptor = open_at_once(path);
  while (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && make_a_descriptor_free())
    descriptor = open_at_once(path);
  if (descriptor < 0) return about(path, cannot_open(path));
  File file(std::move(path), descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0) return about(file.path(), Error::io("cannot access ", file.path()));
  if (S_ISDIR(status.st_mode))
    return about(file.path(), Error::precondition(file.path(), " is a directory, expected a file"));
  if (S_ISREG(status.st_mode)) file.size_ = status.st_size;
  file.waits_ = !S_ISREG(status.st_mode);
  return file;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      waits_(other.waits_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(waits_, other.waits_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<size_t> File::read(std::span<char> into) {
  // A pipe without a writer is at its end, unless the first writer is still to come.
  if (waits_) wait_to_read(descriptor_);
  waits_ = false;
  ssize_t count = 0;
  while ((count = retried([&] { return ::read(descriptor_, into.data(), into.size()); })) < 0 && errno == EAGAIN)
    wait_to_read(descriptor_);
  if (count < 0) return about(path_, Error::io("cannot read ", path_));
  return static_cast<size_t>(count);
}

Result<void> File::seek(int64_t offset) {
  if (lseek(descriptor_, offset, SEEK_SET) != offset)
    return about(path_, Error::io("cannot seek to byte ", offset, " of ", path_));
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
  if (path.find('\0') == std::string::npos && is_special_file(path)) return FileMark();
  STOKER_TRY(File file, File::open_regular(path));
  struct stat status;
  if (fstat(file.descriptor(), &status) != 0) return about(path, Error::io("cannot access ", path));
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
  const std::optional<size_t> end = end_of_content(file);
  if (!end) return std::nullopt;
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED) return std::nullopt;
  MappedFile mapped(file.path());
  mapped.mapping_ = static_cast<const char*>(address);
  mapped.size_ = size;
  mapped.guard_ = std::make_unique<BusGuard>(address, size);
  mapped.end_size_ = std::min(*end, sizeof(mapped.end_bits_));
  mapped.end_begin_ = *end - mapped.end_size_;
  mapped.end_bits_ = mapped.end_bits();
  if (mapped.was_cut() || mapped.mapping_[*end - 1] == '\0') return std::nullopt;  // meanwhile
  return mapped;
}

Result<MappedFile> MappedFile::open(std::string path) {
  STOKER_TRY(File file, File::open(std::move(path)));
  if (std::optional<MappedFile> mapped = map(file)) return *std::move(mapped);
  MappedFile mapped(file.path());
  STOKER_TRY(mapped.read_, read_rest(file, std::numeric_limits<int64_t>::max()));
  return mapped;
}

uint64_t MappedFile::end_bits() const {
  uint64_t bits = 0;
  const char* const end = mapping_ + end_begin_;
  if (end_size_ == sizeof(bits)) [[likely]]
    std::memcpy(&bits, end, sizeof(bits));  // one load
  else
    std::memcpy(&bits, end, end_size_);
  return bits;
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
      end_begin_(other.end_begin_),
      end_size_(other.end_size_),
      end_bits_(other.end_bits_),
      read_(std::move(other.read_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(guard_, other.guard_);
  std::swap(end_begin_, other.end_begin_);
  std::swap(end_size_, other.end_size_);
  std::swap(end_bits_, other.end_bits_);
  std::swap(read_, other.read_);
  return *this;
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (mapping_) munmap(const_cast<char*>(mapping_), size_);
}

}  // namespace stoker
