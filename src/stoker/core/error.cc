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
    : detail_(std::make_shared<Detail>(Detail{code, std::move(message), {}, nullptr})) {}

Error Error::from_errno(int number, std::string message) {
  message += ": ";
  message += std::generic_category().message(number);
  return Error(code_of_errno(number), std::move(message));
}

int Error::last_errno() { return errno; }

Error::Place& Error::at() {
  if (detail_.use_count() > 1) detail_ = std::make_shared<Detail>(*detail_);
  return detail_->place;
}

Error& Error::set_cause(std::shared_ptr<void> cause) {
  at();  // a copy of its own
  detail_->cause = std::move(cause);
  return *this;
}

Error& Error::set_last() {
  at();  // a copy of its own
  detail_->last = true;
  return *this;
}

Error& Error::set_path(std::string path, int64_t offset) {
  Place& place = at();
  place.path = std::move(path);
  place.offset = offset;
  return *this;
}

std::string Error::words() const {
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
  if (!where.written_at.empty()) add_line(text, "written", "at " + where.written_at);
  return text;
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "stoker: %s does not hold at %s:%d; this is a mistake in Stoker, please report it\n", condition,
               file, line);
  std::abort();
}

}  // namespace stoker
