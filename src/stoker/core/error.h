#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace stoker {

// The canonical codes, by the names of gRPC and tf.data.
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

// "InvalidArgument", "DataLoss", …
std::string_view name_of(Code code);

// What went wrong and, once the runtime has seen it, where. A leaf fills in
// the message alone; stage, element and record are added as it passes.
class Error {
 public:
  // Where an element came from, in the user's words. Empty or negative: not known.
  struct Place {
    std::string stage;       // "map, decode_image"
    std::string written_at;  // "train.py:41"
    std::string source;      // "range", "text_lines"
    int64_t position = -1;   // in the source
    int64_t pass = 0;
    std::string origin;  // "range:18204@2/17", what `stoker replay --at` takes
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

  // The kind follows errno (ENOENT is NotFound, EACCES PermissionDenied, …);
  // the system's own words are appended.
  static Error from_errno(int number, std::string message);
  // Reads errno: call it before anything else can change it.
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

  // The same error with more known about where it happened. Copies once when
  // shared, so that an error kept elsewhere does not change.
  Place& at();
  Error& set_path(std::string path, int64_t offset = -1);

  // What a function threw, where its language keeps more than a message.
  const std::shared_ptr<void>& cause() const { return detail_->cause; }
  // User code asked for the end of the whole program, as sys.exit() does: nothing
  // that leaves out failed elements leaves this out.
  bool ends_program() const { return code() == Code::kCancelled && cause(); }
  Error& set_cause(std::shared_ptr<void> cause);
  // Nothing follows it in its stream: a generator that raised has ended.
  bool is_last() const { return detail_->last; }
  Error& set_last();

  // Several lines: kind and message, element, record, stages.
  std::string words() const;

 private:
  struct Detail {
    Code code;
    std::string message;
    Place place;
    std::shared_ptr<void> cause = nullptr;
    bool last = false;
  };
  static int last_errno();

  std::shared_ptr<Detail> detail_;
};

// Ends the process with file, line and the broken condition: a mistake of
// Stoker's own, never of its input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

#define STOKER_CHECK(condition) ((condition) ? void(0) : ::stoker::check_failed(#condition, __FILE__, __LINE__))

}  // namespace stoker
