#include "stoker/runtime/machine.h"

#include <gtest/gtest.h>

#include <string>

#include "support/temp_dir.h"

namespace stoker {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

class MachineTest : public testing::Test {
 protected:
  MachineTest() { write("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:          1234 kB\n"); }

  void write(const std::string& name, const std::string& text) { tree_.write(name, text); }
  Machine read(int affinity = 16) const { return read_machine(tree_.path(), affinity); }

  void use_version2(const std::string& group) {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 master:7 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  void use_version1(const std::string& group, const std::string& visible = "/") {
    write("proc/self/cgroup", "7:cpu,cpuacct:" + group + "\n6:memory:" + group + "\n5:cpuset:" + group +
                                  "\n1:name=systemd:" + group + "\n");
    write("proc/self/mountinfo",
          "40 32 0:33 " + visible + " /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct\n" +
              "41 32 0:34 " + visible + " /sys/fs/cgroup/memory rw shared:16 - cgroup cgroup rw,memory\n" +
              "42 32 0:35 " + visible + " /sys/fs/cgroup/cpuset rw shared:17 - cgroup cgroup rw,cpuset\n");
  }

  TempDir tree_;
};

TEST_F(MachineTest, HasAllCpusAndMemoryWithoutGroups) {
  const Machine machine = read();
  EXPECT_EQ(machine.cores, 16);
  EXPECT_EQ(machine.quota_cores, 0);
  EXPECT_EQ(machine.memory_bytes, 64 * kGiB);
}

TEST_F(MachineTest, ReadsTheLimitsOfCgroupVersion2) {
  use_version2("/app");
  write("sys/fs/cgroup/app/cpu.max", "250000 100000\n");
  write("sys/fs/cgroup/app/cpuset.cpus.effective", "0-3,8\n");
  write("sys/fs/cgroup/app/memory.max", "8589934592\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cores, 2);
  EXPECT_EQ(machine.quota_cores, 2.5);
  EXPECT_EQ(machine.memory_bytes, 8 * kGiB);
}

TEST_F(MachineTest, TreatsMaxOfVersion2AsNoLimit) {
  use_version2("/app");
  write("sys/fs/cgroup/app/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/app/cpuset.cpus.effective", "\n");
  write("sys/fs/cgroup/app/memory.max", "max\n");
  write("sys/fs/cgroup/app/memory.high", "max\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cores, 16);
  EXPECT_EQ(machine.quota_cores, 0);
  EXPECT_EQ(machine.memory_bytes, 64 * kGiB);
}

TEST_F(MachineTest, TreatsTheThrottlingMarkAsALimit) {
  use_version2("/app");
  write("sys/fs/cgroup/app/memory.max", "8589934592\n");
  write("sys/fs/cgroup/app/memory.high", "4294967296\n");
  EXPECT_EQ(read().memory_bytes, 4 * kGiB);
}

TEST_F(MachineTest, UsesTheMemoryLimitsOfTheProcess) {
  const std::string header = "Limit                     Soft Limit           Hard Limit           Units     \n";
  write("proc/self/limits", header +
                                "Max data size             unlimited            unlimited            bytes     \n" +
                                "Max stack size            8388608              unlimited            bytes     \n" +
                                "Max address space         2147483648           4294967296           bytes     \n");
  EXPECT_EQ(read().memory_bytes, 2 * kGiB);
  write("proc/self/limits", header +
                                "Max data size             1073741824           unlimited            bytes     \n" +
                                "Max address space         2147483648           unlimited            bytes     \n");
  EXPECT_EQ(read().memory_bytes, 1 * kGiB);
}

TEST_F(MachineTest, IgnoresMemoryLimitsThatItCannotRead) {
  for (const char* text : {"", "Max address space\n", "Max address space         many   bytes\n",
                           "Max address space         -1                   -1                   bytes\n"}) {
    write("proc/self/limits", text);
    EXPECT_EQ(read().memory_bytes, 64 * kGiB) << text;
  }
}

TEST_F(MachineTest, UsesTheSmallestLimitOfAllParentGroups) {
  use_version2("/pod/box/app");
  write("sys/fs/cgroup/pod/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/pod/box/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/pod/box/memory.max", "2147483648\n");
  write("sys/fs/cgroup/pod/box/app/memory.max", "max\n");
  write("sys/fs/cgroup/cpuset.cpus.effective", "0-4\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cores, 3);
  EXPECT_EQ(machine.memory_bytes, 2 * kGiB);
}

TEST_F(MachineTest, HasOneCoreUnderAQuotaOfLess) {
  use_version2("/app");
  write("sys/fs/cgroup/app/cpu.max", "50000 100000\n");
  EXPECT_EQ(read().cores, 1);
  EXPECT_EQ(read().quota_cores, 0.5);
}

TEST_F(MachineTest, ReadsTheLimitsOfCgroupVersion1) {
  use_version1("/app");
  write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "450000\n");
  write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpuset/app/cpuset.cpus", "0,2,4-9\n");
  write("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "1073741824\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cores, 4);
  EXPECT_EQ(machine.quota_cores, 4.5);
  EXPECT_EQ(machine.memory_bytes, kGiB);
}

TEST_F(MachineTest, TreatsMinusOneAndTheHugeNumberOfVersion1AsNoLimit) {
  use_version1("/app");
  write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read().cores, 16);
  EXPECT_EQ(read().memory_bytes, 64 * kGiB);
  write("proc/meminfo", "");
  EXPECT_EQ(read().memory_bytes, 0);
}

TEST_F(MachineTest, UsesTheSmallestLimitOfTheParentGroupsInVersion1) {
  use_version1("/kubepods/pod1/app");
  write("sys/fs/cgroup/memory/kubepods/memory.limit_in_bytes", "4294967296\n");
  write("sys/fs/cgroup/memory/kubepods/pod1/memory.limit_in_bytes", "2147483648\n");
  write("sys/fs/cgroup/memory/kubepods/pod1/app/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read().memory_bytes, 2 * kGiB);
}

// Docker without a cgroup namespace: the host's path, mounted as the root.
TEST_F(MachineTest, FindsItsGroupIfOnlyThatGroupIsMounted) {
  use_version1("/docker/4f2a/inner", "/docker/4f2a");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296\n");
  write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(read().memory_bytes, 2 * kGiB);
}

TEST_F(MachineTest, UsesTheMountPointForAGroupOutsideOfIt) {
  use_version2("/../../system.slice/app");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(read().cores, 2);
  use_version1("/somewhere/else", "/docker/4f2a");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296\n");
  EXPECT_EQ(read().memory_bytes, 4 * kGiB);
}

TEST_F(MachineTest, ReadsTheLimitsOfBothVersionsAtOnce) {
  write("proc/self/cgroup", "6:memory:/old\n1:name=systemd:/new\n0::/new\n");
  write("proc/self/mountinfo",
        "41 32 0:34 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "43 32 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "4294967296\n");
  write("sys/fs/cgroup/unified/new/cpu.max", "600000 200000\n");
  write("sys/fs/cgroup/unified/new/memory.max", "8589934592\n");
  const Machine machine = read();
  EXPECT_EQ(machine.cores, 3);
  EXPECT_EQ(machine.memory_bytes, 4 * kGiB);
}

TEST_F(MachineTest, FindsMountPointsWithSpaces) {
  write("proc/self/cgroup", "0::/app\n");
  write("proc/self/mountinfo", "30 22 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  write("my groups/app/cpu.max", "200000 100000\n");
  EXPECT_EQ(read().cores, 2);
}

TEST_F(MachineTest, UsesTheSmallestOfAffinityCpusetAndQuota) {
  use_version2("/app");
  write("sys/fs/cgroup/app/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/app/cpuset.cpus.effective", "0-5\n");
  EXPECT_EQ(read(4).cores, 4);
  EXPECT_EQ(read(12).cores, 6);
  write("sys/fs/cgroup/app/cpu.max", "300000 100000\n");
  EXPECT_EQ(read(12).cores, 3);
}

TEST_F(MachineTest, IgnoresInvalidLimits) {
  for (const char* garbage : {"", "\n", "x", "12abc 100000", "0 0", "-5 -5", "1 2 3", "99999999999999999999 100000",
                              "100000 0", "-", ",,,", "3-1", "0-99999999999", "\xff\xfe", "::::"}) {
    write("proc/self/cgroup", std::string(garbage) + "\n0::/app\n0:\n:\n");
    write("proc/self/mountinfo", std::string(garbage) + "\n- - -\n1 2 3 4 5 6 - cgroup2 x y\n" +
                                     "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    for (const char* name : {"cpu.max", "cpuset.cpus.effective", "memory.max", "memory.high"})
      write(std::string("sys/fs/cgroup/app/") + name, garbage);
    const Machine machine = read();
    EXPECT_EQ(machine.cores, 16) << garbage;
    EXPECT_EQ(machine.memory_bytes, 64 * kGiB) << garbage;
  }
}

TEST_F(MachineTest, AcceptsAQuotaOfAnySize) {
  use_version2("/app");
  write("sys/fs/cgroup/app/cpu.max", "9223372036854775807 1\n");
  EXPECT_EQ(read().cores, 16);
  EXPECT_GE(read(0).cores, 1);
}

TEST(Machine, HasOneCoreAndUnknownMemoryIfNothingCanBeRead) {
  const Machine machine = read_machine("/this/is/not/there");
  EXPECT_EQ(machine.cores, 1);
  EXPECT_EQ(machine.memory_bytes, 0);
}

TEST(Machine, IsReadFromThisSystem) {
  const Machine machine = read_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_EQ(read_machine("/", 1).cores, 1);
}

TEST(DefaultWorkers, LeaveACoreToTheConsumerFromThreeOn) {
  EXPECT_EQ(default_workers(0), 1);
  EXPECT_EQ(default_workers(1), 1);
  EXPECT_EQ(default_workers(2), 2);
  EXPECT_EQ(default_workers(3), 2);
  EXPECT_EQ(default_workers(64), 63);
}

}  // namespace
}  // namespace stoker
