#include "stoker/io/file_set.h"

#include <algorithm>
#include <cerrno>

#include <sys/resource.h>
#include <unistd.h>

namespace stoker {
namespace {

// All sets of the process, for close_idle_file().
struct Sets {
  Mutex mutex;
  std::vector<FileSet*> all STOKER_GUARDED_BY(mutex);  // oldest first
};

// Never destroyed: a set may outlive every static object.
Sets& sets() {
  static auto* one = new Sets;
  return *one;
}

// The user's other files need descriptors too.
size_t most_open() {
  constexpr rlim_t kMost = 64;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return static_cast<size_t>(std::clamp<rlim_t>(limit.rlim_cur / 4, 1, kMost));
}

}  // namespace

FileSet::FileSet(std::vector<std::string> paths) : paths_(std::move(paths)), open_(paths_.size()) {
  const MutexLock lock(sets().mutex);
  sets().all.push_back(this);
}

FileSet::~FileSet() {
  const MutexLock lock(sets().mutex);
  std::erase(sets().all, this);
}

bool FileSet::close_idle_file() {
  std::shared_ptr<File> idle;  // closed after the locks are released
  const MutexLock lock(sets().mutex);
  for (FileSet* set : sets().all) {
    idle = set->take_idle();
    if (idle) return true;
  }
  return false;
}

// The oldest that no thread is reading; null where there is none.
std::shared_ptr<File> FileSet::take_idle() {
  const MutexLock lock(mutex_);
  for (auto oldest = order_.begin(); oldest != order_.end(); ++oldest) {
    if (open_[*oldest].use_count() > 1) continue;
    std::shared_ptr<File> idle = std::move(open_[*oldest]);
    order_.erase(oldest);
    return idle;
  }
  return nullptr;
}

Result<std::shared_ptr<File>> FileSet::open(size_t file) {
  {
    const MutexLock lock(mutex_);
    if (open_[file]) return open_[file];
  }
  STOKER_TRY(File opened, File::open_regular(paths_[file]));
  auto shared = std::make_shared<File>(std::move(opened));
  const size_t most = most_open();
  const MutexLock lock(mutex_);
  if (open_[file]) return open_[file];  // another thread opened it first
  open_[file] = shared;
  order_.push_back(file);
  for (; order_.size() > most; order_.pop_front()) open_[order_.front()].reset();
  return shared;
}

Result<int64_t> FileSet::bytes_of(size_t file) {
  STOKER_TRY(const std::shared_ptr<File> opened, open(file));
  if (opened->size() > 0 || lseek(opened->descriptor(), 0, SEEK_END) == 0) return opened->size();
  return Error::precondition(paths_[file], " cannot be read at an offset: it has no size").set_path(paths_[file]);
}

Result<void> FileSet::read(size_t file, int64_t offset, std::span<char> into) {
  STOKER_TRY(const std::shared_ptr<File> opened, open(file));
  while (!into.empty()) {
    const ssize_t count = pread(opened->descriptor(), into.data(), into.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::io("cannot read ", paths_[file]).set_path(paths_[file], offset);
    if (count == 0)
      return Error::corrupt(paths_[file], " ends at byte ", offset, ", expected ", into.size(),
                            " more bytes: it was truncated after it was opened")
          .set_path(paths_[file], offset);
    into = into.subspan(static_cast<size_t>(count));
    offset += count;
  }
  return {};
}

Result<Array> FileSet::read(size_t file, int64_t offset, int64_t bytes) {
  STOKER_TRY(Buffer * buffer, Buffer::make(static_cast<size_t>(bytes)));
  auto* data = reinterpret_cast<char*>(buffer->data());
  Array text = Array::view_bytes({data, static_cast<size_t>(bytes)}, buffer);  // drops the buffer if reading fails
  STOKER_TRY(read(file, offset, {data, static_cast<size_t>(bytes)}));
  buffer->set_source({paths_[file], offset});
  return text;
}

}  // namespace stoker
