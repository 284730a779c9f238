#include "stoker/runtime/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace stoker {
namespace {

constexpr std::string_view kExpectedSize = "a number of bytes of at least 1, such as 500000, 64M or 1.5G";
constexpr std::string_view kExpectedWorkers = "an integer from 0 to 4096, or -1 for as many as fit the machine";

Error wrong_size(std::string_view text) {
  return Error::invalid("'", text, "' is not a size; expected ", kExpectedSize);
}

// Returns the factor of "", "B", "K", "KB", "KiB" and so on, and 0 for any other text.
double factor_of(std::string_view unit) {
  std::string upper(unit);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper.empty() || upper == "B") return 1;
  const size_t power = std::string_view("KMGT").find(upper[0]);
  const std::string_view rest = std::string_view(upper).substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "IB")) return 0;
  return std::pow(1024.0, static_cast<double>(power) + 1);
}

std::optional<std::string_view> value_of(const std::function<const char*(const char*)>& variable, const char* name) {
  const char* value = variable(name);
  return value && *value ? std::optional<std::string_view>(value) : std::nullopt;
}

Error error_in_variable(const char* name, const Error& error) {
  return Error::of(error.code(), "the environment variable ", name, ": ", error.message(),
                   "; correct it, or unset it to use the default");
}

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (problem != std::errc() || !std::isfinite(number)) return wrong_size(text);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const double bytes = number * factor_of(unit);
  constexpr double kTooLarge = 9223372036854775808.0;  // 2^63
  if (!(bytes >= 1) || bytes >= kTooLarge) return wrong_size(text);
  return static_cast<int64_t>(bytes);
}

Result<int64_t> parse_workers(std::string_view text) {
  int64_t workers = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (problem != std::errc() || end != text.data() + text.size() || !check_workers(workers))
    return Error::invalid("'", text, "' is not a number of workers; expected ", kExpectedWorkers);
  return workers;
}

Result<void> check_workers(int64_t workers) {
  if (workers >= kAutotune && workers <= kMostWorkers) return {};
  return Error::invalid("workers is ", workers, "; expected ", kExpectedWorkers);
}

Result<void> check_memory(int64_t bytes) {
  if (bytes >= 1) return {};
  return Error::invalid("memory_bytes is ", bytes, "; expected ", kExpectedSize);
}

Result<Settings> read_settings(const std::function<const char*(const char*)>& variable) {
  Settings settings;
  if (const auto text = value_of(variable, "STOKER_WORKERS")) {
    const Result<int64_t> workers = parse_workers(*text);
    if (!workers) return error_in_variable("STOKER_WORKERS", workers.error());
    settings.workers = *workers;
  }
  if (const auto text = value_of(variable, "STOKER_MEMORY")) {
    const Result<int64_t> bytes = parse_bytes(*text);
    if (!bytes) return error_in_variable("STOKER_MEMORY", bytes.error());
    settings.memory_bytes = *bytes;
  }
  if (const auto text = value_of(variable, "STOKER_MAP"); text && *text != "0" && *text != "1")
    return error_in_variable(
        "STOKER_MAP", Error::invalid("'", *text, "' is not a valid value; expected 0 (read files) or 1 (map files)"));
  return settings;
}

const Result<Settings>& process_settings() {
  static const auto* settings =
      new Result<Settings>(read_settings([](const char* name) -> const char* { return std::getenv(name); }));
  return *settings;
}

}  // namespace stoker
