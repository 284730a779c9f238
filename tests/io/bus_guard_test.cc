#include "stoker/io/bus_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stoker/io/file.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(BusGuard, ReadsZerosWhereAFileWasTruncated) {
  const TempDir dir;
  const std::string path = dir.write("long", std::string(20000, 'x'));
  const MappedFile file = MappedFile::open(path).value();
  EXPECT_EQ(file.bytes()[19999], 'x');
  EXPECT_FALSE(file.was_cut());
  std::filesystem::resize_file(path, 5000);
  EXPECT_EQ(file.bytes()[4999], 'x');
  EXPECT_EQ(file.bytes()[19999], '\0');
  EXPECT_TRUE(file.was_cut());
}

TEST(BusGuard, MarksOnlyTheTruncatedFile) {
  const TempDir dir;
  const std::string path = dir.write("cut", std::string(9000, 'x'));
  const MappedFile cut = MappedFile::open(path).value();
  const MappedFile whole = MappedFile::open(dir.write("whole", std::string(9000, 'y'))).value();
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(cut.bytes()[8999], '\0');
  EXPECT_EQ(whole.bytes()[8999], 'y');
  EXPECT_TRUE(cut.was_cut());
  EXPECT_FALSE(whole.was_cut());
}

TEST(BusGuard, GuardsAnyNumberOfMappings) {
  const TempDir dir;
  const std::string path = dir.write("many", std::string(5000, 'x'));
  std::vector<MappedFile> files;
  for (int i = 0; i < 6000; ++i) files.push_back(MappedFile::open(path).value());
  std::filesystem::resize_file(path, 0);
  int64_t cut = 0;
  for (const MappedFile& file : files) cut += file.bytes()[4999] == '\0' && file.was_cut();
  EXPECT_EQ(cut, 6000);
}

TEST(BusGuard, ResetsReusedPlaces) {
  const TempDir dir;
  const std::string path = dir.write("cut", std::string(9000, 'x'));
  for (int i = 0; i < 10; ++i) {
    const MappedFile cut = MappedFile::open(path).value();
    EXPECT_FALSE(cut.was_cut());
    std::filesystem::resize_file(path, 0);
    EXPECT_EQ(cut.bytes()[8999], '\0');
    std::filesystem::resize_file(path, 9000);
  }
}

// ---- a SIGBUS that the guard does not handle

const int guarded = 0;

void touch_a_page_that_is_not_there() {
  const int file = memfd_create("short", 0);
  STOKER_CHECK(ftruncate(file, 100) == 0);
  const auto* bytes = static_cast<const char*>(mmap(nullptr, 20000, PROT_READ, MAP_SHARED, file, 0));
  volatile char seen = bytes[15000];
  (void)seen;
}

enum class Cause { kSent, kFault };

void cause_a_signal(Cause cause) {
  if (cause == Cause::kFault) return touch_a_page_that_is_not_there();
  kill(getpid(), SIGBUS);
}

struct sigaction replaced;  // by a handler of the program
int times_called = 0;

void leave(int) { _exit(7); }
void leave_with_address(int, siginfo_t* info, void*) { _exit(info->si_signo == SIGBUS ? 8 : 1); }
void pass_to_the_one_before(int signal, siginfo_t* info, void* context) {
  if (++times_called > 1) _exit(9);
  if (replaced.sa_flags & SA_SIGINFO) return replaced.sa_sigaction(signal, info, context);
  sigaction(SIGBUS, &replaced, nullptr);
  raise(signal);
}
// As a handler of Python's does, and faulthandler's once it is disabled.
void return_at_once(int) {}
// As Python's faulthandler does.
void restore_and_raise(int signal) {
  if (++times_called > 1) _exit(9);
  sigaction(SIGBUS, &replaced, nullptr);
  raise(signal);
}

struct Handler {
  std::string name;
  void (*plain)(int) = nullptr;
  void (*with_info)(int, siginfo_t*, void*) = nullptr;
  int code = -1;  // the exit code of the process; -1: the signal ends it
  bool ignores_sent = false;

  void install() const {
    struct sigaction action = {};
    if (with_info) {
      action.sa_sigaction = with_info;
      action.sa_flags = SA_SIGINFO;
    } else {
      action.sa_handler = plain;
    }
    sigaction(SIGBUS, &action, &replaced);
  }
};

std::vector<Handler> handlers() {
  return {
      {.name = "default", .plain = SIG_DFL},
      {.name = "ignored", .plain = SIG_IGN, .ignores_sent = true},
      {.name = "plain", .plain = leave, .code = 7},
      {.name = "with_info", .with_info = leave_with_address, .code = 8},
      {.name = "passes_on", .with_info = pass_to_the_one_before},
      {.name = "restores_and_raises", .plain = restore_and_raise},
      {.name = "returns", .plain = return_at_once, .ignores_sent = true},
  };
}

// When the program installs its handler: before any guard, after all of them, or between two.
enum class When { kBefore, kAfter, kBetween };

[[noreturn]] void meet_a_signal(const Handler& handler, When when, Cause cause) {
  alarm(20);  // a fault that repeats endlessly ends by another signal
  signal(SIGBUS, SIG_DFL);
  if (when == When::kBefore) handler.install();
  const BusGuard first(&guarded, 1);
  if (when != When::kBefore) handler.install();
  std::optional<BusGuard> second;
  if (when == When::kBetween) second.emplace(&guarded, 1);
  cause_a_signal(cause);
  _exit(0);  // the signal was ignored
}

class BusGuardDeathTest : public testing::TestWithParam<Handler> {};
INSTANTIATE_TEST_SUITE_P(Every, BusGuardDeathTest, testing::ValuesIn(handlers()),
                         [](const auto& info) { return info.param.name; });

TEST_P(BusGuardDeathTest, LeavesOtherSignalsToTheProgram) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer installs its own handler";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer installs its own handler";
#endif
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Handler& handler = GetParam();
  for (const When when : {When::kBefore, When::kAfter, When::kBetween})
    for (const Cause cause : {Cause::kSent, Cause::kFault}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(when)) + (cause == Cause::kSent ? " sent" : " fault"));
      if (handler.plain == return_at_once && when == When::kAfter && cause == Cause::kFault) continue;  // endless
      if (handler.ignores_sent && cause == Cause::kSent)
        EXPECT_EXIT(meet_a_signal(handler, when, cause), testing::ExitedWithCode(0), "");
      else if (handler.code >= 0)
        EXPECT_EXIT(meet_a_signal(handler, when, cause), testing::ExitedWithCode(handler.code), "");
      else
        EXPECT_EXIT(meet_a_signal(handler, when, cause), testing::KilledBySignal(SIGBUS), "");
    }
}

TEST(BusGuard, TakesPrecedenceOverAHandlerInstalledLater) {
  const TempDir dir;
  const std::string path = dir.write("cut", std::string(9000, 'x'));
  const MappedFile file = MappedFile::open(path).value();
  handlers()[2].install();
  const BusGuard another(&guarded, 1);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(file.bytes()[8999], '\0');
  EXPECT_TRUE(file.was_cut());
}

TEST(BusGuard, ReturnsToTheFrontBeforeAReadThatIsAnnounced) {
  const TempDir dir;
  const std::string path = dir.write("cut", std::string(9000, 'x'));
  const MappedFile file = MappedFile::open(path).value();
  struct sigaction ours = {}, now = {};
  sigaction(SIGBUS, nullptr, &ours);
  for (const Handler& handler : {handlers()[0], handlers()[2]}) {
    handler.install();
    BusGuard::reinstall();
    sigaction(SIGBUS, nullptr, &now);
    ASSERT_EQ(now.sa_sigaction, ours.sa_sigaction);
  }
  std::filesystem::resize_file(path, 0);
  EXPECT_TRUE(file.was_cut());
}

// A handler that fixes the fault by itself, each time.
void* fixed_page = nullptr;
int times_fixed = 0;
void map_zeros(int, siginfo_t*, void*) {
  ++times_fixed;
  mmap(fixed_page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

TEST(BusGuard, CallsAHandlerForEveryFaultThatItFixes) {
  struct sigaction action = {}, before = {};
  action.sa_sigaction = map_zeros;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, &before);
  const BusGuard guard(&guarded, 1);
  const int file = memfd_create("short", 0);
  fixed_page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  int seen = 0;
  for (int i = 0; i < 10; ++i) {
    mmap(fixed_page, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0);
    seen += *static_cast<volatile char*>(fixed_page) + i;
  }
  EXPECT_EQ(times_fixed, 10);
  EXPECT_EQ(seen, 45);
  munmap(fixed_page, 4096);
  close(file);
  sigaction(SIGBUS, &before, nullptr);
}

}  // namespace
}  // namespace stoker
