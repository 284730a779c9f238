#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"

// Standard output and standard error: results there, complaints here.
namespace stoker::cli {

// Standard output, buffered. What is written after the reader has gone, or
// after an error, is dropped: `good` says so, and `end_output` tells it.
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

// Flushes; an output that could not be written turns `status` into kBadData. A
// reader that went away is no error.
int end_output(int status);

// Names of files and messages may hold anything; a terminal must not obey it.
std::string harmless(std::string_view text);

// "stoker: …" on standard error, without control characters.
void complain(std::string_view text);
void complain(const Error& error);
// A line on standard error as it is, for what is neither error nor result.
void remark(std::string_view text);

bool output_is_terminal();
bool errors_are_terminal();

// Text in a style where standard output shows colours; else as it is.
std::string bold(std::string_view text);
std::string dim(std::string_view text);

// A line that is written over and over: on a terminal in place, elsewhere
// each time anew, which the caller should do more rarely.
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

// A bar of `width` places, filled up to a share.
std::string bar(double share, size_t width);

// Columns under headings; all but the first to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Columns on the terminal that a text takes.
size_t width_of(std::string_view text);
std::string padded(std::string_view text, size_t width);

// "12,345"
std::string grouped(int64_t number);
// "1.5 MB"
std::string bytes_words(double bytes);
// "12.3 µs"
std::string seconds_words(double seconds);
// "4.0 million", "12,345", "3.2"
std::string count_words(double count);
// "12.3 %"
std::string percent_words(double share);

}  // namespace stoker::cli
