#include "stoker/sources/text_lines.h"

#include <gtest/gtest.h>

#include "support/support.h"
#include "support/temp_dir.h"
#include "support/zstd.h"

namespace stoker {
namespace {

// Lines with both kinds of line ends, an empty one, and one without an end. Written once: the laws build the example
// again while other loaders read the files.
TextLines example(const std::string& compression_type) {
  static const TempDir dir;
  static const std::string text = [] {
    std::string lines;
    for (int i = 0; i < 30; ++i) lines += "line " + std::to_string(i) + (i % 3 == 0 ? "\r\n" : "\n");
    return lines;
  }();
  static const std::vector<std::string> plain = {dir.write("a.txt", text), dir.write("b.txt", "one\n\nlast")};
  static const std::vector<std::string> compressed = {dir.write("lines.zst", zstd_compressed(text))};
  return {.filenames = compression_type.empty() ? plain : compressed, .compression_type = compression_type};
}

DATASET_EXAMPLE(Dataset::text_lines(example("")));
DATASET_EXAMPLE(Dataset::text_lines(example("ZSTD")));

TEST(TextLines, YieldsTheLinesOfSeveralFilesInOrder) {
  TempDir dir;
  const std::string a = dir.write("a.txt", "one\r\ntwo\n");
  const std::string b = dir.write("b.txt", "three");
  std::vector<std::string> lines;
  for (const Element& e : elements(Dataset::text_lines({.filenames = {a, b}}))) lines.emplace_back(e.leaves[0].bytes());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three"}));
}

TEST(TextLines, ReadsZstdFiles) {
  TempDir dir;
  const std::string path = dir.write("a.zst", zstd_compressed("one\n") + zstd_compressed("two\n"));
  EXPECT_EQ(text_of(Dataset::text_lines({.filenames = {path}, .compression_type = "ZSTD"})),
            (std::vector<std::string>{"string[] 'one';", "string[] 'two';"}));
}

TEST(TextLines, ContinuesWithTheNextFileAfterAMissingOne) {
  TempDir dir;
  const std::string a = dir.write("a.txt", "one\n");
  Loader loader(Dataset::text_lines({.filenames = {dir.path().string() + "/gone", a}}));
  const auto missing = loader.next();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
  EXPECT_EQ(missing.error().place().path, dir.path().string() + "/gone");
  EXPECT_EQ(text_of_rest(loader), (std::vector<std::string>{"string[] 'one';"}));
}

TEST(TextLines, ContinuesFromACheckpoint) {
  TempDir dir;
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::to_string(i) + "\n";
  const Dataset ds = Dataset::text_lines({.filenames = {dir.write("a", text), dir.write("b", text)}});
  Loader first(ds);
  for (int i = 0; i < 450; ++i) ASSERT_TRUE(first.next().ok());
  const std::string saved = *first.save();
  Loader second(ds);
  ASSERT_TRUE(second.restore(saved).ok());
  EXPECT_EQ(text_of_rest(second), text_of_rest(first));
}

}  // namespace
}  // namespace stoker
