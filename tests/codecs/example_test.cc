#include "stoker/codecs/example.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

template <typename T>
Result<std::vector<T>> values_of(const std::string& example, Bytes name) {
  STOKER_TRY(const Feature feature, find_feature(example, name));
  STOKER_TRY(const int64_t count, count_values(feature));
  std::vector<T> values(static_cast<size_t>(count));
  STOKER_TRY(read_values(feature, std::span<T>(values)));
  return values;
}
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Texts = std::vector<Bytes>;

std::string field(char number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string entry(const std::string& name, const std::string& feature) {
  return field(1, field(1, name) + field(2, feature));
}
// An example with one feature "x", which has this message.
std::string example_of(const std::string& feature) { return field(1, entry("x", feature)); }

std::string complaint(const std::string& example) {
  const auto values = values_of<int64_t>(example, "x");
  return values ? "" : values.error().message();
}

TEST(Example, ReadsWhatWasWritten) {
  ExampleWriter writer;
  writer.set("label", Ints{7, -1, INT64_MAX, INT64_MIN, 0, 300});
  writer.set("box", Floats{0.5f, -2});
  writer.set("image", std::string("\xff\0\xd8", 3));
  writer.set("words", Texts{"a", "", "ccc"});
  const std::string example = writer.serialized();
  EXPECT_EQ(*values_of<int64_t>(example, "label"), (Ints{7, -1, INT64_MAX, INT64_MIN, 0, 300}));
  EXPECT_EQ(*values_of<float>(example, "box"), (Floats{0.5f, -2}));
  EXPECT_EQ(*values_of<Bytes>(example, "image"), (Texts{Bytes("\xff\0\xd8", 3)}));
  EXPECT_EQ(*values_of<Bytes>(example, "words"), (Texts{"a", "", "ccc"}));
}

// The encoding of protocol buffers.
TEST(Example, WritesTheExpectedBytes) {
  ExampleWriter writer;
  writer.set("a", Ints{1, 300});
  EXPECT_EQ(writer.serialized(), field(1, entry("a", field(3, field(1, "\x01\xac\x02")))));
}

TEST(Example, HasTheSameBytesAroundAStringThatIsNotCopied) {
  for (const std::string name : {"a", "image", "m", "z"})
    for (const size_t size : {0, 1, 100, 127, 128, 20'000}) {
      const std::string text(size, 'x');
      ExampleWriter without;
      without.set("label", Ints{7});
      without.set("path", "some/where.jpg");
      ExampleWriter with = without;
      with.set(name, text);
      const ExampleWriter::Around around = without.serialized_around(name, size);
      EXPECT_EQ(around.before + text + around.behind, with.serialized()) << name << " " << size;
    }
}

TEST(Example, DoesNotDependOnTheOrderOfItsFeatures) {
  ExampleWriter one, other;
  one.set("a", Ints{1});
  one.set("b", Floats{2});
  other.set("b", Floats{2});
  other.set("a", Ints{5});
  other.set("a", Ints{1});
  EXPECT_EQ(one.serialized(), other.serialized());
}

TEST(Example, DistinguishesAnEmptyListFromAMissingFeature) {
  ExampleWriter writer;
  writer.set("none", Ints{});
  const std::string example = writer.serialized();
  EXPECT_EQ(find_feature(example, "none")->kind, Feature::Kind::kInt64);
  EXPECT_EQ(count_values(*find_feature(example, "none")).value(), 0);
  EXPECT_EQ(find_feature(example, "other")->kind, Feature::Kind::kMissing);
  EXPECT_EQ(find_feature("", "other")->kind, Feature::Kind::kMissing);
  EXPECT_EQ(find_feature(example_of(""), "x")->kind, Feature::Kind::kMissing);
}

TEST(Example, ReadsPackedAndUnpackedNumbers) {
  EXPECT_EQ(*values_of<int64_t>(example_of(field(3, "\x08\x05\x08\x06")), "x"), (Ints{5, 6}));
  EXPECT_EQ(*values_of<int64_t>(example_of(field(3, "\x08\x05" + field(1, "\x06\x07"))), "x"), (Ints{5, 6, 7}));
  EXPECT_EQ(*values_of<float>(example_of(field(2, std::string("\x0d\0\0\x80\x3f", 5))), "x"), Floats{1});
}

// The fast path must return the same values as the general one, or leave the feature to it.
template <typename T>
void expect_twins(const std::string& message, size_t count, bool plain) {
  std::vector<T> fast(count), careful(count);
  const Result<Feature> feature = feature_in(message);
  const bool good =
      feature && feature->kind != Feature::Kind::kMissing && read_values(*feature, std::span(careful)).ok();
  EXPECT_EQ(read_if_plain(message, std::span(fast)), plain);
  EXPECT_TRUE(!plain || (good && fast == careful));
}

TEST(Example, ReadsPlainFeaturesOnTheFastPath) {
  const std::string packed = field(3, field(1, "\x05\xac\x02"));
  expect_twins<int64_t>(packed, 2, true);
  expect_twins<int64_t>(packed, 1, false);
  expect_twins<int64_t>(packed, 3, false);
  expect_twins<int64_t>(field(3, field(1, "\x05\xac")), 2, false);
  expect_twins<int64_t>(field(3, "\x08\x05"), 1, false);
  expect_twins<int64_t>(field(3, field(1, "\x05") + field(1, "\x06")), 2, false);
  expect_twins<int64_t>(packed + packed, 2, false);
  expect_twins<float>(field(2, field(1, std::string("\0\0\x80\x3f", 4))), 1, true);
  expect_twins<float>(field(2, field(1, std::string("\0\0\x80\x3f", 4))), 2, false);
  expect_twins<float>(field(2, field(1, "abc")), 1, false);
  Bytes text;
  EXPECT_TRUE(read_if_plain(field(1, field(1, "abc")), text));
  EXPECT_EQ(text.size(), 3u);
  EXPECT_FALSE(read_if_plain(field(1, field(1, "a") + field(1, "b")), text));
  EXPECT_FALSE(read_if_plain(field(1, ""), text));
  EXPECT_FALSE(read_if_plain(packed, text));
}

TEST(Example, UsesTheLastOfTwoFeaturesWithTheSameName) {
  const std::string one = entry("x", field(3, field(1, "\x01"))), two = entry("x", field(3, field(1, "\x02")));
  EXPECT_EQ(*values_of<int64_t>(field(1, one + two), "x"), Ints{2});
  EXPECT_EQ(*values_of<int64_t>(field(1, two) + field(1, one), "x"), Ints{1});
}

TEST(Example, SkipsUnknownFields) {
  const std::string unknown = std::string("\x20\x96\x01", 3) + field(5, "abc") + "\x35zzzz" + "\x39zzzzzzzz";
  const std::string list = field(3, field(1, "\x01") + unknown);
  const std::string example =
      unknown + field(1, unknown + field(1, field(1, "x") + unknown + field(2, list + unknown)));
  EXPECT_EQ(*values_of<int64_t>(example, "x"), Ints{1});
}

TEST(Example, RejectsDamageAndNamesTheByte) {
  EXPECT_EQ(complaint("garbage"),
            "the data is not a tf.train.Example: a field has an unknown wire type, at or after byte 1");
  EXPECT_EQ(complaint(std::string("\x0a\x05", 2)),
            "the data is not a tf.train.Example: the data ends inside a field, at or after byte 2");
  EXPECT_NE(complaint(std::string("\x08\x05", 2)).find("a field is a number, expected a message"), std::string::npos);
  EXPECT_NE(complaint(std::string("\0\0", 2)).find("a field has no number"), std::string::npos);
  EXPECT_NE(complaint(example_of(field(3, "") + field(2, ""))).find("two lists"), std::string::npos);
  EXPECT_NE(complaint("\x0a" + std::string(10, '\xff') + "\x01").find("more than 64 bits"), std::string::npos);
}

TEST(Example, RejectsDamagedLists) {
  EXPECT_EQ(complaint(example_of(field(3, field(1, "\x80")))),
            "the list of values cannot be read: the data ends inside a field");
  EXPECT_NE(complaint(example_of(field(3, field(1, std::string(11, '\xff') + "\x01")))).find("more than 64 bits"),
            std::string::npos);
  EXPECT_EQ(complaint(example_of(field(3, std::string("\x0d\0\0\0\0", 5)))),
            "the list of values cannot be read: a value has a different type than its list");
  const auto floats = values_of<float>(example_of(field(2, field(1, "abc"))), "x");
  EXPECT_EQ(floats.error().message(), "the list of values cannot be read: the data ends inside a field");
}

TEST(Example, TruncatedAnywhereIsAnErrorOrHasFewerFeatures) {
  ExampleWriter writer;
  writer.set("x", Ints{1, 2, 300});
  writer.set("y", Texts{"abc"});
  const std::string example = writer.serialized();
  for (size_t size = 1; size < example.size(); ++size)
    EXPECT_FALSE(values_of<int64_t>(example.substr(0, size), "x").ok()) << size;
}

TEST(Example, FindsAllNamesInOnePass) {
  const std::string a = field(3, field(1, "\x01")), b = field(3, ""), later = field(3, field(1, "\x02"));
  const std::string example =
      field(1, entry("b", b) + entry("other", "garbage that is not read") + entry("a", a) + entry("a", later));
  const std::vector<std::string> names = {"gone", "b", "a"};
  std::vector<Bytes> found(3, "from before");
  ASSERT_TRUE(FeatureNames(names).find(example, ExamplePart::kFeatures, found).ok());
  EXPECT_EQ(found, (Texts{"", b, later}));
  EXPECT_EQ(found[0].data(), nullptr);
}

TEST(SequenceExample, ReadsWhatWasWritten) {
  SequenceExampleWriter writer;
  writer.context.set("length", Ints{2});
  writer.add_step("x", Ints{1, 2});
  writer.add_step("x", Ints{});
  writer.add_list("none");
  const std::string example = writer.serialized();
  EXPECT_EQ(*values_of<int64_t>(example, "length"), Ints{2});
  const std::vector<std::string> names = {"x", "none", "gone"};
  std::vector<Bytes> found(3);
  ASSERT_TRUE(FeatureNames(names).find(example, ExamplePart::kLists, found).ok());
  EXPECT_EQ(*count_steps(found[0]), 2);
  EXPECT_EQ(*count_steps(found[1]), 0);
  EXPECT_NE(found[1].data(), nullptr);
  EXPECT_EQ(found[2].data(), nullptr);
  StepWalk walk(found[0]);
  ASSERT_TRUE(*walk.next());
  EXPECT_EQ(*count_values(*feature_in(walk.message())), 2);
  ASSERT_TRUE(*walk.next());
  EXPECT_EQ(feature_in(walk.message())->kind, Feature::Kind::kInt64);
  EXPECT_FALSE(*walk.next());
}

// The encoding of protocol buffers.
TEST(SequenceExample, WritesTheExpectedBytes) {
  SequenceExampleWriter writer;
  EXPECT_EQ(writer.serialized(), "");
  writer.add_step("a", Ints{1});
  EXPECT_EQ(writer.serialized(), field(2, entry("a", field(1, field(3, field(1, "\x01"))))));
}

TEST(SequenceExample, RejectsDamagedLists) {
  EXPECT_EQ(count_steps("\x0a\x05").error().message(),
            "the list of steps cannot be read: the data ends inside a field");
  EXPECT_EQ(feature_in("\x0a\x05").error().message(), "a feature cannot be read: the data ends inside a field");
}

}  // namespace
}  // namespace stoker
