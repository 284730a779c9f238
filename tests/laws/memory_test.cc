// The engine holds no more bytes than the budget, plus one element for a consumer that
// waits.

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "stoker/runtime/budget.h"
#include "support/support.h"
#include "support/watch.h"

namespace stoker {
namespace {

constexpr int64_t kBytes = 100'000;

// 100 KB from a number.
struct Large {
  static constexpr std::string_view kName = "large";
  static constexpr std::string_view kDoc = "An array of 100 KB.";
  void describe(Fields&) {}
  Result<Spec> spec(std::span<const Spec>) const {
    return Spec{Nest::leaf(), {{DType::kUint8, std::vector<int64_t>{kBytes}}}};
  }
  Result<Element> apply(Element element, Context&) const {
    Result<Array> made = Array::make({kBytes}, DType::kUint8);
    if (!made) return made.error();
    std::memset(made->mutable_raw(), static_cast<int>(element.leaves[0].scalar<int64_t>() % 251), kBytes);
    return Element(*std::move(made));
  }
};

struct Pipeline {
  std::string name;
  std::function<Dataset()> make;
  int64_t largest;  // element
};

std::vector<Pipeline> pipelines() {
  return {
      {"map", [] { return numbers(150).then(Large{}); }, kBytes},
      {"two_maps", [] { return numbers(150).then(Jitter{}).then(Large{}).then(Jitter{.seed = 1}); }, kBytes},
      {"batch", [] { return numbers(150).then(Large{}).batch({.batch_size = 3}); }, 3 * kBytes},
      {"shuffle_before", [] { return numbers(150).shuffle({.seed = 1}).then(Large{}); }, kBytes},
      {"filter_behind",
       [] { return numbers(150).then(Large{}).filter({.predicate = [](const Array& a) { return a.count() > 0; }}); },
       kBytes},
      {"repeat", [] { return numbers(50).then(Large{}).batch({.batch_size = 2}).repeat({.count = 3}); }, 2 * kBytes},
      {"prefetch", [] { return numbers(150).then(Large{}).prefetch({.buffer_size = 100}); }, kBytes},
      {"cache", [] { return numbers(60).then(Large{}).cache({}).repeat({.count = 2}); }, kBytes},
  };
}

class MemoryLaw : public testing::TestWithParam<Pipeline> {};
INSTANTIATE_TEST_SUITE_P(Every, MemoryLaw, testing::ValuesIn(pipelines()),
                         [](const auto& info) { return info.param.name; });

TEST_P(MemoryLaw, PeakIsAtMostTheBudgetAndOneElement) {
  WatchScope watch(GetParam().name);
  for (const int workers : {0, 1, 3}) {
    SCOPED_TRACE(workers);
    constexpr int64_t kBudget = 1'000'000;
    WithResources here({.workers = workers, .memory_bytes = kBudget});
    Budget::process().reset_peak();
    int64_t count = 0;
    {
      Loader loader(GetParam().make());
      while (true) {
        Result<std::optional<Element>> next = loader.next();
        ASSERT_TRUE(next.ok()) << next.error().describe();
        if (!*next) break;
        ++count;
      }
    }
    EXPECT_GT(count, 0);
    EXPECT_LE(memory_use().peak, kBudget + GetParam().largest);
  }
}

// Forty small results wait for a slow one before them. They were computed from large
// elements that cannot be read again.
TEST(MemoryOfAWindow, HoldsResultsWithoutTheirInputs) {
  WatchScope watch("memory of a window");
  constexpr int64_t kMade = 40, kAll = 100;
  WithResources here({.workers = 2, .memory_bytes = 100'000'000});
  std::mutex mutex;
  std::condition_variable one_more;
  int64_t made = 0, held = 0;
  const auto first_byte = [&](const Array& bytes) {
    std::unique_lock lock(mutex);
    ++made;
    one_more.notify_all();
    const int64_t first = *static_cast<const uint8_t*>(bytes.raw());
    if (first == 1) {
      one_more.wait(lock, [&] { return made >= kMade; });
      held = memory_use().held;
    }
    return first;
  };
  const auto large = [] {
    return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == kAll) return std::optional<Element>();
      STOKER_TRY(Array bytes, Array::make({kBytes}, DType::kUint8));
      std::memset(bytes.mutable_raw(), static_cast<int>(i++), kBytes);
      return std::optional<Element>(Element(std::move(bytes)));
    };
  };
  Loader loader(Dataset::from_generator({.generator = large}).map({.map_func = first_byte, .num_parallel_calls = 3}));
  for (int64_t i = 0; i < kAll; ++i) ASSERT_TRUE(loader.next().ok());
  EXPECT_GT(held, 0);
  EXPECT_LT(held, kMade * kBytes);
}

}  // namespace
}  // namespace stoker
