#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"

namespace stoker::cli {
namespace {

constexpr size_t kBufferBytes = 64 << 10;
// The maximum delay before the reader of a slow pipeline receives an element.
constexpr int64_t kFlushNs = 100'000'000;

int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool shows_colours() {
  static const bool shows = [] {
    const char* none = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    return output_is_terminal() && !(none && *none) && !(kind && std::strcmp(kind, "dumb") == 0);
  }();
  return shows;
}

std::string styled(std::string_view code, std::string_view text) {
  if (!shows_colours()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

Output& Output::standard() {
  static auto* output = new Output;
  return *output;
}

void Output::write(std::string_view text) {
  if (!good()) return;
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes || output_is_terminal() || clock_ns() - flushed_ns_ > kFlushNs) flush();
}

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && good()) {
    const ssize_t n = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  flushed_ns_ = clock_ns();
}

std::string harmless(std::string_view text) {
  std::string clean(text);
  for (char& c : clean) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n') || code == 0x7f) c = '?';
  }
  return clean;
}

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

int end_output(int status) {
  Output& output = Output::standard();
  output.flush();
  if (output.error() == 0) return status;
  complain(fmt::format("cannot write the output: {}", std::strerror(output.error())));
  return std::max(status, kBadData);
}

void complain(std::string_view text) {
  Output::standard().flush();  // print what came before the error first
  write_all(STDERR_FILENO, "stoker: " + harmless(text) + "\n");
}

void complain(const Error& error) { complain(error.describe()); }

void remark(std::string_view text) {
  Output::standard().flush();
  write_all(STDERR_FILENO, harmless(text) + "\n");
}

bool output_is_terminal() {
  static const bool is = isatty(STDOUT_FILENO) == 1;
  return is;
}

bool errors_are_terminal() {
  static const bool is = isatty(STDERR_FILENO) == 1;
  return is;
}

std::string bold(std::string_view text) { return styled("1", text); }
std::string dim(std::string_view text) { return styled("2", text); }

void LiveLine::show(std::string_view text) {
  std::string line(text);
  if (in_place()) {
    const size_t columns = terminal_columns();
    while (width_of(line) >= columns) line.pop_back();
    line = "\r\x1b[K" + line;
    shown_ = true;
  } else {
    line += "\n";
  }
  if (on_errors_)
    write_all(STDERR_FILENO, line);
  else
    print(line);
}

void LiveLine::clear() {
  if (!shown_) return;
  shown_ = false;
  if (on_errors_)
    write_all(STDERR_FILENO, "\r\x1b[K");
  else
    print("\r\x1b[K");
}

std::string bar(double share, size_t width) {
  const auto full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  std::string text;
  for (size_t i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

size_t width_of(std::string_view text) {
  // Count the bytes that start a UTF-8 character.
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string padded(std::string_view text, size_t width) {
  std::string cell(text);
  const size_t taken = width_of(text);
  if (taken < width) cell.append(width - taken, ' ');
  return cell;
}

std::string Table::text(std::string_view indent) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == 0)
        line += padded(row[i], widths[i]);
      else
        line += "  " + std::string(widths[i] - width_of(row[i]), ' ') + row[i];
    }
    text += (&row == rows_.data() ? bold(line) : line) + "\n";
  }
  return text;
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.1f} µs", seconds * 1e6);
  return fmt::format("{:.1f} ns", seconds * 1e9);
}

std::string count_text(double count) {
  if (count >= 1e6) return fmt::format("{:.1f} million", count / 1e6);
  if (count >= 100) return grouped(std::llround(count));
  return fmt::format("{:.1f}", count);
}

std::string percent_text(double share) { return fmt::format("{:.1f} %", share * 100); }

}  // namespace stoker::cli
