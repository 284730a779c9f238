#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "stoker/core/result.h"
#include "stoker/graph/stage.h"

namespace stoker {

inline constexpr int64_t kMostWorkers = 4096;

// Parses a size: "500000", "64M", "1.5 GiB". K, M, G and T are powers of 1024, in either case, with or without "B" or
// "iB". All code that reads a size from text uses this.
Result<int64_t> parse_bytes(std::string_view text);
// Parses a number of worker threads: 0 to kMostWorkers, or kAutotune for the number that suits the machine.
Result<int64_t> parse_workers(std::string_view text);

Result<void> check_workers(int64_t workers);
Result<void> check_memory(int64_t bytes);

// The settings from environment variables. No value: the variable is not set, or is empty.
struct Settings {
  std::optional<int64_t> workers;       // STOKER_WORKERS
  std::optional<int64_t> memory_bytes;  // STOKER_MEMORY
};
// `variable` returns the value of an environment variable, or null. An invalid value, also of STOKER_MAP, is
// InvalidArgument, with the variable and the value.
Result<Settings> read_settings(const std::function<const char*(const char*)>& variable);
// The settings of this process, read at the first call. If they are invalid, the defaults are used until an element is
// requested from a loader, which returns the error.
const Result<Settings>& process_settings();

}  // namespace stoker
