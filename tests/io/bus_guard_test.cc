#include "stoker/io/bus_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <string>

#include "stoker/io/file.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(BusGuard, GivesZerosForWhatWasCutFromAFile) {
  const TempDir dir;
  const std::string path = dir.write("long", std::string(20000, 'x'));
  const MappedFile file = MappedFile::open(path).value();
  EXPECT_EQ(file.bytes()[19999], 'x');
  EXPECT_FALSE(file.was_cut());
  std::filesystem::resize_file(path, 5000);
  EXPECT_EQ(file.bytes()[4999], 'x');
  EXPECT_FALSE(file.was_cut());
  EXPECT_EQ(file.bytes()[19999], '\0');
  EXPECT_TRUE(file.was_cut());
}

TEST(BusGuard, TellsFilesApart) {
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

// Memory that nobody guards, of a file that has no such page.
void touch_a_page_that_is_not_there() {
  const TempDir dir;
  const File opened = File::open(dir.write("short", std::string(100, 'x'))).value();
  const int file = opened.descriptor();
  const auto* bytes = static_cast<const char*>(mmap(nullptr, 20000, PROT_READ, MAP_SHARED, file, 0));
  const BusGuard other(&file, 1);  // so that the handler is there
  volatile char seen = bytes[15000];
  (void)seen;
}

TEST(BusGuardDeathTest, LeavesOtherSignalsToOthers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has a handler of its own";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer has a handler of its own";
#endif
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(touch_a_page_that_is_not_there(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace stoker
