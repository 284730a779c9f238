#pragma once

#include <cstdint>
#include <filesystem>

namespace stoker {

// What this process may use: the machine's, less what affinity and the
// container's cgroups (version 1, 2 or both at once) take away.
struct Machine {
  int cores = 1;             // whole ones, at least one: the least of affinity, cpuset and quota
  double quota_cores = 0;    // what the CPU quota allows, which may be a fraction; 0: no quota
  int64_t memory_bytes = 0;  // the least of the machine's and every limit above us; 0: not known
};

// Reads /proc and the cgroup files below `root`. What is missing or cannot be
// understood limits nothing. `affinity` is the number of CPUs this thread may
// run on; 0: the system is asked when root is "/", and otherwise it limits nothing.
Machine read_machine(const std::filesystem::path& root = "/", int affinity = 0);

// Whole cores, less one for the consumer from three cores on, at least one.
int default_workers(int cores);

}  // namespace stoker
