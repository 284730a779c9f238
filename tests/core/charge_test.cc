#include "stoker/core/charge.h"

#include <gtest/gtest.h>

#include "support/limited_account.h"

namespace stoker {
namespace {

TEST(Charge, ReturnsItsBytesToItsAccount) {
  const auto account = std::make_shared<LimitedAccount>(100);
  {
    Charge charge(account);
    EXPECT_TRUE(charge.grow(60));
    EXPECT_FALSE(charge.grow(60));
    EXPECT_EQ(charge.bytes(), 60);
    const Charge moved(std::move(charge));
    EXPECT_EQ(account->held(), 60);
  }
  EXPECT_EQ(account->held(), 0);
}

TEST(Charge, CountsNothingWithoutAnAccount) {
  Charge charge;
  EXPECT_TRUE(charge.grow(int64_t{1} << 60));
}

TEST(Charge, NamesTheMemoryThatWasRefused) {
  Charge charge(std::make_shared<LimitedAccount>(10));
  const Result<void> refused = charge.grow_for("a canvas", 11);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "the memory budget has no space for 11 bytes now, for a canvas");
}

TEST(ChargedVector, ChargesTheMemoryOfManyItems) {
  const auto account = std::make_shared<LimitedAccount>(1'000'000);
  {
    const AccountScope scope(account);
    ChargedVector<int64_t> items;
    int64_t n = 0;
    while (items.append(&n, 1)) {
      ++n;
      ASSERT_TRUE(n <= 10'000 || account->held() >= n * 8);
    }
    EXPECT_GT(n, 30'000);
    EXPECT_LT(n, 125'000);
    ASSERT_EQ(items.size(), static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(items.data()[i], i);
  }
  EXPECT_EQ(account->held(), 0);
  EXPECT_LE(account->most(), 1'000'000);
}

}  // namespace
}  // namespace stoker
