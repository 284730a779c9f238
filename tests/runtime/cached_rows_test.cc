#include "stoker/runtime/cached_rows.h"

#include <gtest/gtest.h>

#include <map>

#include "stoker/core/rng.h"
#include "stoker/runtime/budget.h"
#include "support/support.h"

namespace stoker {
namespace {

Array block(std::vector<int64_t> dims, int64_t x) {
  Array made = Array::make_small(dims, DType::kInt64);
  std::ranges::fill(made.mutable_values<int64_t>(), x);
  return made;
}

// An element of a size, shape and structure that depend on the number and on `kind`.
Element element_of(int64_t number, int kind) {
  const Array text = Array::of_bytes(std::string(static_cast<size_t>(number % 7), 'x') + std::to_string(number));
  switch (kind) {
    case 0: return Element(Array::of(number));
    case 1: return Element(block({2, 3}, number));
    case 2: return Element(block({number % 4}, number));
    case 3: return Element(text);
    case 4: return tuple_of({Element(Array::of(number)), Element(text), Element(block({number % 2, 2, 1, 1}, number))});
    case 5: return Element(block({number % 100 == 50 ? 3000 : 2}, number));
    case 6: return number % 10 == 3 ? tuple_of({Element(text), Element(text)}) : Element(text);
    default: return number % 30 < 28 ? Element(Array::of(number)) : Element(Array::of(static_cast<float>(number)));
  }
}
constexpr int kKinds = 8;

Origin origin_of(int64_t number, int kind) {
  static const auto parent = std::make_shared<const Origin>(Origin{.source = 3, .position = 4});
  switch (kind) {
    case 0: return {.source = 1, .position = number};
    case 1: return {.source = 1, .elements = 2, .pass = 3, .position = number * 7 % 1000, .parent = parent};
    case 2: return {.source = 1, .pass = number / 40, .position = number % 40};
    case 3: {
      const std::vector<Origin> members{{.source = 1, .position = number}, {.source = 2, .position = number}};
      return {.members = std::make_shared<const std::vector<Origin>>(members)};
    }
    default:
      return {.position = number % 2,
              .parent = std::make_shared<const Origin>(Origin{.position = number / 2, .parent = parent})};
  }
}
constexpr int kOrigins = 5;

void expect_equal(const stoker::Run& run, int64_t first, int kind, int origins) {
  ASSERT_TRUE(run.failed.empty());
  for (int32_t row = 0; row < run.size; ++row) {
    EXPECT_EQ(run.element(row), element_of(first + row, kind));
    const Origin origin = run.origins.at(row), expected = origin_of(first + row, origins);
    EXPECT_EQ(origin, expected);
    EXPECT_EQ(origin.elements, expected.elements);
  }
}

// Rows in random order, with gaps, and dropped at times: what is kept equals what was put.
TEST(CachedRows, ReturnsWhatWasPutForEveryKindOfElementAndOrigin) {
  WithResources here({.memory_bytes = int64_t{1} << 30});
  for (int kind = 0; kind < kKinds; ++kind)
    for (int origins = 0; origins < kOrigins; ++origins) {
      SCOPED_TRACE(std::to_string(kind) + ", origins " + std::to_string(origins));
      const auto account = std::make_shared<CacheAccount>();
      {
        CachedRows rows(account);
        Rng rng(static_cast<uint64_t>(kind), static_cast<uint64_t>(origins), 0, 0);
        std::map<int64_t, bool> kept;
        for (int i = 0; i < 3000; ++i) {
          const auto number = static_cast<int64_t>(rng.below(2500));
          const stoker::Run one = stoker::Run::of(element_of(number, kind), origin_of(number, origins));
          if (CachedRows::is_small(one, 0)) {
            ASSERT_EQ(rows.put(number, one, 0), CachedRows::Put::kDone);
          } else {
            rows.put(number, CachedRows::copy_of(one, 0, account).value());
          }
          kept[number] = true;
        }
        EXPECT_EQ(rows.size(), static_cast<int64_t>(kept.size()));
        for (int64_t number = 0; number < 2500; ++number) {
          ASSERT_EQ(rows.has(number), kept.contains(number));
          const std::optional<stoker::Run> found = rows.find(number, 50);
          ASSERT_EQ(found.has_value(), kept.contains(number));
          if (!found) continue;
          EXPECT_LE(found->size, 50);
          expect_equal(*found, number, kind, origins);
        }
        const int64_t before = account->held();
        EXPECT_GE(rows.drop(before / 2), before / 2);
        EXPECT_LE(account->held(), before - before / 2);
        EXPECT_GT(account->held(), 0);
      }
      EXPECT_EQ(account->held(), 0);
    }
}

TEST(CachedRows, KeepsNothingForWhichTheBudgetHasNoSpace) {
  WithResources here({.memory_bytes = 200'000});
  for (int kind = 0; kind < kKinds; ++kind) {
    SCOPED_TRACE(kind);
    const auto account = std::make_shared<CacheAccount>();
    CachedRows rows(account);
    int64_t refused = 0;
    for (int64_t number = 0; number < 20'000; ++number) {
      const stoker::Run one = stoker::Run::of(element_of(number, kind), origin_of(number, 2));
      if (!CachedRows::is_small(one, 0)) continue;
      const bool done = rows.put(number, one, 0) == CachedRows::Put::kDone;
      ASSERT_EQ(rows.has(number), done);
      refused += done ? 0 : 1;
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(rows.size(), 0);
    EXPECT_LE(account->held(), 200'000);
  }
}

TEST(CachedRows, ReturnsConsecutiveSmallRowsAsOneBlock) {
  CachedRows rows(std::make_shared<CacheAccount>());
  for (int64_t number = 0; number < 4096; ++number)
    rows.put(number, stoker::Run::of(element_of(number, 0), origin_of(number, 0)), 0);
  const std::optional<stoker::Run> found = rows.find(2048, 5000);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->columns[0].dense());
  EXPECT_GE(found->size, 1024);
  EXPECT_FALSE(rows.put(9999, *found, 0, false) == CachedRows::Put::kDone);
}

}  // namespace
}  // namespace stoker
