#include "stoker/runtime/machine.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCpus = 1 << 20;  // more than Linux supports

struct Limits {
  double quota_cores = std::numeric_limits<double>::infinity();
  int64_t cpus = std::numeric_limits<int64_t>::max();
  int64_t memory_bytes = std::numeric_limits<int64_t>::max();
};

// A mounted cgroup hierarchy: a line of /proc/self/mountinfo.
struct Mount {
  std::string root;  // the cgroup that is visible at the mount point
  std::string point;
  bool version2 = false;
  std::vector<std::string> controllers;  // version 1; may contain other mount options
};

// The cgroup of this process in a hierarchy: a line of /proc/self/cgroup.
struct Membership {
  std::vector<std::string> controllers;  // empty: version 2
  std::string path;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> words_of(const fs::path& path) {
  std::string text = text_of(path);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return split(text, ' ');
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> number_in(const fs::path& path) {
  const std::vector<std::string> words = words_of(path);
  return words.size() == 1 ? number(words[0]) : std::nullopt;
}

// The kernel writes spaces and other special characters as a backslash and three octal digits.
std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() && std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Parses "id parent device root point options [tag…] - type source super_options".
std::optional<Mount> mount_of(const std::string& line) {
  const std::vector<std::string> fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  const std::string& type = dash[1];
  if (type != "cgroup" && type != "cgroup2") return std::nullopt;
  return Mount{unescape(fields[3]), unescape(fields[4]), type == "cgroup2", split(dash[3], ',')};
}

// Parses "id:controllers:path".
std::optional<Membership> membership_of(const std::string& line) {
  const size_t first = line.find(':');
  if (first == std::string::npos) return std::nullopt;
  const size_t second = line.find(':', first + 1);
  if (second == std::string::npos) return std::nullopt;
  return Membership{split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)};
}

bool is_mounted_at(const Membership& membership, const Mount& mount) {
  if (membership.controllers.empty() || mount.version2) return membership.controllers.empty() && mount.version2;
  return std::any_of(membership.controllers.begin(), membership.controllers.end(), [&](const std::string& name) {
    return std::find(mount.controllers.begin(), mount.controllers.end(), name) != mount.controllers.end();
  });
}

// Returns the path of the process's cgroup relative to the mount point. In a container, /proc often contains the host's
// path of the cgroup that is mounted as the root; the result is then empty, which means the mount point.
fs::path below_mount(const std::string& path, const std::string& mount_root) {
  const fs::path relative = fs::path(path).lexically_relative(mount_root);
  const bool inside = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return inside ? relative : fs::path();
}

template <typename T>
void lower(T& limit, std::optional<T> value) {
  if (value && *value > 0) limit = std::min(limit, *value);
}

void lower_quota(Limits& limits, std::optional<int64_t> quota, std::optional<int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  limits.quota_cores = std::min(limits.quota_cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

void lower_memory(Limits& limits, std::optional<int64_t> bytes) {
  constexpr int64_t kNone = int64_t{1} << 60;  // version 1 writes "no limit" as nearly 2^63
  if (bytes && *bytes < kNone) lower(limits.memory_bytes, bytes);
}

// Counts the CPUs in a list such as "0-3,8", which has five.
std::optional<int64_t> count_cpus(const std::string& list) {
  int64_t count = 0;
  for (const std::string& part : split(list, ',')) {
    const size_t dash = part.find('-');
    const std::optional<int64_t> first = number(part.substr(0, dash));
    const std::optional<int64_t> last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMostCpus) return std::nullopt;
    count += *last - *first + 1;
  }
  return count;
}

void lower_cpus(Limits& limits, const fs::path& path) {
  const std::vector<std::string> words = words_of(path);
  if (words.size() == 1) lower(limits.cpus, count_cpus(words[0]));
}

void lower_by_version2(Limits& limits, const fs::path& group) {
  const std::vector<std::string> quota = words_of(group / "cpu.max");
  if (quota.size() == 2) lower_quota(limits, number(quota[0]), number(quota[1]));
  lower_cpus(limits, group / "cpuset.cpus.effective");
  lower_memory(limits, number_in(group / "memory.max"));
  lower_memory(limits, number_in(group / "memory.high"));
}

void lower_by_version1(Limits& limits, const fs::path& group) {
  lower_quota(limits, number_in(group / "cpu.cfs_quota_us"), number_in(group / "cpu.cfs_period_us"));
  lower_cpus(limits, group / "cpuset.cpus");
  lower_cpus(limits, group / "cpuset.effective_cpus");
  lower_memory(limits, number_in(group / "memory.limit_in_bytes"));
}

// Applies the limits of the process's cgroup and of all its ancestors.
void lower_by_groups(Limits& limits, const fs::path& root, const Mount& mount, const Membership& membership) {
  const fs::path top = root / fs::path(mount.point).relative_path();
  fs::path below = below_mount(membership.path, mount.root);
  for (;;) {
    const fs::path group = below.empty() ? top : top / below;
    mount.version2 ? lower_by_version2(limits, group) : lower_by_version1(limits, group);
    if (below.empty()) return;
    below = below.parent_path();
  }
}

Limits limits_of_groups(const fs::path& root) {
  std::vector<Mount> mounts;
  for (const std::string& line : split(text_of(root / "proc/self/mountinfo"), '\n'))
    if (std::optional<Mount> mount = mount_of(line)) mounts.push_back(*std::move(mount));

  Limits limits;
  for (const std::string& line : split(text_of(root / "proc/self/cgroup"), '\n')) {
    const std::optional<Membership> membership = membership_of(line);
    if (!membership) continue;
    for (const Mount& mount : mounts)
      if (is_mounted_at(*membership, mount)) lower_by_groups(limits, root, mount, *membership);
  }
  return limits;
}

std::optional<int64_t> total_memory(const fs::path& root) {
  for (const std::string& line : split(text_of(root / "proc/meminfo"), '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 2 || words[0] != "MemTotal:") continue;
    const std::optional<int64_t> kilobytes = number(words[1]);
    if (!kilobytes || *kilobytes > std::numeric_limits<int64_t>::max() / 1024) return std::nullopt;
    return *kilobytes * 1024;
  }
  return std::nullopt;
}

// Returns the limit on the address space or the data of this process (`ulimit -v` and `ulimit -d`), the smaller of
// both. The kernel writes "Max address space  SOFT  HARD  bytes", where SOFT may be "unlimited".
std::optional<int64_t> process_memory_limit(const fs::path& root) {
  std::optional<int64_t> least;
  for (const std::string& line : split(text_of(root / "proc/self/limits"), '\n')) {
    if (!line.starts_with("Max address space ") && !line.starts_with("Max data size ")) continue;
    const std::vector<std::string> words = split(line, ' ');
    const std::optional<int64_t> soft = words.size() > 3 ? number(words[3]) : std::nullopt;
    if (soft && (!least || *soft < *least)) least = soft;
  }
  return least;
}

// The kernel rejects a set that is smaller than its own and does not report the size of its own, so larger sets are
// tried until one is accepted.
std::optional<int64_t> cpus_by_affinity() {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  for (size_t cpus = 1024; cpus <= kMostCpus; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(cpus));
    if (!set) return std::nullopt;
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set.get()) == 0) return CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set.get());
  }
  return std::nullopt;
}

std::optional<int64_t> cpus_of_system() {
  if (const std::optional<int64_t> cpus = cpus_by_affinity()) return cpus;
  return sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace

Machine read_machine(const fs::path& root, int affinity) {
  Limits limits = limits_of_groups(root);
  lower(limits.memory_bytes, total_memory(root));
  lower_memory(limits, process_memory_limit(root));
  if (affinity > 0) lower<int64_t>(limits.cpus, affinity);
  if (affinity <= 0 && root == "/") lower(limits.cpus, cpus_of_system());

  constexpr Limits kNone;
  const bool has_quota = limits.quota_cores != kNone.quota_cores;
  const bool has_cpus = limits.cpus != kNone.cpus;
  double cores = has_cpus || has_quota ? kMostCpus : 1;
  if (has_cpus) cores = std::min(cores, static_cast<double>(limits.cpus));
  if (has_quota) cores = std::min(cores, limits.quota_cores);
  return {.cores = std::max(1, static_cast<int>(cores)),
          .quota_cores = has_quota ? limits.quota_cores : 0,
          .memory_bytes = limits.memory_bytes == kNone.memory_bytes ? 0 : limits.memory_bytes};
}

int default_workers(int cores) { return std::max(1, cores >= 3 ? cores - 1 : cores); }

}  // namespace stoker
