#include "stoker/io/read_ahead.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(ReadAhead, DoesNotChangeTheBytesThatAreRead) {
  TempDir dir;
  std::string bytes;
  bytes.resize(70'000'000, 'x');
  for (size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
  const MappedFile file = MappedFile::open(dir.write("a", bytes)).value();
  for (const bool let_go : {false, true}) {
    ReadAhead ahead(let_go);
    for (size_t at = 0; at < bytes.size(); at += 1'000'000) {
      ahead.at(static_cast<int64_t>(at), file);
      ASSERT_EQ(file.bytes().substr(at, 1000), std::string_view(bytes).substr(at, 1000));
    }
    ASSERT_EQ(file.bytes(), bytes);
  }
}

TEST(ReadAhead, AcceptsOffsetsBeyondTheEnd) {
  TempDir dir;
  const MappedFile file = MappedFile::open(dir.write("a", "short")).value();
  ReadAhead ahead(true);
  for (const int64_t at : {int64_t{0}, int64_t{5}, int64_t{1} << 40}) ahead.at(at, file);
  EXPECT_EQ(file.bytes(), "short");
}

// Sparse files take no space on the disk.
TEST(ReadAhead, DetectsFilesThatDoNotFitInMemory) {
  TempDir dir;
  const int64_t memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const std::vector<std::string> halves{dir.write("a", ""), dir.write("b", ""), dir.at("none")};
  for (const std::string& half : {halves[0], halves[1]})
    std::filesystem::resize_file(half, static_cast<uintmax_t>(memory / 2 + 4096));
  EXPECT_TRUE(exceed_memory(halves));
  EXPECT_FALSE(exceed_memory({halves[0]}));
}

}  // namespace
}  // namespace stoker
