#include "stoker/io/file_set.h"

#include <cerrno>

#include <unistd.h>

namespace stoker {

Result<std::shared_ptr<File>> FileSet::open(size_t file) {
  {
    const MutexLock lock(mutex_);
    if (open_[file]) return open_[file];
  }
  STOKER_TRY(File opened, File::open(paths_[file]));
  auto shared = std::make_shared<File>(std::move(opened));
  const MutexLock lock(mutex_);
  if (open_[file]) return open_[file];  // another thread was quicker
  open_[file] = shared;
  order_.push_back(file);
  if (order_.size() <= kMostOpen) return shared;
  open_[order_.front()].reset();
  order_.pop_front();
  return shared;
}

Result<int64_t> FileSet::bytes_of(size_t file) {
  STOKER_TRY(const std::shared_ptr<File> opened, open(file));
  if (opened->size() > 0 || lseek(opened->descriptor(), 0, SEEK_END) == 0) return opened->size();
  return Error::precondition(paths_[file], " has no places to read at: it is no plain file").set_path(paths_[file]);
}

Result<void> FileSet::read(size_t file, int64_t offset, std::span<char> into) {
  STOKER_TRY(const std::shared_ptr<File> opened, open(file));
  while (!into.empty()) {
    const ssize_t count = pread(opened->descriptor(), into.data(), into.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::io("cannot read ", paths_[file]).set_path(paths_[file], offset);
    if (count == 0)
      return Error::corrupt(paths_[file], " ends at byte ", offset, ", ", into.size(),
                            " more were wanted: it was cut since it was opened")
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
