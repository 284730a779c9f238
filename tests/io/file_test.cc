#include "stoker/io/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>

#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(ReadFile, GivesTheBytesAsTheyAre) {
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

TEST(ReadFile, ReadsFilesThatSayTheyAreEmpty) {
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

TEST(ReadFile, ReadsWhatWasAddedAfterOpening) {
  const TempDir dir;
  const std::string path = dir.write("log", "one");
  File file = File::open(path).value();
  std::ofstream(path, std::ios::app) << "two";
  char bytes[16];
  EXPECT_EQ(file.size(), 3);
  EXPECT_EQ(file.read(bytes).value(), 6u);
}

TEST(ReadFile, EndsWhereAFileWasCutAfterOpening) {
  const TempDir dir;
  const std::string path = dir.write("log", "one two");
  File file = File::open(path).value();
  std::filesystem::resize_file(path, 3);
  char bytes[16];
  EXPECT_EQ(file.read(bytes).value(), 3u);
  EXPECT_EQ(file.read(bytes).value(), 0u);
}

TEST(ReadFile, NamesAFileThatIsNotThere) {
  const TempDir dir;
  const Error error = read_file(dir.at("missing.txt")).error();
  EXPECT_EQ(error.code(), Code::kNotFound);
  EXPECT_EQ(error.message(), "cannot open " + dir.at("missing.txt") + ": No such file or directory");
  EXPECT_EQ(error.place().path, dir.at("missing.txt"));
}

TEST(ReadFile, RefusesADirectory) {
  const TempDir dir;
  const Error error = read_file(dir.path()).error();
  EXPECT_EQ(error.code(), Code::kFailedPrecondition);
  EXPECT_EQ(error.message(), dir.path().string() + " is a directory, a file was wanted");
  EXPECT_EQ(error.place().path, dir.path().string());
}

TEST(ReadFile, RefusesAZeroByteInAPath) {
  EXPECT_EQ(read_file(std::string("/dev/null\0x", 11)).error().code(), Code::kInvalidArgument);
}

TEST(ReadFile, StopsAtTheBytesAllowed) {
  const TempDir dir;
  const std::string path = dir.write("bytes", "12345");
  EXPECT_EQ(read_file(path, 5).value(), "12345");
  EXPECT_EQ(read_file(path, 4).error().code(), Code::kResourceExhausted);
  EXPECT_EQ(read_file("/dev/zero", 1 << 20).error().message(), "/dev/zero has more than the 1048576 bytes allowed");
}

TEST(MappedFile, ShowsTheWholeFile) {
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

TEST(MappedFile, StaysWhereItIsWhenMoved) {
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

TEST(MappedFile, ReadsWhatCannotBeMapped) {
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

TEST(MappedFile, NamesWhatItCannotOpen) {
  const TempDir dir;
  EXPECT_EQ(MappedFile::open(dir.at("missing")).error().place().path, dir.at("missing"));
  EXPECT_EQ(MappedFile::open(dir.path()).error().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace stoker
