#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace stoker {

// The canonical status codes, with the names of gRPC and tf.data.
enum class Code : uint8_t {
  kCancelled,
  kUnknown,
  kInvalidArgument,
  kDeadlineExceeded,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kResourceExhausted,
  kFailedPrecondition,
  kAborted,
  kOutOfRange,
  kUnimplemented,
  kInternal,
  kUnavailable,
  kDataLoss,
};

// Returns "InvalidArgument", "DataLoss" and so on.
std::string_view name_of(Code code);

// What failed and where. The code that fails provides the message; the runtime adds the stage, the
// element and the record.
//
// An Error is a handle to shared data. Its const functions may be called from several threads. Functions that return no
// Result throw it.
class Error final : public std::exception {
 public:
  // Where the element came from, as the user sees it. Empty or negative: unknown.
  struct Place {
    std::string stage;       // "map, decode_image"
    std::string written_at;  // "train.py:41"
    std::string source;      // "range", "text_lines"
    int64_t position = -1;   // in the source
    int64_t pass = 0;
    std::string origin;  // "range:18204@2/17", the argument of `stoker replay --at`
    std::string record;  // "member n0144/2708.jpg of train-00017.tar"
    std::string path;
    int64_t offset = -1;  // in bytes
  };

  Error(Code code, std::string message);

  template <typename... Parts>
  static Error of(Code code, const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    return Error(code, std::move(text).str());
  }
  template <typename... Parts>
  static Error invalid(const Parts&... parts) {
    return of(Code::kInvalidArgument, parts...);
  }
  template <typename... Parts>
  static Error corrupt(const Parts&... parts) {
    return of(Code::kDataLoss, parts...);
  }
  template <typename... Parts>
  static Error not_found(const Parts&... parts) {
    return of(Code::kNotFound, parts...);
  }
  template <typename... Parts>
  static Error exhausted(const Parts&... parts) {
    return of(Code::kResourceExhausted, parts...);
  }
  template <typename... Parts>
  static Error precondition(const Parts&... parts) {
    return of(Code::kFailedPrecondition, parts...);
  }
  template <typename... Parts>
  static Error out_of_range(const Parts&... parts) {
    return of(Code::kOutOfRange, parts...);
  }
  template <typename... Parts>
  static Error unimplemented(const Parts&... parts) {
    return of(Code::kUnimplemented, parts...);
  }
  template <typename... Parts>
  static Error internal(const Parts&... parts) {
    return of(Code::kInternal, parts...);
  }
  static Error cancelled() { return Error(Code::kCancelled, "cancelled"); }

  // Derives the code from errno (ENOENT is NotFound, EACCES PermissionDenied, …) and appends the
  // system's message.
  static Error from_errno(int number, std::string message);
  // Reads errno. Call it before any other call that may change errno.
  template <typename... Parts>
  static Error io(const Parts&... parts) {
    const int number = last_errno();
    std::ostringstream text;
    (text << ... << parts);
    return from_errno(number, std::move(text).str());
  }

  Code code() const { return detail_->code; }
  const std::string& message() const { return detail_->message; }
  const Place& place() const { return detail_->place; }

  // The place, for adding details. Copies the data first if it is shared, so that other copies of
  // this error do not change.
  Place& at();
  Error& set_path(std::string path, int64_t offset = -1);

  // The exception that a function threw, in languages that keep more than a message.
  const std::shared_ptr<void>& cause() const { return detail_->cause; }
  // Whether user code requested the end of the whole program, as sys.exit() does. Stages that skip
  // failed elements do not skip this error.
  bool ends_program() const { return code() == Code::kCancelled && cause(); }
  Error& set_cause(std::shared_ptr<void> cause);
  // Whether the stream ended with this error, such as a generator that raised an exception.
  bool is_last() const { return detail_->last; }
  Error& set_last();
  // Whether the input has no elements after this error.
  bool ends_input() const { return is_last() || ends_program(); }
  // Whether the error has no place among the elements of the iterator: after a restore, the input ended early, or the
  // process had no memory for a buffer. Positions in checkpoints do not count it, and a restored iterator returns it
  // even if it comes before the restored position.
  bool is_extra() const { return detail_->extra; }
  Error& set_extra();

  // Whether on_error may skip an element with this error. False if the error is about the whole input, such as a wrong
  // number of elements.
  bool is_skippable() const { return detail_->skippable; }
  Error& set_unskippable();

  // Several lines: message and code, element, record, and where the stage was written.
  std::string describe() const;
  // The same text. Valid as long as this error or a copy of it exists and is not changed.
  const char* what() const noexcept override;

 private:
  struct Facts {
    Code code;
    std::string message;
    Place place;
    std::shared_ptr<void> cause = nullptr;
    bool last = false;
    bool extra = false;
    bool skippable = true;
  };
  struct Detail : Facts {
    explicit Detail(Facts facts) : Facts(std::move(facts)) {}
    mutable std::mutex mutex;
    mutable std::string what;  // created by what(); guarded by the mutex
  };
  static int last_errno();

  std::shared_ptr<Detail> detail_;
};

// Ends the process with an error message. For bugs in Stoker, never for bad input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

#define STOKER_CHECK(condition) ((condition) ? void(0) : ::stoker::check_failed(#condition, __FILE__, __LINE__))

}  // namespace stoker
