#pragma once

#include <cstdint>
#include <filesystem>

namespace stoker {

// The cores and the memory that this process may use, after the limits of CPU affinity, of the container's cgroups
// (version 1, 2, or both) and of the process (ulimit -v and -d).
struct Machine {
  int cores = 1;             // whole cores, at least one: the minimum of affinity, cpuset and quota
  double quota_cores = 0;    // allowed by the CPU quota, possibly a fraction; 0: no quota
  int64_t memory_bytes = 0;  // the minimum of the machine's memory and all limits; 0: unknown
};

// Reads /proc and the cgroup files below `root`. A file that is missing or has another format is no limit. `affinity`
// is the number of CPUs that this thread may run on. 0: read from the system if root is "/", otherwise no limit.
Machine read_machine(const std::filesystem::path& root = "/", int affinity = 0);

// Returns the number of whole cores, minus one for the consumer if there are three or more, and at least one.
int default_workers(int cores);

}  // namespace stoker
