#include "stoker/ops/read_file.h"

#include <filesystem>

#include "stoker/ops/decode.h"
#include "support/eval.h"
#include "support/jpegs.h"
#include "support/no_rights.h"
#include "support/op_example.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

const Function kRead = [](Value path) { return io::read_file(path); };

Array path_of(const std::string& path) { return Array::of_bytes(path); }

// Writes `count` images with files of different sizes. The second file is truncated.
std::vector<std::string> images_in(const TempDir& folder, int count) {
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) {
    const std::string bytes = make_jpeg({.height = 20, .width = 30, .quality = 30 + i});
    paths.push_back(folder.write("p" + std::to_string(i) + ".jpg", i == 1 ? bytes.substr(0, 500) : bytes));
  }
  return paths;
}

Dataset slices(const std::vector<std::string>& paths) {
  return Dataset::from_tensor_slices({.tensors = Element(Array::from(paths))});
}

Dataset decoded(const std::vector<std::string>& paths) {
  return slices(paths).map({[](Value path) { return tuple(io::decode_jpeg(io::read_file(path)), path); }});
}

Arrays path_rows(int64_t row) {
  static const TempDir folder;
  const std::string name = std::to_string(row);
  if (!std::filesystem::exists(folder.at(name))) folder.write(name, "file " + name);
  return {path_of(folder.at(name))};
}

OP_EXAMPLE(ReadFile{}, path_rows);

TEST(ReadFile, ReturnsTheBytesOfAFile) {
  const TempDir folder;
  const std::string bytes("with\0zeros\xff", 11);
  EXPECT_EQ(*eval(kRead, {path_of(folder.write("a", bytes))}), Array::of_bytes(bytes));
  EXPECT_EQ(*eval(kRead, {path_of(folder.write("empty", ""))}), Array::of_bytes(""));
  const std::string large(100'000, 'x');
  EXPECT_EQ(*eval(kRead, {path_of(folder.write("large", large))}), Array::of_bytes(large));
}

TEST(ReadFile, ReadsFilesWithoutASize) { EXPECT_GT(eval(kRead, {path_of("/proc/self/limits")})->bytes().size(), 100u); }

TEST(ReadFile, ReportsWhyAFileCannotBeRead) {
  const TempDir folder;
  const auto error_for = [](const std::string& path) { return eval(kRead, {path_of(path)}).error(); };
  EXPECT_EQ(error_for(folder.at("none")).code(), Code::kNotFound);
  EXPECT_EQ(error_for(folder.at("none")).place().path, folder.at("none"));
  EXPECT_EQ(error_for(folder.path().string()).code(), Code::kFailedPrecondition);
  EXPECT_EQ(complaint(kRead, {path_of(folder.path().string())}),
            folder.path().string() + " is a directory, expected a file");
  EXPECT_NE(complaint(kRead, {path_of("")}), "");
  const std::string locked = folder.write("locked", "bytes");
  const NoRights nobody;
  EXPECT_EQ(error_for(locked).code(), Code::kPermissionDenied);
  EXPECT_EQ(error_for(locked).place().path, locked);
}

TEST(ReadFile, AcceptsOnlyOnePath) {
  EXPECT_EQ(complaint(kRead, {Array::of(1)}), "the file path must be a string, got int32");
  EXPECT_EQ(complaint(kRead, {array<std::string>({"a", "b"})}),
            "the file path must be one string, got strings of shape [2]");
}

TEST(ReadFile, LetsErrorsOfLaterOperationsNameTheFile) {
  const TempDir folder;
  const std::vector<std::string> paths = images_in(folder, 4);
  Loader loader(decoded(paths));
  int good = 0;
  for (int i = 0; i < 4; ++i) {
    Result<std::optional<Element>> next = loader.next();
    good += next.ok();
    if (next) continue;
    EXPECT_EQ(i, 1);
    EXPECT_EQ(next.error().code(), Code::kDataLoss);
    EXPECT_EQ(next.error().place().path, paths[1]);
    EXPECT_EQ(next.error().place().stage, "map, decode_jpeg");
  }
  EXPECT_EQ(good, 3);
}

TEST(ReadFile, LetsErrorsOfTheNextMapNameTheFile) {
  const TempDir folder;
  const std::vector<std::string> paths = images_in(folder, 2);
  Loader loader(slices(paths).map({[](Value path) { return io::read_file(path); }}).map({[](Value bytes) {
    return io::decode_jpeg(bytes);
  }}));
  EXPECT_TRUE(loader.next().ok());
  EXPECT_EQ(loader.next().error().place().path, paths[1]);
}

TEST(ReadFile, NamesAMissingFile) {
  Loader loader(decoded({"/nowhere/a.jpg"}));
  const Error error = loader.next().error();
  EXPECT_EQ(error.code(), Code::kNotFound);
  EXPECT_EQ(error.place().path, "/nowhere/a.jpg");
  EXPECT_EQ(error.place().stage, "map, read_file");
}

TEST(ReadFile, ReturnsTheSameForAnyNumberOfWorkers) {
  const TempDir folder;
  const std::vector<std::string> paths = images_in(folder, 40);
  const Dataset dataset = decoded(paths).ignore_errors({}).batch({.batch_size = 4});
  std::vector<std::vector<std::string>> seen;
  for (const int workers : {0, 1, 3}) {
    WithResources resources({.workers = workers});
    seen.push_back(text_of(dataset));
  }
  EXPECT_EQ(seen[0].size(), 10u);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(ReadFile, RunsOnWaitingThreadsWhileWorkersDecode) {
  const std::string words = decoded({"a"}).explain().value();
  EXPECT_NE(words.find("map (x, read_file(x)) [native, waits]"), std::string::npos) << words;
  EXPECT_NE(words.find("map (decode_jpeg(y), x) [native]"), std::string::npos) << words;
}

TEST(ReadFile, RunsOnWaitingThreadsInAFilter) {
  const TempDir folder;
  const std::vector<std::string> paths = {folder.write("a", "1"), folder.write("b", "2"), folder.write("c", "1")};
  const Dataset ones = slices(paths).filter({[](Value path) { return io::read_file(path) == Value("1"); }});
  EXPECT_EQ(text_of(ones).size(), 2u);
  EXPECT_NE(ones.explain()->find("[native, waits]"), std::string::npos);
}

}  // namespace
}  // namespace stoker
