#include "stoker/io/glob.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/no_rights.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(Matches, MatchesOrdinaryCharactersLiterally) {
  EXPECT_TRUE(matches("train.txt", "train.txt"));
  EXPECT_FALSE(matches("train.txt", "train.txt2"));
  EXPECT_FALSE(matches("train.txt", "Train.txt"));
  EXPECT_FALSE(matches("a.c", "abc"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Matches, MatchesAnyCharactersWithAStar) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", ".hidden"));
  EXPECT_TRUE(matches("*.txt", ".txt"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_TRUE(matches("**", "abc"));
  EXPECT_FALSE(matches("a*b", "abc"));
}

TEST(Matches, MatchesOneCharacterWithAQuestionMark) {
  EXPECT_TRUE(matches("?.txt", "a.txt"));
  EXPECT_FALSE(matches("?.txt", ".txt"));
  EXPECT_FALSE(matches("?.txt", "ab.txt"));
  EXPECT_TRUE(matches("?.txt", "é.txt"));
  EXPECT_TRUE(matches("???", "\xff\xc3\x80x"));
  EXPECT_TRUE(matches("?", "\xc3"));
}

TEST(Matches, MatchesOneOfTheCharactersInBrackets) {
  EXPECT_TRUE(matches("[abc]", "b"));
  EXPECT_FALSE(matches("[abc]", "d"));
  EXPECT_TRUE(matches("part-[0-9]", "part-7"));
  EXPECT_FALSE(matches("part-[0-9]", "part-x"));
  EXPECT_TRUE(matches("[!0-9]", "x"));
  EXPECT_TRUE(matches("[^0-9]", "x"));
  EXPECT_FALSE(matches("[!0-9]", "5"));
  EXPECT_TRUE(matches("[]a]", "]"));
  EXPECT_TRUE(matches("[a-]", "-"));
  EXPECT_TRUE(matches("[\\]]", "]"));
  EXPECT_TRUE(matches("[à-ü]", "é"));
  EXPECT_FALSE(matches("[a]", ""));
}

TEST(Matches, MatchesAnUnclosedBracketLiterally) {
  EXPECT_TRUE(matches("[ab", "[ab"));
  EXPECT_FALSE(matches("[ab", "a"));
  EXPECT_TRUE(matches("[", "["));
}

TEST(Matches, MatchesACharacterAfterABackslashLiterally) {
  EXPECT_TRUE(matches("a\\*", "a*"));
  EXPECT_FALSE(matches("a\\*", "ab"));
  EXPECT_TRUE(matches("\\\\", "\\"));
  EXPECT_TRUE(matches("a\\", "a\\"));
}

TEST(Matches, IsFastWithManyStars) {
  const std::string name(2000, 'a');
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

class ListFiles : public testing::Test {
 protected:
  Names names(const std::vector<std::string>& patterns) const {
    Names below;
    for (const std::string& pattern : patterns) below.push_back(dir_.at(pattern));
    Names found = list_files(below).value();
    for (std::string& path : found) path.erase(0, dir_.at("").size());
    return found;
  }
  Error error(const std::string& pattern) const { return list_files({dir_.at(pattern)}).error(); }

  TempDir dir_;
};

TEST_F(ListFiles, SortsByBytes) {
  for (const char* name : {"b.txt", "a.txt", "B.txt", "a.bin", "é.txt", "10.txt", "9.txt"}) dir_.write(name, "");
  EXPECT_EQ(names({"*.txt"}), (Names{"10.txt", "9.txt", "B.txt", "a.txt", "b.txt", "é.txt"}));
}

TEST_F(ListFiles, MatchesOneComponentAtATime) {
  for (const char* name : {"x/1/a.txt", "x/2/a.txt", "x/2/b.txt", "y/1/a.txt", "x/a.txt", "x/2/deep/a.txt"})
    dir_.write(name, "");
  EXPECT_EQ(names({"*/*/a.txt"}), (Names{"x/1/a.txt", "x/2/a.txt", "y/1/a.txt"}));
  EXPECT_EQ(names({"x/[12]/*.txt"}), (Names{"x/1/a.txt", "x/2/a.txt", "x/2/b.txt"}));
  EXPECT_EQ(names({"x/2/b.txt"}), (Names{"x/2/b.txt"}));
  EXPECT_EQ(names({"x/2/*"}), (Names{"x/2/a.txt", "x/2/b.txt", "x/2/deep"}));
}

TEST_F(ListFiles, ReturnsAPathTwiceIfTwoPatternsMatchIt) {
  for (const char* name : {"a", "b"}) dir_.write(name, "");
  EXPECT_EQ(names({"*", "a"}), (Names{"a", "a", "b"}));
}

TEST_F(ListFiles, RequiresOnlyOnePatternToMatch) {
  dir_.write("a", "");
  EXPECT_EQ(names({"a", "missing*"}), (Names{"a"}));
}

TEST_F(ListFiles, PrependsADotToPathsInTheWorkingDirectory) {
  dir_.write("a.txt", "");
  const fs::path before = fs::current_path();
  fs::current_path(dir_.path());
  const Names globbed = list_files({"*.txt"}).value();
  const Names plain = list_files({"a.txt"}).value();
  fs::current_path(before);
  EXPECT_EQ(globbed, (Names{"./a.txt"}));
  EXPECT_EQ(plain, (Names{"a.txt"}));
}

TEST_F(ListFiles, AcceptsNamesThatAreNotUtf8) {
  dir_.write("\xff\xfe.txt", "");
  EXPECT_EQ(names({"*.txt"}), (Names{"\xff\xfe.txt"}));
  EXPECT_EQ(names({"\xff?.txt"}), (Names{"\xff\xfe.txt"}));
}

TEST_F(ListFiles, ListsBrokenLinks) {
  fs::create_symlink("nowhere", dir_.path() / "broken");
  EXPECT_EQ(names({"*"}), (Names{"broken"}));
  EXPECT_EQ(names({"broken"}), (Names{"broken"}));
}

TEST_F(ListFiles, FollowsLinksToDirectoriesAndSurvivesLoops) {
  dir_.write("data/a.txt", "");
  fs::create_directory_symlink("data", dir_.path() / "link");
  fs::create_directory_symlink(".", dir_.path() / "self");
  fs::create_symlink("loop2", dir_.path() / "loop1");
  fs::create_symlink("loop1", dir_.path() / "loop2");
  EXPECT_EQ(names({"*/a.txt"}), (Names{"data/a.txt", "link/a.txt"}));
  EXPECT_EQ(names({"self/self/data/*"}), (Names{"self/self/data/a.txt"}));
  EXPECT_EQ(names({"loop*"}), (Names{"loop1", "loop2"}));
}

TEST_F(ListFiles, ReportsThatNothingMatchesAndWhy) {
  dir_.write("data/a.txt", "");
  const Error missing = error("dta/*.txt");
  EXPECT_EQ(missing.code(), Code::kInvalidArgument);
  EXPECT_EQ(missing.message(),
            "no file matches '" + dir_.at("dta/*.txt") + "': the directory '" + dir_.at("dta") + "' does not exist");
  const Error other = error("data/*.TXT");
  EXPECT_EQ(other.code(), Code::kInvalidArgument);
  EXPECT_EQ(other.message().find("no file matches '" + dir_.at("data/*.TXT") + "': the directory '" + dir_.at("data") +
                                 "' exists"),
            0u);
  EXPECT_EQ(error("data/b.txt").code(), Code::kInvalidArgument);
  EXPECT_EQ(list_files({""}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(list_files({}).error().message(), "expected at least one pattern, got an empty list");
}

TEST_F(ListFiles, NamesADirectoryThatItCannotList) {
  dir_.write("open/a.txt", "");
  dir_.write("shut/a.txt", "");
  fs::permissions(dir_.path(), fs::perms::all);
  fs::permissions(dir_.path() / "shut", fs::perms::none);
  const NoRights nobody;
  const Error denied = error("*/*.txt");
  EXPECT_EQ(denied.code(), Code::kPermissionDenied);
  EXPECT_EQ(denied.message(), "cannot list the directory " + dir_.at("shut") + ": Permission denied");
  EXPECT_EQ(denied.place().path, dir_.at("shut"));
  EXPECT_EQ(names({"open/*"}), (Names{"open/a.txt"}));
}

}  // namespace
}  // namespace stoker
