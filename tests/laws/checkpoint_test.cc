// A checkpoint of any element, restored anywhere, continues with the same elements. A
// checkpoint that does not fit or is damaged is rejected.

#include <gtest/gtest.h>

#include <random>
#include <nlohmann/json.hpp>

#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/line.h"
#include "stoker/runtime/task.h"
#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Checkpoint);

using Words = std::vector<std::string>;

// Writes a log entry for every row, so that short examples have some.
struct OftenLogged {
  OftenLogged() { set_log_pace({.pulls = 1, .ns = 0, .draws = 5}); }
  ~OftenLogged() { set_log_pace({}); }
};

Words rest_after(Words all, size_t n) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
  return all;
}

void restore_everywhere(const std::function<Dataset(uint64_t)>& made) {
  WithResources here({.workers = 2, .memory_bytes = int64_t{1} << 24});
  Loader whole(made(7));
  const Words all = text_of_rest(whole, 300);
  whole.begin_epoch();
  const Words next_epoch = text_of_rest(whole, 300);

  Loader loader(made(7));
  for (size_t k = 0;; ++k) {
    SCOPED_TRACE("after " + std::to_string(k) + " of " + std::to_string(all.size()));
    Result<std::string> saved = loader.save();
    ASSERT_TRUE(saved.ok()) << saved.error().describe();
    EXPECT_LT(saved->size(), 64u * 1024);
    {
      WithResources there(places()[k % places().size()]);
      Loader restored(made(1000 + k));
      Result<void> done = restored.restore(*saved);
      ASSERT_TRUE(done.ok()) << done.error().describe();
      Result<std::string> again = restored.save();
      ASSERT_TRUE(again.ok()) << again.error().describe();
      ASSERT_EQ(text_of_rest(restored, 300), rest_after(all, k));
      Loader twice(made(2000 + k));
      ASSERT_TRUE(twice.restore(*again).ok());
      ASSERT_EQ(text_of_rest(twice, 300), rest_after(all, k));
      twice.begin_epoch();
      ASSERT_EQ(text_of_rest(twice, 300), next_epoch);
    }
    if (k == all.size()) break;
    ASSERT_EQ(text_of_rest(loader, 1), Words{all[k]});
  }
}

TEST_P(Checkpoint, ReturnsTheSameRestFromEveryPosition) {
  restore_everywhere([&](uint64_t seed) { return made(seed); });
}

TEST_P(Checkpoint, ReturnsTheSameRestWithALogEntryForEveryRow) {
  OftenLogged often;
  restore_everywhere([&](uint64_t seed) { return made(seed); });
}

// The first result determines the type of the results of a function, and the first child the structure of the elements
// of flat_map. A restored iterator must not determine them anew: other elements would fail then.
Dataset of_two_types(uint64_t) {
  return numbers(8).map({.map_func = [](const Element& e) -> Result<Element> {
    const auto x = e[0].scalar<int64_t>();
    return x < 4 ? Element(Array::of(x)) : Element(Array::of(0.5 * static_cast<double>(x)));
  }});
}

Dataset of_two_structures(uint64_t) {
  return numbers(4).flat_map({.map_func = [](const Element& e) {
    const Dataset child = numbers(5);
    return e[0].scalar<int64_t>() < 2 ? child : Dataset::zip({.datasets = {child, child}});
  }});
}

TEST(CheckpointOfTypes, OtherTypesAreErrorsOfTheSameElementsAfterARestore) {
  for (const auto& made : {of_two_types, of_two_structures}) {
    restore_everywhere(made);
    OftenLogged often;
    restore_everywhere(made);
  }
}

// Endless repeats in several levels number their passes with large numbers, and use up all of them after a few levels.
TEST_P(Checkpoint, IsAcceptedInLaterEpochsOfNestedRepeats) {
  for (const int levels : {2, 4}) {
    const auto nested = [&](uint64_t seed) {
      Dataset dataset = made(seed);
      for (int level = 1; level <= levels; ++level) dataset = dataset.repeat({}).take({.count = 3 + 2 * level});
      return dataset.repeat({.count = 2});
    };
    Loader loader(nested(7));
    for (size_t epoch = 0; epoch < 5; ++epoch) {
      SCOPED_TRACE("epoch " + std::to_string(epoch) + " of " + std::to_string(levels) + " levels");
      (void)text_of_rest(loader, static_cast<int64_t>(7 * epoch));
      const Result<std::string> saved = loader.save();
      ASSERT_TRUE(saved.ok()) << saved.error().describe();
      Loader restored(nested(1000 + epoch));
      const Result<void> done = restored.restore(*saved);
      ASSERT_TRUE(done.ok()) << done.error().describe();
      const Words rest = text_of_rest(loader, 300);
      ASSERT_EQ(text_of_rest(restored, 300), rest);
      loader.begin_epoch();
    }
  }
}

TEST_P(Checkpoint, OfAnotherGraphIsRejectedAndTheDifferenceIsNamed) {
  Loader loader(made());
  (void)loader.next();
  Result<std::string> saved = loader.save();
  ASSERT_TRUE(saved.ok()) << saved.error().describe();
  Loader other(made().skip({.count = 1}));
  Result<void> restored = other.restore(*saved);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code(), Code::kFailedPrecondition);
  EXPECT_NE(restored.error().message().find("skip"), std::string::npos) << restored.error().message();
  // The rejected checkpoint has changed nothing: the loader starts from the beginning.
  EXPECT_EQ(text_of_rest(other, 300), text_of(made().skip({.count = 1})));
}

// Restores and, if that succeeds, reads. Both may fail, but not crash or hang.
void survive(const Dataset& dataset, const std::string& text) {
  WatchScope watch("restoring " + text);
  Loader loader(dataset);
  if (loader.restore(text).ok()) (void)text_of_rest(loader, 200);
}

TEST_P(Checkpoint, ThatIsTruncatedOrHasFlippedBitsIsHandled) {
  Loader loader(made());
  for (int i = 0; i < 5; ++i) (void)loader.next();
  const std::string saved = loader.save().value();
  const Dataset dataset = made();
  for (size_t n = 0; n < saved.size(); n += 1 + saved.size() / 50) survive(dataset, saved.substr(0, n));
  std::mt19937_64 numbers(1);
  for (int i = 0; i < 100; ++i) {
    std::string text = saved;
    text[numbers() % text.size()] ^= static_cast<char>(1 << numbers() % 8);
    survive(dataset, text);
  }
}

void collect(nlohmann::json& json, std::vector<nlohmann::json*>& all) {
  all.push_back(&json);
  if (json.is_structured())
    for (nlohmann::json& part : json) collect(part, all);
}

// As an attacker could have written it: the hash is right.
std::string signed_text(nlohmann::json json) {
  if (!json.is_object()) return json.dump();
  json.erase("hash");
  return checkpoint_text(parse_json(json.dump()).value());
}

nlohmann::json wrong_value(uint64_t choice) {
  switch (choice % 10) {
    case 0: return -1;
    case 1: return INT64_MAX;
    case 2: return INT64_MIN;
    case 3: return nullptr;
    case 4: return "text";
    case 5: return nlohmann::json::array();
    case 6: return nlohmann::json::object();
    case 7: return 1'000'000;
    case 8: return true;
    default: return 3;
  }
}

TEST_P(Checkpoint, WithWrongNumbersIsHandled) {
  OftenLogged often;
  Loader loader(made());
  for (int i = 0; i < 5; ++i) (void)loader.next();
  const auto saved = nlohmann::json::parse(loader.save().value());
  const Dataset dataset = made();
  std::mt19937_64 numbers(2);
  for (int i = 0; i < 300; ++i) {
    nlohmann::json changed = saved;
    std::vector<nlohmann::json*> parts;
    collect(changed["cut"], parts);
    if (i % 4 == 0) collect(changed, parts);
    nlohmann::json& part = *parts[numbers() % parts.size()];
    if (part.is_structured() && !part.empty() && i % 3 == 0) {
      auto at = part.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(numbers() % part.size()));
      part.erase(at);
    } else {
      part = wrong_value(numbers());
    }
    survive(dataset, signed_text(changed));
  }
}

// Every checkpoint that differs from this one in one value, or lacks one value.
template <typename T>  // of nlohmann's, which keeps the order of keys or not
std::vector<T> with_one_value_changed(const T& saved) {
  const std::vector<T> wrong{-1,    INT64_MAX, INT64_MIN, 1e300,      0.5,        "text",
                             "nan", nullptr,   true,      T::array(), T::object()};
  std::vector<T> all;
  const T flat = saved.flatten();
  for (const auto& [pointer, _] : flat.items()) {
    const typename T::json_pointer at(pointer);
    for (const T& other : wrong) {
      if (other == saved.at(at)) continue;
      all.push_back(saved);
      all.back()[at] = other;
    }
    all.push_back(saved);
    T& holder = all.back()[at.parent_pointer()];
    if (holder.is_array())
      holder.erase(std::stoul(at.back()));
    else
      holder.erase(at.back());
  }
  return all;
}

// Reads a few elements and tries checkpoints of another position that each have one
// wrong value. Expects the same rest of the epoch and the same next epoch as without.
template <typename T>
void expect_nothing_changed(const std::function<Dataset(uint64_t)>& made,
                            const std::function<void(Loader&, const T& changed)>& attempt) {
  OftenLogged often;
  Loader whole(made(7));
  const Words all = text_of_rest(whole, 300);
  whole.begin_epoch();
  const Words next_epoch = text_of_rest(whole, 300);

  Loader other(made(8));
  for (int i = 0; i < 3; ++i) (void)other.next();
  const auto saved = T::parse(other.save().value());
  Loader loader(made(7));
  const size_t taken = text_of_rest(loader, 4).size();
  for (const T& changed : with_one_value_changed(saved)) {
    attempt(loader, changed);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(text_of_rest(loader, 300), rest_after(all, taken));
  loader.begin_epoch();
  EXPECT_EQ(text_of_rest(loader, 300), next_epoch);
}

TEST_P(Checkpoint, WithOneValueChangedIsRejectedAndChangesNothing) {
  expect_nothing_changed<nlohmann::ordered_json>([this](uint64_t seed) { return made(seed); },
                                                 [](Loader& loader, const nlohmann::ordered_json& changed) {
                                                   const Result<void> restored = loader.restore(changed.dump());
                                                   ASSERT_FALSE(restored.ok()) << changed.dump();
                                                   EXPECT_FALSE(restored.error().message().empty());
                                                 });
}

// With the right hash, some of these are valid positions. The others are rejected, and
// then nothing has changed.
TEST_P(Checkpoint, ThatIsRejectedChangesNothing) {
  expect_nothing_changed<nlohmann::json>([this](uint64_t seed) { return made(seed); },
                                         [this](Loader& loader, const nlohmann::json& changed) {
                                           const std::string text = signed_text(changed);
                                           WatchScope watch("restoring " + text);
                                           Loader probe(made());
                                           if (probe.restore(text).ok())
                                             (void)text_of_rest(probe, 50);
                                           else
                                             EXPECT_FALSE(loader.restore(text).ok());
                                         });
}

// A restore opens the current dataset of flat_map again, which calls its function.
TEST(CheckpointOfOpenedDatasets, FunctionsThatARestoreCallsRunForTheLoader) {
  OftenLogged often;
  const auto owner = std::make_shared<int>();
  int calls = 0, owned = 0;
  const GraphFunction opens = [&](const Element&) {
    ++calls;
    owned += RunningScope::owner() == owner;
    return numbers(3);
  };
  Loader loader(numbers(5).flat_map({.map_func = opens}), {.alone = true, .owner = owner});
  EXPECT_EQ(text_of_rest(loader, 2).size(), 2u);
  const std::string saved = loader.save().value();
  const int calls_before = calls;
  ASSERT_TRUE(loader.restore(saved).ok());
  EXPECT_GT(calls, calls_before);
  EXPECT_EQ(owned, calls);
}

TEST(CheckpointOfOpenedDatasets, FunctionsThatARestoreCallsCannotReadTheLoader) {
  OftenLogged often;
  Loader* reader = nullptr;
  std::string message;
  const GraphFunction opens = [&](const Element&) {
    if (reader) message = reader->next().ok() ? "no error" : reader->next().error().message();
    return numbers(3);
  };
  Loader loader(numbers(5).flat_map({.map_func = opens}), {.alone = true});
  EXPECT_EQ(text_of_rest(loader, 2).size(), 2u);
  const std::string saved = loader.save().value();
  reader = &loader;
  ASSERT_TRUE(loader.restore(saved).ok());
  reader = nullptr;
  EXPECT_TRUE(message.starts_with("next() was called by a function that this iterator is running")) << message;
  EXPECT_EQ(text_of_rest(loader).size(), 13u);
}

// Passes elements on. Calls `on_describe` when its state is saved or restored.
struct Observed {
  static constexpr std::string_view kName = "observed";
  static constexpr std::string_view kDoc = "Passes elements on.";
  static inline std::function<void()> on_describe;
  struct State {
    int64_t seen = 0;
    void describe(Fields& f) {
      if (on_describe) on_describe();
      f("seen", seen);
    }
  };
  void describe(Fields&) {}
  Result<Flow> step(State& state, Element element, Emit& out, Context& context) const {
    ++state.seen;
    out.put(std::move(element), context.origin());
    return Flow::kMore;
  }
};

class StageInACheckpoint : public testing::Test {
 protected:
  void TearDown() override { Observed::on_describe = nullptr; }
  WatchScope watch_{"a stage that saves its state"};
  OftenLogged often_;
  Loader loader_{numbers(9).then(Observed{})};
};

TEST_F(StageInACheckpoint, MayUseTheLoaderThatIsSaved) {
  EXPECT_EQ(text_of_rest(loader_, 2).size(), 2u);
  int64_t delivered = 0;
  Observed::on_describe = [&] { delivered = loader_.stats().elements; };
  EXPECT_TRUE(loader_.save().ok());
  EXPECT_EQ(delivered, 2);
}

TEST_F(StageInACheckpoint, MayThrow) {
  EXPECT_EQ(text_of_rest(loader_, 2).size(), 2u);
  Observed::on_describe = [] { throw std::runtime_error("no memory for the state"); };
  const Result<std::string> saved = loader_.save();
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().message(), "a function failed: no memory for the state");
  EXPECT_EQ(text_of_rest(loader_).size(), 7u);
}

}  // namespace
}  // namespace stoker
