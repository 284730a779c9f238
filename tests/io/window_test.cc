#include "stoker/io/window.h"

#include <gtest/gtest.h>

#include "support/streams.h"

namespace stoker {
namespace {

TEST(ByteWindow, HoldsTheRequestedBytesForEveryReadSize) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += static_cast<char>('a' + i % 26);
  for (const size_t piece : {1, 7, 100000}) {
    ByteWindow window(faulty_stream({.bytes = text, .piece = piece}), 5);
    std::string all;
    for (size_t step = 1; !(window.ended() && window.bytes().empty()); step = step * 3 % 1000 + 1) {
      ASSERT_TRUE(window.fill(step).ok());
      EXPECT_TRUE(window.ended() || window.bytes().size() >= step);
      const size_t taken = std::min(step, window.bytes().size());
      all += window.bytes().substr(0, taken);
      window.take(taken);
      EXPECT_EQ(window.offset(), 5 + static_cast<int64_t>(all.size()));
    }
    EXPECT_EQ(all, text);
  }
}

TEST(ByteWindow, ReturnsAnErrorOnceAndKeepsTheBytesBeforeIt) {
  ByteWindow window(faulty_stream({.bytes = "ab", .fault = Error::corrupt("bad disk")}));
  EXPECT_FALSE(window.fill(3).ok());
  EXPECT_TRUE(window.ended());
  EXPECT_EQ(window.bytes(), "ab");
  EXPECT_TRUE(window.fill(3).ok());
}

TEST(ByteWindow, SkipsBytesWithoutHoldingThem) {
  for (const size_t piece : {1, 3, 100}) {
    ByteWindow window(faulty_stream({.bytes = "abcdefghij", .piece = piece}));
    ASSERT_TRUE(window.fill(2).ok());
    window.take(1);
    ASSERT_TRUE(window.pass(6).ok());
    EXPECT_EQ(window.offset(), 7);
    ASSERT_TRUE(window.fill(1).ok());
    EXPECT_EQ(window.bytes()[0], 'h');
    ASSERT_TRUE(window.pass(100).ok());
    EXPECT_EQ(window.offset(), 10);
    EXPECT_TRUE(window.ended());
  }
}

}  // namespace
}  // namespace stoker
