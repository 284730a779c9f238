#include "stoker/core/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace stoker {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::kCancelled: return "Cancelled";
    case Code::kUnknown: return "Unknown";
    case Code::kInvalidArgument: return "InvalidArgument";
    case Code::kDeadlineExceeded: return "DeadlineExceeded";
    case Code::kNotFound: return "NotFound";
    case Code::kAlreadyExists: return "AlreadyExists";
    case Code::kPermissionDenied: return "PermissionDenied";
    case Code::kResourceExhausted: return "ResourceExhausted";
    case Code::kFailedPrecondition: return "FailedPrecondition";
    case Code::kAborted: return "Aborted";
    case Code::kOutOfRange: return "OutOfRange";
    case Code::kUnimplemented: return "Unimplemented";
    case Code::kInternal: return "Internal";
    case Code::kUnavailable: return "Unavailable";
    case Code::kDataLoss: return "DataLoss";
  }
  return "Unknown";
}

namespace {

Code code_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return Code::kResourceExhausted;
    case EISDIR:
    case ENOTEMPTY: return Code::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP: return Code::kInvalidArgument;
    case EINTR:
    case EAGAIN:
    case EBUSY: return Code::kUnavailable;
    case ETIMEDOUT: return Code::kDeadlineExceeded;
    case EIO: return Code::kDataLoss;
    default: return Code::kUnknown;
  }
}

void add_line(std::string& text, std::string_view title, const std::string& words) {
  text += "\n  ";
  text += title;
  text.append(title.size() < 9 ? 9 - title.size() : 1, ' ');
  text += words;
}

}  // namespace

Error::Error(Code code, std::string message)
    : detail_(std::make_shared<Detail>(Facts{code, std::move(message), {}, nullptr})) {}

Error Error::from_errno(int number, std::string message) {
  message += ": ";
  message += std::generic_category().message(number);
  return Error(code_of_errno(number), std::move(message));
}

int Error::last_errno() { return errno; }

Error::Place& Error::at() {
  if (detail_.use_count() > 1)
    detail_ = std::make_shared<Detail>(static_cast<const Facts&>(*detail_));
  else
    detail_->what.clear();
  return detail_->place;
}

Error& Error::set_cause(std::shared_ptr<void> cause) {
  at();  // copies shared data
  detail_->cause = std::move(cause);
  return *this;
}

Error& Error::set_last() {
  at();  // copies shared data
  detail_->last = true;
  return *this;
}

Error& Error::set_extra() {
  at();  // copies shared data
  detail_->extra = true;
  return *this;
}

Error& Error::set_unskippable() {
  at();  // copies shared data
  detail_->skippable = false;
  return *this;
}

Error& Error::set_path(std::string path, int64_t offset) {
  Place& place = at();
  place.path = std::move(path);
  place.offset = offset;
  return *this;
}

std::string Error::describe() const {
  const Place& where = place();
  std::string text;
  if (!where.stage.empty()) text += where.stage + ": ";
  text += message();
  text += " [" + std::string(name_of(code())) + "]";
  if (!where.origin.empty()) add_line(text, "element", where.origin);
  std::string record = where.record;
  if (!where.path.empty() && record.find(where.path) == std::string::npos)
    record += (record.empty() ? "" : ", ") + where.path;
  if (where.offset >= 0) record += ", at byte " + std::to_string(where.offset);
  if (!record.empty()) add_line(text, "record", record);
  if (!where.written_at.empty()) add_line(text, "defined", "at " + where.written_at);
  return text;
}

const char* Error::what() const noexcept {
  try {
    const std::lock_guard lock(detail_->mutex);
    if (detail_->what.empty()) detail_->what = describe();
    return detail_->what.c_str();
  } catch (...) {
    return detail_->message.c_str();
  }
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "stoker: the check %s failed at %s:%d; this is a bug in Stoker, please report it\n", condition,
               file, line);
  std::abort();
}

}  // namespace stoker
