#include "stoker/runtime/origin_text.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const std::vector<std::string> kSources{"train", "test", "train:2"};

TEST(OriginText, IsReadBackAsItWasWritten) {
  for (const char* text :
       {"train:0", "test:18204@2", "train:3/17", "train:3@1/17@2/0", "train:3/1:17", "train:(3,test:4@1)", "test:(1,1)",
        "test:((1,train:2),train:2:3)", "train:(3/1,test:4)", "train:2:7", "test:5@3~2", "train:5~0.3",
        "train:3@4/17@2~1.1.4", "train:(3@1,test:4@2)~7"}) {
    const Result<OriginInEpoch> read = origin_from_text(text, kSources);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(origin_text(read->origin, kSources) + epoch_text(read->passes), text);
  }
}

TEST(OriginText, NamesTheEndOfAnInputAndLargePasses) {
  for (const char* text : {"train:end", "test:end@1", "train:3@1/end", "train:3/1:end", "train:(end,test:4)",
                           "train:2:end@3~1", "train:0@4611686018427387903~4611686018427387903"}) {
    const Result<OriginInEpoch> read = origin_from_text(text, kSources);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(origin_text(read->origin, kSources) + epoch_text(read->passes), text);
  }
  EXPECT_EQ(origin_from_text("train:end@1", kSources)->origin.position, kEndPosition);
}

TEST(OriginText, DistinguishesSources) {
  const auto read = [](const char* text) { return origin_from_text(text, kSources)->origin; };
  EXPECT_EQ(read("train:2:7").source, 2);
  EXPECT_EQ((*read("train:(3,test:4)").members)[1].source, 1);
  EXPECT_EQ(read("train:3/1:17").source, 1);
  EXPECT_EQ(outermost(read("test:3/1:17")).source, 1);
}

TEST(OriginText, NamesThePassesOfTheEpoch) {
  const OriginInEpoch read = origin_from_text("test:5@3~2.0", kSources).value();
  EXPECT_EQ(read.origin.pass, 3);
  EXPECT_EQ(read.passes, (EpochPasses{2, 0}));
  EXPECT_EQ(epoch_text({4, 4, 4}), "~4");
  EXPECT_EQ(epoch_text({}), "");
}

TEST(OriginText, RejectsTextThatIsNotAnOrigin) {
  for (const std::string& text :
       {std::string(), std::string("train"), std::string("train:"), std::string("train:1,"),
        "train:" + std::string(100'000, '('), std::string("train:1/1/"), std::string("train:1@3~"),
        std::string("train:1~2.~"), std::string("train:1.2"), std::string("train:1~9223372036854775807"),
        std::string("train:1~4611686018427387904"), std::string("train:1@4611686018427387904"),
        std::string("train:end:1"), std::string("train:3/end:1"), std::string("train:ends")})
    EXPECT_FALSE(origin_from_text(text, kSources).ok()) << text.substr(0, 20);
}

}  // namespace
}  // namespace stoker
