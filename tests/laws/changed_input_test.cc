// If the input ends earlier after a restore than before the checkpoint was saved, the restored iterator returns an
// error: never fewer elements and a normal end. This holds for every position and however often lines write log
// entries.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "stoker/runtime/line.h"
#include "support/support.h"

namespace stoker {
namespace {

using Texts = std::vector<std::string>;
constexpr int64_t kAll = 30;

// How the generator ends when it has been started again, after `stop` elements.
struct Change {
  bool throws;
  int64_t stop;
};

class Numbers {
 public:
  explicit Numbers(Change change) : change_(change) {}

  Dataset dataset() const {
    return Dataset::from_generator({.generator = [change = change_, changed = changed_] {
      const int64_t end = *changed ? change.stop : kAll;
      return [change, end, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
        if (i == end && end < kAll && change.throws) throw std::runtime_error("the network is down");
        if (i == end) return std::optional<Element>();
        return std::optional<Element>(Element(Array::of<int64_t>(i++)));
      };
    }});
  }
  void change() { *changed_ = true; }

 private:
  Change change_;
  std::shared_ptr<std::atomic<bool>> changed_ = std::make_shared<std::atomic<bool>>(false);
};

struct Tail {
  std::string name;
  std::function<Dataset(Dataset)> add;
};

bool is_even(int64_t x) { return x % 2 == 0; }
bool is_not_a_multiple_of_5(int64_t x) { return x % 5 != 0; }
bool is_full(const Element& batch) { return batch[0].count() > 0; }

std::vector<Tail> tails() {
  return {{"Alone", [](Dataset ds) { return ds; }},
          {"Map", [](Dataset ds) { return ds.map({.map_func = [](int64_t x) { return x + 1; }}); }},
          {"Filter", [](Dataset ds) { return ds.filter({.predicate = is_even}); }},
          {"FilterAndBatch",
           [](Dataset ds) { return ds.filter({.predicate = is_not_a_multiple_of_5}).batch({.batch_size = 3}); }},
          {"TwoFilters",
           [](Dataset ds) {
             return ds.filter({.predicate = is_even}).batch({.batch_size = 1}).filter({.predicate = is_full});
           }},
          {"Batch", [](Dataset ds) { return ds.batch({.batch_size = 4}); }},
          {"Shuffle", [](Dataset ds) { return ds.shuffle({.buffer_size = 8, .seed = 1}); }},
          {"FilterAndShuffle",
           [](Dataset ds) { return ds.filter({.predicate = is_even}).shuffle({.buffer_size = 4, .seed = 1}); }},
          {"Enumerate", [](Dataset ds) { return ds.enumerate({}); }},
          {"SkipAndTake", [](Dataset ds) { return ds.skip({.count = 3}).take({.count = 25}); }},
          {"Zip", [](Dataset ds) { return Dataset::zip({.datasets = {ds, Dataset::range({.stop = 100})}}); }},
          {"Concatenate", [](Dataset ds) { return Dataset::range({.stop = 2}).concatenate(ds); }},
          {"Unbatch", [](Dataset ds) { return ds.batch({.batch_size = 3}).unbatch(); }},
          {"FlatMap",
           [](Dataset ds) {
             return Dataset::range({.stop = 1}).flat_map({.map_func = [ds](const Element&) { return ds; }});
           }},
          {"Cache", [](Dataset ds) { return ds.cache({}); }}};
}

Texts errors_in(const Texts& all) {
  Texts errors;
  std::ranges::copy_if(all, std::back_inserter(errors), [](const auto& text) { return text.starts_with("error: "); });
  return errors;
}

// Saves after `position` elements, changes the input, and returns what a restored iterator returns.
Texts rest_after_change(const Tail& tail, Change change, size_t position) {
  Numbers numbers(change);
  const Dataset ds = tail.add(numbers.dataset());
  Loader loader(ds);
  text_of_rest(loader, static_cast<int64_t>(position));
  const Result<std::string> saved = loader.save();
  if (!saved) return {"error: " + saved.error().message()};
  loader.close();
  numbers.change();
  Loader restored(ds);
  const Result<void> done = restored.restore(*saved);
  return done ? text_of_rest(restored) : Texts{"error: " + done.error().message()};
}

class ChangedInput : public testing::TestWithParam<Tail> {
 protected:
  ~ChangedInput() override { set_log_pace({}); }

  // Calls `check` with the position, the elements that were left there, and what is returned instead.
  void for_every_position(Change change, const std::function<void(size_t, const Texts&, const Texts&)>& check) {
    const Texts all = text_of(GetParam().add(Numbers(change).dataset()));
    for (const LogPace pace : {LogPace{}, LogPace{1, 0, 5}, LogPace{3, 0, 9}}) {
      set_log_pace(pace);
      for (size_t position = 1; position <= all.size(); ++position) {
        const WithResources here({.workers = static_cast<int>(position % 3), .memory_bytes = int64_t{1} << 24});
        SCOPED_TRACE("an entry every " + std::to_string(pace.pulls) + " pulls, after " + std::to_string(position) +
                     " elements, " + std::to_string(change.stop) + " are left");
        const Texts left(all.begin() + static_cast<std::ptrdiff_t>(position), all.end());
        check(position, left, rest_after_change(GetParam(), change, position));
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Every, ChangedInput, testing::ValuesIn(tails()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ChangedInput, ReturnsTheErrorOfTheInputOnce) {
  for (const int64_t stop : {0, 1, 5, 8})
    for_every_position({true, stop}, [](size_t, const Texts& left, const Texts& rest) {
      if (rest == left) return;  // a cache has the elements
      const Texts errors = errors_in(rest);
      ASSERT_EQ(errors.size(), 1u) << testing::PrintToString(rest);
      EXPECT_NE(errors[0].find("the network is down"), std::string::npos) << errors[0];
    });
}

TEST_P(ChangedInput, EndsWithAnErrorIfElementsBeforeThePositionAreMissing) {
  for (const int64_t stop : {0, 1, 5, 8}) {
    Numbers numbers({false, stop});
    numbers.change();
    const size_t available = text_of(GetParam().add(numbers.dataset())).size();
    for_every_position({false, stop}, [&](size_t position, const Texts& left, const Texts& rest) {
      if (position <= available || rest == left) return;
      const Texts errors = errors_in(rest);
      ASSERT_EQ(errors.size(), 1u) << testing::PrintToString(rest);
      EXPECT_NE(errors[0].find("before the position of the checkpoint"), std::string::npos) << errors[0];
    });
  }
}

}  // namespace
}  // namespace stoker
