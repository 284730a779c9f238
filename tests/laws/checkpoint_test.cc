// A checkpoint at any element, restored anywhere, gives the same rest; one
// that does not fit or is damaged is refused.

#include <gtest/gtest.h>

#include <random>
#include <nlohmann/json.hpp>

#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/line.h"
#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Checkpoint);

using Words = std::vector<std::string>;

// Entries in the log at every row, so that short examples have them.
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
  const Words all = words_of_rest(whole, 300);
  whole.begin_epoch();
  const Words next_epoch = words_of_rest(whole, 300);

  Loader loader(made(7));
  for (size_t k = 0;; ++k) {
    SCOPED_TRACE("after " + std::to_string(k) + " of " + std::to_string(all.size()));
    Result<std::string> saved = loader.save();
    ASSERT_TRUE(saved.ok()) << saved.error().words();
    EXPECT_LT(saved->size(), 64u * 1024);
    {
      WithResources there(places()[k % places().size()]);
      Loader restored(made(1000 + k));
      Result<void> done = restored.restore(*saved);
      ASSERT_TRUE(done.ok()) << done.error().words();
      Result<std::string> again = restored.save();
      ASSERT_TRUE(again.ok()) << again.error().words();
      ASSERT_EQ(words_of_rest(restored, 300), rest_after(all, k));
      Loader twice(made(2000 + k));
      ASSERT_TRUE(twice.restore(*again).ok());
      ASSERT_EQ(words_of_rest(twice, 300), rest_after(all, k));
      twice.begin_epoch();
      ASSERT_EQ(words_of_rest(twice, 300), next_epoch);
    }
    if (k == all.size()) break;
    ASSERT_EQ(words_of_rest(loader, 1), Words{all[k]});
  }
}

TEST_P(Checkpoint, GivesTheSameRestFromEveryPlace) {
  restore_everywhere([&](uint64_t seed) { return made(seed); });
}

TEST_P(Checkpoint, GivesTheSameRestWithEntriesEverywhere) {
  OftenLogged often;
  restore_everywhere([&](uint64_t seed) { return made(seed); });
}

TEST_P(Checkpoint, OfAnotherGraphIsRefusedWithTheDifferenceNamed) {
  Loader loader(made());
  (void)loader.next();
  Result<std::string> saved = loader.save();
  ASSERT_TRUE(saved.ok()) << saved.error().words();
  Loader other(made().skip({.count = 1}));
  Result<void> restored = other.restore(*saved);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code(), Code::kFailedPrecondition);
  EXPECT_NE(restored.error().message().find("skip"), std::string::npos) << restored.error().message();
  // What was refused left nothing behind: the loader starts from the beginning.
  EXPECT_EQ(words_of_rest(other, 300), words_of(made().skip({.count = 1})));
}

// Restores and, where that works, reads; either way nothing breaks.
void survive(const Dataset& dataset, const std::string& text) {
  WatchScope watch("restoring " + text);
  Loader loader(dataset);
  if (loader.restore(text).ok()) (void)words_of_rest(loader, 200);
}

TEST_P(Checkpoint, CutShortOrWithFlippedBitsBreaksNothing) {
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

// As it would be if an enemy had written it: the hash fits.
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

TEST_P(Checkpoint, WithWrongNumbersBreaksNothing) {
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

// Every checkpoint that differs from this one in one value, or lacks it.
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

// Reads a few elements, tries checkpoints of another place that each have one
// value wrong, and expects the rest of the epoch and the next one as if nothing
// had been tried.
template <typename T>
void expect_nothing_changed(const std::function<Dataset(uint64_t)>& made,
                            const std::function<void(Loader&, const T& changed)>& attempt) {
  OftenLogged often;
  Loader whole(made(7));
  const Words all = words_of_rest(whole, 300);
  whole.begin_epoch();
  const Words next_epoch = words_of_rest(whole, 300);

  Loader other(made(8));
  for (int i = 0; i < 3; ++i) (void)other.next();
  const auto saved = T::parse(other.save().value());
  Loader loader(made(7));
  const size_t taken = words_of_rest(loader, 4).size();
  for (const T& changed : with_one_value_changed(saved)) {
    attempt(loader, changed);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(words_of_rest(loader, 300), rest_after(all, taken));
  loader.begin_epoch();
  EXPECT_EQ(words_of_rest(loader, 300), next_epoch);
}

TEST_P(Checkpoint, WithOneValueChangedIsRefusedAndChangesNothing) {
  expect_nothing_changed<nlohmann::ordered_json>([this](uint64_t seed) { return made(seed); },
                                                 [](Loader& loader, const nlohmann::ordered_json& changed) {
                                                   const Result<void> restored = loader.restore(changed.dump());
                                                   ASSERT_FALSE(restored.ok()) << changed.dump();
                                                   EXPECT_FALSE(restored.error().message().empty());
                                                 });
}

// With a hash that fits, some of these are places that could have been saved;
// others are refused, and then nothing has changed.
TEST_P(Checkpoint, ThatIsRefusedChangesNothingWhateverIsWrongWithIt) {
  expect_nothing_changed<nlohmann::json>([this](uint64_t seed) { return made(seed); },
                                         [this](Loader& loader, const nlohmann::json& changed) {
                                           const std::string text = signed_text(changed);
                                           WatchScope watch("restoring " + text);
                                           Loader probe(made());
                                           if (probe.restore(text).ok())
                                             (void)words_of_rest(probe, 50);
                                           else
                                             EXPECT_FALSE(loader.restore(text).ok());
                                         });
}

}  // namespace
}  // namespace stoker
