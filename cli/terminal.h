#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"

// Standard output for results, standard error for errors and progress, and how
// numbers are printed.
namespace stoker::cli {

// Standard output, buffered. After an error, or after the reader has exited, text
// is dropped: good() returns false, and end_output() prints the error.
class Output {
 public:
  static Output& standard();

  void write(std::string_view text);
  void flush();
  bool good() const { return !reader_gone_ && error_ == 0; }
  bool reader_gone() const { return reader_gone_; }
  int error() const { return error_; }

 private:
  std::string buffer_;
  int64_t flushed_ns_ = 0;
  bool reader_gone_ = false;
  int error_ = 0;  // errno
};

inline void print(std::string_view text) { Output::standard().write(text); }
void print_line(std::string_view text);

// Flushes standard output and returns the exit code: `status`, or kBadData if the
// output could not be written. A reader that exited is not an error.
int end_output(int status);

// Replaces control characters other than line breaks with '?': file names and
// messages may contain any bytes, and a terminal would interpret them.
std::string harmless(std::string_view text);

// Prints "stoker: …" on standard error, without control characters.
void complain(std::string_view text);
void complain(const Error& error);
// Prints a line on standard error that is neither an error nor a result.
void remark(std::string_view text);

bool output_is_terminal();
bool errors_are_terminal();

// Styles a text if standard output shows colors; returns it unchanged otherwise.
std::string bold(std::string_view text);
std::string dim(std::string_view text);

// A line that is updated: in place on a terminal, and as a new line otherwise. A
// caller should update less often if in_place() is false.
class LiveLine {
 public:
  explicit LiveLine(bool on_errors) : on_errors_(on_errors) {}
  bool in_place() const { return on_errors_ ? errors_are_terminal() : output_is_terminal(); }
  void show(std::string_view text);
  void clear();

 private:
  const bool on_errors_;
  bool shown_ = false;
};

// A bar of `width` characters, filled up to a share.
std::string bar(double share, size_t width);

// Columns under headings; all but the first are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The number of terminal columns of a text.
size_t width_of(std::string_view text);
std::string padded(std::string_view text, size_t width);

// "12,345"
std::string grouped(int64_t number);
// "1.5 MB"
std::string bytes_text(double bytes);
// "12.3 µs"
std::string seconds_text(double seconds);
// "4.0 million", "12,345", "3.2"
std::string count_text(double count);
// "12.3 %"
std::string percent_text(double share);

}  // namespace stoker::cli
