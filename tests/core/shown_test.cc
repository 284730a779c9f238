#include "stoker/core/shown.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Shown, IsOneShortLineOfPrintableCharacters) {
  EXPECT_EQ(shown("a b\n\xff\x7f"), "a b\\x0a\\xff\\x7f");
  EXPECT_EQ(shown(std::string(40, 'x')), std::string(40, 'x'));
  EXPECT_EQ(shown(std::string(41, 'x')), std::string(40, 'x') + "…");
}

}  // namespace
}  // namespace stoker
