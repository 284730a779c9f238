#include "stoker/core/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace stoker {
namespace {

// Checkpoints store these hashes, so they must never change.
TEST(Hash, NeverChanges) {
  EXPECT_EQ(hex_of(hash_of("")), "5692161d100b05e5");
  EXPECT_EQ(hex_of(hash_of("stoker")), "acb54769967f46fb");
}

TEST(Hash, DependsOnEveryByteAndTheLength) {
  std::set<uint64_t> seen{hash_of(std::string(100, 'a')), hash_of(std::string(101, 'a')),
                          hash_of(std::string(99, 'a'))};
  for (size_t i = 0; i < 100; ++i) {
    std::string text(100, 'a');
    text[i] = 'b';
    seen.insert(hash_of(text));
  }
  seen.insert(hash_of(std::string_view("\0", 1)));
  seen.insert(hash_of(""));
  EXPECT_EQ(seen.size(), 105u);
}

TEST(Hash, ShortensOnlyLongTexts) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc… " + hex_of(hash_of("abcd")));
}

}  // namespace
}  // namespace stoker
