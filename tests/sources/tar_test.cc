#include "stoker/sources/tar.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/support.h"
#include "support/tars.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Texts = std::vector<std::string>;

// Written once: the laws build the example again while other loaders read the files.
Tar example(const std::string& compression = {}) {
  static const TempDir dir;
  static const std::string a = tar_file("a/1.jpg", "one") + tar_file("a/1.cls", "1") + tar_file("a/2.jpg", "two") +
                               tar_file("a/2.cls", "2") + tar_end();
  static const std::string b =
      tar_file("b/3.cls", "3") + tar_file("b/3.jpg", "three") + tar_file("b/4.jpg", "four") + tar_end();
  static const std::vector<std::string> plain = {dir.write("a.tar", a), dir.write("b.tar", b)};
  static const std::vector<std::string> packed = {dir.write("a.tgz", gzipped(a)), dir.write("b.tgz", gzipped(b))};
  return {.filenames = compression.empty() ? plain : packed, .compression_type = compression};
}

DATASET_EXAMPLE(Dataset::tar(example()));
DATASET_EXAMPLE(Dataset::tar(example("GZIP")));

// Returns "key: part, part" for each sample, in the order of names; for an error, its message.
Texts samples(const Dataset& dataset) {
  Texts found;
  Loader loader(dataset);
  while (true) {
    const auto next = loader.next();
    if (next && !*next) return found;
    if (!next) {
      found.push_back(next.error().message());
      continue;
    }
    std::string words = std::string((**next)["__key__"].bytes()) + ":";
    for (const auto& [name, _] : (*next)->nest->fields())
      if (!name.starts_with("__")) words += " " + name + "=" + std::string((**next)[name].bytes());
    found.push_back(words);
  }
}
Texts samples(const TempDir& dir, const std::string& bytes, Texts components = {}) {
  return samples(Dataset::tar({.filenames = {dir.write("x.tar", bytes)}, .components = std::move(components)}));
}

TEST(TarSource, YieldsADictForTheMembersOfEachKey) {
  const Tar tar = example();
  const Texts expected = {"a/1: cls=1 jpg=one", "a/2: cls=2 jpg=two", "b/3: cls=3 jpg=three",
                          tar.filenames[1] + ": the sample b/4 has no cls"};
  EXPECT_EQ(samples(Dataset::tar(tar)), expected);
  const Texts zipped = samples(Dataset::tar(example("GZIP")));
  EXPECT_EQ(Texts(zipped.begin(), zipped.begin() + 3), Texts(expected.begin(), expected.begin() + 3));
  EXPECT_EQ(zipped[3], example("GZIP").filenames[1] + ": the sample b/4 has no cls");
  EXPECT_EQ((*Dataset::tar(tar).at(0))["__url__"].bytes(), tar.filenames[0]);
}

TEST(TarSource, IsAListIfTheFilesAreNotCompressed) {
  const Dataset ds = Dataset::tar(example());
  EXPECT_EQ(*ds.cardinality(), 4);
  const Element third = *ds.at(2);
  EXPECT_EQ(third["jpg"].bytes(), "three");
  EXPECT_EQ(third["jpg"].source()->offset, 1536);
  EXPECT_EQ(*Dataset::tar(example("GZIP")).cardinality(), kUnknown);
}

TEST(TarSource, YieldsTheRequestedComponents) {
  Tar tar = example();
  tar.components = {"jpg"};
  EXPECT_EQ(samples(Dataset::tar(tar)), (Texts{"a/1: jpg=one", "a/2: jpg=two", "b/3: jpg=three", "b/4: jpg=four"}));
}

TEST(TarSource, SplitsNamesLikeWebDataset) {
  const auto words = [](std::string_view name) {
    const auto found = tar_name_of(name);
    return found ? found->key + " " + found->extension : "";
  };
  EXPECT_EQ(words("a.jpg"), "a jpg");
  EXPECT_EQ(words("./v1.2/a.Seg.PNG"), "v1.2/a seg.png");
  EXPECT_EQ(words("a/b."), "a/b ");
  for (const char* none :
       {"a", "a/b", ".DS_Store", "a/._b.jpg", "__MACOSX/a.jpg", "x/__MACOSX/a.jpg", "__meta.x__", "v1.2/a"})
    EXPECT_EQ(words(none), "") << none;
}

TEST(TarSource, ReadsEveryDialectOfLongNames) {
  const TempDir dir;
  const std::string deep = std::string(120, 'd') + "/" + std::string(120, 'k');
  EXPECT_EQ(samples(dir, tar_gnu_file(deep + ".txt", "gnu") + tar_pax_file(deep + "2.txt", "pax") +
                             tar_pax_file("f\xc3\xbcr.txt", "name") + tar_end()),
            (Texts{deep + ": txt=gnu", deep + "2: txt=pax", "f\xc3\xbcr: txt=name"}));
}

TEST(TarSource, SkipsMembersThatAreNotPartOfASample) {
  const TempDir dir;
  EXPECT_EQ(samples(dir, tar_header("./", 0, '5') + tar_file("./a.txt", "x") + tar_file("./._a.txt", "resource") +
                             tar_header("link.txt", 0, '2', "a.txt") + tar_file("README", "read") + tar_end()),
            Texts{"a: txt=x"});
}

TEST(TarSource, JoinsMembersOfAKeyThatAreNotAdjacent) {
  const TempDir dir;
  EXPECT_EQ(samples(dir, tar_file("1.a", "1a") + tar_file("2.a", "2a") + tar_file("1.b", "1b") + tar_file("2.b", "2b")),
            (Texts{"1: a=1a b=1b", "2: a=2a b=2b"}));
}

TEST(TarSource, ReadsConcatenatedArchivesAndArchivesWithoutAnEndMarker) {
  const TempDir dir;
  EXPECT_EQ(samples(dir, tar_file("1.a", "x") + tar_end() + std::string(8192, '\0') + tar_file("2.a", "y")),
            (Texts{"1: a=x", "2: a=y"}));
  EXPECT_EQ(samples(dir, ""), Texts{"tar: the files contain no samples; list the extensions in `components`"});
  EXPECT_EQ(samples(dir, "", {"a"}), Texts{});
  EXPECT_EQ(samples(dir, tar_end(), {"a"}), Texts{});
}

TEST(TarSource, ResolvesHardLinks) {
  const TempDir dir;
  EXPECT_EQ(samples(dir, tar_file("./1.a", "same") + tar_link("2.a", "1.a") + tar_link("3.a", "0.a")),
            (Texts{"1: a=same", "2: a=same",
                   dir.at("x.tar") + ": the member 3.a is a link to 0.a, expected a link to an earlier member"}));
}

TEST(TarSource, ReturnsAnErrorForASampleWithADuplicateMember) {
  const TempDir dir;
  EXPECT_EQ(samples(dir, tar_file("1.a", "x") + tar_file("2.a", "y") + tar_file("1.a", "z")),
            (Texts{dir.at("x.tar") + ": the sample 1 has a twice, at bytes 512 and 2560", "2: a=y"}));
}

TEST(TarSource, ReturnsOneErrorForATruncatedFileWithTheMemberAndItsOffset) {
  const TempDir dir;
  const std::string whole =
      tar_file("1.a", "x") + tar_file("1.b", "y") + tar_file("2.a", "z") + tar_file("2.b", std::string(2000, 'b'));
  const std::string cut = dir.write("cut.tar", whole.substr(0, whole.size() - 1000));
  const std::string next = dir.write("next.tar", tar_file("3.a", "p") + tar_file("3.b", "q"));
  const Dataset ds = Dataset::tar({.filenames = {cut, dir.at("gone.tar"), next}});
  EXPECT_EQ(samples(ds),
            (Texts{"1: a=x b=y", cut + " ends at byte 4632, inside the member 2.b of 2000 bytes at byte 3584",
                   "cannot open " + dir.at("gone.tar") + ": No such file or directory", "3: a=p b=q"}));
  Loader loader(ds);
  (void)loader.next();
  EXPECT_EQ(loader.next().error().place().offset, 3584);
}

TEST(TarSource, NamesADamagedHeader) {
  const TempDir dir;
  std::string bytes = tar_file("1.a", "x") + tar_file("2.a", "y") + tar_file("3.a", "z");
  bytes[1024 + 150] = '7';  // in the checksum of the second member
  const Texts found = samples(dir, bytes);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "1: a=x");
  EXPECT_TRUE(found[1].starts_with(dir.at("x.tar") + ": the tar is damaged at byte ")) << found[1];
  const std::string text = dir.write("text.tar", std::string(2000, 'x'));
  EXPECT_TRUE(error_of(Dataset::tar({.filenames = {text}})).starts_with("tar: " + text + ": the tar is damaged"));
}

TEST(TarSource, ReturnsOneErrorForATruncatedCompressedFileAndContinuesWithTheNext) {
  const TempDir dir;
  const std::string bytes = gzipped(tar_file("1.a", "x") + tar_file("2.a", "y") + tar_end());
  const std::string cut = dir.write("cut.tgz", bytes.substr(0, bytes.size() - 12));
  const std::string good = dir.write("good.tgz", gzipped(tar_file("3.a", "z") + tar_end()));
  const Texts found = samples(Dataset::tar({.filenames = {cut, good}, .compression_type = "GZIP"}));
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found.back(), "3: a=z");
  EXPECT_NE(found[found.size() - 2].find("cut.tgz ends too early"), std::string::npos) << found[found.size() - 2];
}

TEST(TarSource, RejectsInvalidComponents) {
  const std::string path = example().filenames[0];
  EXPECT_EQ(error_of(Dataset::tar({.filenames = {path}, .components = {"jpg", "jpg"}})),
            "tar: components contains 'jpg', expected distinct extensions such as 'jpg'");
  EXPECT_EQ(error_of(Dataset::tar({.filenames = {path}, .components = {"__key__"}})),
            "tar: components contains '__key__', expected distinct extensions such as 'jpg'");
  EXPECT_EQ(error_of(Dataset::tar({})), "tar: expected at least one file, got an empty list");
}

}  // namespace
}  // namespace stoker
