#include "stoker/io/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/interrupt.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(ReadFile, ReturnsTheBytesUnchanged) {
  const TempDir dir;
  const std::string bytes("a\r\n\0\xff z", 7);
  EXPECT_EQ(read_file(dir.write("bytes", bytes)).value(), bytes);
  EXPECT_EQ(read_file(dir.write("empty", "")).value(), "");
}

TEST(ReadFile, ReadsSizesAroundItsFirstGuess) {
  const TempDir dir;
  for (size_t size : {1, 4095, 4096, 4097, 300000}) {
    const std::string bytes(size, 'x');
    EXPECT_EQ(read_file(dir.write("bytes", bytes)).value(), bytes);
  }
}

TEST(ReadFile, ReadsFilesWhoseReportedSizeIsZero) {
  ASSERT_EQ(std::filesystem::file_size("/proc/self/status"), 0u);
  EXPECT_NE(read_file("/proc/self/status").value().find("Pid:"), std::string::npos);
}

TEST(ReadFile, ReadsAPipeToItsEnd) {
  const TempDir dir;
  const std::string pipe = dir.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string bytes(200000, 'x');
  std::thread writer([&] { std::ofstream(pipe) << bytes; });
  EXPECT_EQ(read_file(pipe).value(), bytes);
  writer.join();
}

TEST(ReadFile, IsInterruptedWhileItWaitsForAPipe) {
  const TempDir dir;
  const std::string unopened = dir.at("unopened"), silent = dir.at("silent");
  ASSERT_EQ(mkfifo(unopened.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(silent.c_str(), 0600), 0);
  const int writer = open(silent.c_str(), O_RDWR);
  ASSERT_GE(writer, 0);
  const InterruptScope scope([] { return true; });
  EXPECT_THROW((void)read_file(unopened), Error);
  EXPECT_THROW((void)read_file(silent), Error);
  close(writer);
}

TEST(ReadFile, IsInterruptedWhileItReadsAFileWithoutAnEnd) {
  const InterruptScope scope([] { return true; });
  EXPECT_THROW((void)read_file("/dev/zero"), Error);
}

TEST(ReadFile, DoesNotReadAFileThatIsLargerThanTheLimit) {
  const TempDir dir;
  const std::string path = dir.write("sparse", "");
  std::filesystem::resize_file(path, uintmax_t{1} << 40);
  EXPECT_EQ(read_file(path, 5).error().message(), path + " is larger than the limit of 5 bytes");
}

TEST(File, OpensOnlyRegularFilesForReadingAtOffsets) {
  const TempDir dir;
  const std::string pipe = dir.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(File::open_regular(dir.write("file", "1")));
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    const Error error = File::open_regular(path).error();
    EXPECT_EQ(error.code(), Code::kFailedPrecondition);
    EXPECT_EQ(error.message(), path + " cannot be read at an offset: it is not a regular file");
    EXPECT_EQ(error.place().path, path);
  }
}

// A writer that finds a reader would write to a pipe that nothing reads.
TEST(File, IsNotOpenedForAMarkIfItIsAPipe) {
  const TempDir dir;
  const std::string pipe = dir.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(mark_of(pipe)->bytes, 0);
  EXPECT_EQ(*fingerprint_of(pipe), "pipe of 0 bytes, 0000000000000000");
  EXPECT_TRUE(is_special_file(pipe));
  EXPECT_FALSE(is_special_file(dir.path()));
  EXPECT_FALSE(is_special_file(dir.at("missing")));
}

TEST(ReadFile, ReadsBytesAddedAfterOpening) {
  const TempDir dir;
  const std::string path = dir.write("log", "one");
  File file = File::open(path).value();
  std::ofstream(path, std::ios::app) << "two";
  char bytes[16];
  EXPECT_EQ(file.size(), 3);
  EXPECT_EQ(file.read(bytes).value(), 6u);
}

TEST(ReadFile, EndsWhereAFileWasTruncatedAfterOpening) {
  const TempDir dir;
  const std::string path = dir.write("log", "one two");
  File file = File::open(path).value();
  std::filesystem::resize_file(path, 3);
  char bytes[16];
  EXPECT_EQ(file.read(bytes).value(), 3u);
  EXPECT_EQ(file.read(bytes).value(), 0u);
}

TEST(ReadFile, NamesAMissingFile) {
  const TempDir dir;
  const Error error = read_file(dir.at("missing.txt")).error();
  EXPECT_EQ(error.code(), Code::kNotFound);
  EXPECT_EQ(error.message(), "cannot open " + dir.at("missing.txt") + ": No such file or directory");
  EXPECT_EQ(error.place().path, dir.at("missing.txt"));
}

TEST(ReadFile, NamesTheStageThatExpandsAPattern) {
  const TempDir dir;
  for (const char* pattern : {"*.txt", "a?.txt", "[ab].txt"}) {
    const Error error = read_file(dir.at(pattern)).error();
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_EQ(error.message(), "cannot open " + dir.at(pattern) +
                                   ": No such file or directory; a pattern is not expanded here: list_files finds the "
                                   "files that match it");
  }
  const std::string odd = dir.write("a[1]*.txt", "text");
  EXPECT_EQ(*read_file(odd), "text");
}

TEST(ReadFile, RejectsADirectory) {
  const TempDir dir;
  const Error error = read_file(dir.path()).error();
  EXPECT_EQ(error.code(), Code::kFailedPrecondition);
  EXPECT_EQ(error.message(), dir.path().string() + " is a directory, expected a file");
  EXPECT_EQ(error.place().path, dir.path().string());
}

TEST(ReadFile, RejectsAZeroByteInAPath) {
  EXPECT_EQ(read_file(std::string("/dev/null\0x", 11)).error().code(), Code::kInvalidArgument);
}

TEST(ReadFile, StopsAtTheLimit) {
  const TempDir dir;
  const std::string path = dir.write("bytes", "12345");
  EXPECT_EQ(read_file(path, 5).value(), "12345");
  EXPECT_EQ(read_file(path, 4).error().code(), Code::kResourceExhausted);
  EXPECT_EQ(read_file("/dev/zero", 1 << 20).error().message(), "/dev/zero is larger than the limit of 1048576 bytes");
}

TEST(MappedFile, ContainsTheWholeFile) {
  const TempDir dir;
  const std::string bytes(100001, 'x');
  const std::string path = dir.write("bytes", bytes);
  const MappedFile file = MappedFile::open(path).value();
  EXPECT_EQ(file.bytes(), bytes);
  EXPECT_EQ(file.path(), path);
}

TEST(MappedFile, MayBeEmpty) {
  const TempDir dir;
  EXPECT_EQ(MappedFile::open(dir.write("empty", "")).value().bytes(), "");
}

TEST(MappedFile, ShowsThatItWasCutBeforeAByteIsRead) {
  const TempDir dir;
  const std::string bytes = std::string(9000, 'x') + std::string(50, '\0');
  for (const uintmax_t kept : {0, 1, 4096, 8192, 8193, 8999}) {
    const std::string path = dir.write("cut", bytes);
    MappedFile file = MappedFile::open(path).value();
    EXPECT_TRUE(file.intact());
    const MappedFile moved = std::move(file);
    std::filesystem::resize_file(path, kept);
    EXPECT_FALSE(moved.intact()) << kept;
  }
}

TEST(MappedFile, IsIntactWhereItGrewOrLostNothingButZeros) {
  const TempDir dir;
  const std::string path = dir.write("kept", std::string(9000, 'x') + std::string(50, '\0'));
  const MappedFile file = MappedFile::open(path).value();
  std::filesystem::resize_file(path, 9000);
  EXPECT_EQ(file.bytes()[9049], '\0');
  EXPECT_TRUE(file.intact());
  std::filesystem::resize_file(path, 100'000);
  EXPECT_TRUE(file.intact());
}

TEST(MappedFile, IsReadWhereNothingAtItsEndWouldShowACut) {
  const TempDir dir;
  for (const size_t zeros : {100, 70'000}) {
    const std::string path = dir.write("zeros", "x" + std::string(zeros, '\0'));
    const MappedFile file = MappedFile::open(path).value();
    EXPECT_EQ(file.bytes().size(), zeros + 1);
    std::filesystem::resize_file(path, 0);
    EXPECT_EQ(file.bytes()[0] == 'x', file.intact());
  }
}

TEST(MappedFile, KeepsItsAddressWhenMoved) {
  const TempDir dir;
  MappedFile first = MappedFile::open(dir.write("one", "11")).value();
  MappedFile second = MappedFile::open(dir.write("two", "22")).value();
  const char* address = second.bytes().data();
  first = std::move(second);
  EXPECT_EQ(first.bytes(), "22");
  EXPECT_EQ(first.bytes().data(), address);
  const MappedFile third = std::move(first);
  EXPECT_EQ(third.bytes().data(), address);
}

TEST(MappedFile, ReadsFilesThatCannotBeMapped) {
  EXPECT_NE(MappedFile::open("/proc/self/status").value().bytes().find("Pid:"), std::string_view::npos);
}

TEST(MappedFile, IsReadInsteadOnRequest) {
  const TempDir dir;
  const std::string path = dir.write("bytes", "before");
  setenv("STOKER_MAP", "0", 1);
  const MappedFile file = MappedFile::open(path).value();
  unsetenv("STOKER_MAP");
  std::ofstream(path) << "behind";
  EXPECT_EQ(file.bytes(), "before");
}

TEST(MappedFile, NamesAFileThatItCannotOpen) {
  const TempDir dir;
  EXPECT_EQ(MappedFile::open(dir.at("missing")).error().place().path, dir.at("missing"));
  EXPECT_EQ(MappedFile::open(dir.path()).error().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace stoker
