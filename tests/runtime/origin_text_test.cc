#include "stoker/runtime/origin_text.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const std::vector<std::string> kSources{"train", "test", "train:2"};

TEST(OriginText, IsReadBackAsItWasWritten) {
  for (const char* text :
       {"train:0", "test:18204@2", "train:3/17", "train:3@1/17@2/0", "train:3/1:17", "train:(3,test:4@1)", "test:(1,1)",
        "test:((1,train:2),train:2:3)", "train:(3/1,test:4)", "train:2:7"}) {
    const Result<Origin> origin = origin_from_text(text, kSources);
    ASSERT_TRUE(origin.ok()) << text;
    EXPECT_EQ(origin_text(*origin, kSources), text);
  }
}

TEST(OriginText, TellsSourcesApart) {
  EXPECT_EQ(origin_from_text("train:2:7", kSources)->source, 2);
  EXPECT_EQ((*origin_from_text("train:(3,test:4)", kSources)->members)[1].source, 1);
  EXPECT_EQ(origin_from_text("train:3/1:17", kSources)->source, 1);
  EXPECT_EQ(outermost(*origin_from_text("test:3/1:17", kSources)).source, 1);
}

TEST(OriginText, RefusesWhatIsNoOrigin) {
  for (const std::string& text : {std::string(), std::string("train"), std::string("train:"), std::string("train:1,"),
                                  "train:" + std::string(100'000, '('), std::string("train:1/1/")})
    EXPECT_FALSE(origin_from_text(text, kSources).ok()) << text.substr(0, 20);
}

}  // namespace
}  // namespace stoker
