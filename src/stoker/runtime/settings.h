#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "stoker/core/result.h"
#include "stoker/graph/stage.h"

namespace stoker {

inline constexpr int64_t kMostWorkers = 4096;

// A size as people write it: "500000", "64M", "1.5 GiB". K, M, G and T are powers of
// 1024, in either case, with or without "B" or "iB". Everything that reads a size
// as text uses this.
Result<int64_t> parse_bytes(std::string_view text);
// A number of worker threads: 0 to kMostWorkers, or kAutotune for as many as fit the machine.
Result<int64_t> parse_workers(std::string_view text);

Result<void> check_workers(int64_t workers);
Result<void> check_memory(int64_t bytes);

// What the environment says. Nothing: the variable is not set, or empty.
struct Settings {
  std::optional<int64_t> workers;       // STOKER_WORKERS
  std::optional<int64_t> memory_bytes;  // STOKER_MEMORY
};
// `variable` returns the value of an environment variable, or null. A value that
// cannot be understood is InvalidArgument, with the variable and the value; so is
// one of STOKER_MAP.
Result<Settings> read_settings(const std::function<const char*(const char*)>& variable);
// Those of this process, read at the first call. Where they are an error, the
// defaults are used until a loader is asked for an element, which reports it.
const Result<Settings>& process_settings();

}  // namespace stoker
