// Random nested graphs against a model: with any number of workers, any budget, failures,
// checkpoints and restores, the engine returns what one thread that pulls elements from
// the end of the graph returns.
//
//   STOKER_WALKS=20000 stages_tests --gtest_filter='Reference.*'     more graphs
//   STOKER_WALK_SEED=1234 stages_tests --gtest_filter='Reference.*'  one graph again

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "stoker/runtime/line.h"
#include "support/model.h"
#include "support/support.h"
#include "support/watch.h"

namespace stoker {
namespace {

using model::Kind;
using model::Tree;
using Words = std::vector<std::string>;

// ---- random graphs

class Grower {
 public:
  explicit Grower(uint64_t seed) : numbers_(seed) {}

  Tree graph() {
    std::vector<int> ranks;
    return grow(static_cast<int>(1 + below(8)), 0, ranks);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(numbers_() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }

 private:
  // `ranks` are those of the components of the result.
  Tree grow(int ops, int depth, std::vector<int>& ranks) {
    Tree tree = source(depth, ranks);
    while (ops-- > 0) tree = extended(std::move(tree), depth, ranks);
    return tree;
  }

  Tree source(int depth, std::vector<int>& ranks) {
    ranks = {0};
    if (depth > 0 && !one_in(5)) return model::stage(Kind::kRangeOf, {}, {.limit = between(1, 8)});
    const int64_t n = one_in(12) ? below(400) : one_in(3) ? below(60) : below(13);
    if (one_in(6)) {
      ranks = {1};
      return model::stage(Kind::kSlices, {}, {.count = below(9), .width = between(0, 4)});
    }
    if (one_in(6)) return model::stage(Kind::kGenerator, {}, {.count = n});
    return model::stage(Kind::kRange, {}, {.count = n, .start = below(100)});
  }

  Tree extended(Tree in, int depth, std::vector<int>& ranks) {
    switch (below(31)) {
      case 0:
      case 1:
      case 2: return map(in);
      case 3:
      case 4:
      case 5:
        return model::stage(Kind::kFail, {in}, {.one_in = between(2, 9), .salt = below(1000), .throws = one_in(5)});
      case 6:
      case 7: return model::stage(Kind::kFilter, {in}, {.one_in = between(2, 5), .salt = below(1000)});
      case 8: return model::stage(Kind::kDoubt, {in}, {.one_in = between(2, 9), .salt = below(1000)});
      case 9: ranks = {1}; return model::stage(Kind::kWiden, {in}, {.width = one_in(4) ? 300 : between(1, 40)});
      case 10:
      case 11:
      case 12:
        for (int& rank : ranks) ++rank;
        return model::stage(Kind::kBatch, {in}, {.batch_size = between(1, 6), .drop_remainder = one_in(3)});
      case 13:
        if (std::ranges::count(ranks, 0) > 0) return in;
        for (int& rank : ranks) --rank;
        return model::stage(Kind::kUnbatch, {in});
      case 14:
      case 15:
      case 16:
        return model::stage(
            Kind::kShuffle, {in},
            {.buffer_size = one_in(5) ? 50 : between(1, 8), .seed = below(1000), .same_order = one_in(4)});
      case 17:
      case 18: return model::stage(Kind::kRepeat, {in}, {.count = one_in(8) ? -1 : between(0, 3)});
      case 19: return model::stage(Kind::kTake, {in}, {.count = one_in(10) ? -1 : below(21)});
      case 20: return model::stage(Kind::kSkip, {in}, {.count = one_in(20) ? -1 : below(7)});
      case 21: {
        const int64_t parts = between(1, 4);
        return model::stage(Kind::kShard, {in}, {.num_shards = parts, .index = below(parts)});
      }
      case 22: {
        std::vector<int> more;
        Tree other = grow(static_cast<int>(below(4)), depth, more);
        ranks.insert(ranks.end(), more.begin(), more.end());
        return model::stage(Kind::kZip, {in, other});
      }
      case 23: return model::stage(Kind::kConcatenate, {in, varied(in)});
      case 24: ranks.insert(ranks.begin(), 0); return model::stage(Kind::kEnumerate, {in}, {.start = below(100)});
      case 25: return model::stage(Kind::kCache, {in});
      case 26: return model::stage(Kind::kPrefetch, {in}, {.buffer_size = below(10)});
      case 27:
      case 28: return depth < 2 ? nested(in, depth, ranks) : in;
      case 29: return model::stage(Kind::kIgnoreErrors, {in});
      default:
        if (one_in(3)) return model::stage(Kind::kAssertCardinality, {in}, {.count = below(20)});
        if (!one_in(3)) return in;
        if (one_in(3)) return model::stage(Kind::kNoise, {in});
        if (one_in(2)) return model::stage(Kind::kDrawnShuffle, {in}, {.buffer_size = between(1, 8)});
        return model::stage(Kind::kGlobalShuffle, {in}, {.seed = below(1000)});
    }
  }

  Tree map(const Tree& in) {
    return model::stage(
        Kind::kMap, {in},
        {.factor = between(1, 50), .offset = below(1000), .form = static_cast<model::MapForm>(below(3))});
  }

  Tree nested(const Tree& in, int depth, std::vector<int>& ranks) {
    Tree child = grow(static_cast<int>(below(4)), depth + 1, ranks);
    const int64_t fails_one_in = one_in(3) ? between(2, 6) : 0;
    if (one_in(3)) return model::stage(Kind::kFlatMap, {in}, {.fails_one_in = fails_one_in}, child);
    return model::stage(Kind::kInterleave, {in},
                        {.cycle_length = between(1, 5), .block_length = between(1, 4), .fails_one_in = fails_one_in},
                        child);
  }

  // The same stages over other numbers: elements of the same type.
  Tree varied(const Tree& tree) {
    Tree copy = model::copy_of(tree);
    vary(*copy);
    return copy;
  }
  void vary(model::Stage& stage) {
    if (stage.kind == Kind::kRange || stage.kind == Kind::kGenerator) stage.params.count = below(20);
    if (stage.kind == Kind::kFail || stage.kind == Kind::kFilter) stage.params.salt = below(1000);
    if (stage.kind == Kind::kShuffle) stage.params.seed = below(1000);
    for (const Tree& input : stage.inputs) vary(*input);
  }

  std::mt19937_64 numbers_;
};

// ---- one case

struct Place {
  int workers = 0;
  int64_t memory_bytes = 0;
};

struct Case {
  Tree tree;
  Place first, second;
  size_t cut = 0;         // elements before the checkpoint
  bool leave = false;     // the first epoch at the cut, for the second
  bool skip = false;      // errors
  bool twice = false;     // saved, restored, saved and restored
  int64_t log_every = 1;  // rows, so that short runs have entries too
  uint64_t seed = 0;

  std::string describe() const {
    auto place = [](const Place& p) {
      return std::to_string(p.workers) + " workers and " + std::to_string(p.memory_bytes) + " bytes";
    };
    return model::text_of(tree) + "\n  with " + place(first) + ", cut after " + std::to_string(cut) +
           (leave ? " and left" : "") + (twice ? " twice" : "") + ", then " + place(second) +
           (skip ? ", skipping errors" : "") + ", an entry every " + std::to_string(log_every) + " rows";
  }
};

constexpr size_t kMost = 120;  // elements of a pass that are compared

Case random_case(uint64_t seed) {
  Grower grower(seed);
  Case c;
  c.tree = grower.graph();
  auto place = [&] {
    constexpr int64_t kBudgets[] = {int64_t{1} << 15, int64_t{1} << 16, int64_t{1} << 18, int64_t{1} << 22,
                                    int64_t{1} << 28};
    return Place{static_cast<int>(grower.below(5)), kBudgets[grower.below(5)]};
  };
  c.first = place();
  c.second = place();
  c.cut = static_cast<size_t>(grower.one_in(3) ? grower.below(kMost) : grower.below(16));
  c.leave = grower.one_in(4);
  c.skip = grower.one_in(4);
  c.twice = grower.one_in(3);
  c.log_every = grower.one_in(4) ? 4096 : grower.between(1, 12);
  c.seed = seed;
  return c;
}

struct Expected {
  Words first, second;  // two whole epochs
  Words after_cut;      // the epoch after one that was left at the cut
  bool ends = false;    // the first one does
};

// All elements were skipped; the error that reports this is not the failure of an element.
bool reports_that_all_were_skipped(const Result<std::optional<Element>>& next) {
  return !next && next.error().message().find(" elements failed and were skipped") != std::string::npos;
}

// A pass of the engine, one text per element.
Words read(Loader& loader, size_t at_most) {
  Words all;
  while (all.size() < at_most) {
    Result<std::optional<Element>> next = loader.next();
    if ((next && !*next) || reports_that_all_were_skipped(next)) break;
    all.push_back(next ? model::text_of(**next) : model::text_of(next.error()));
  }
  return all;
}

// The errors of assert_cardinality are about the whole input, so they are raised in spite of OnError::kSkip.
bool is_skipped(const std::string& word) {
  return model::is_error(word) && word != "error: more" && word != "error: fewer";
}

Words without_skipped(Words words) {
  std::erase_if(words, is_skipped);
  return words;
}

LoaderOptions options_of(const Case& c) {
  LoaderOptions options;
  options.on_error = c.skip ? OnError::kSkip : OnError::kRaise;
  return options;
}

Dataset dataset_of(const Case& c, uint64_t seed) {
  set_seed(seed);
  return model::build(c.tree);
}

// The result of the engine without workers, and so without prefetching.
Expected plainest(const Case& c) {
  WithResources plain({.workers = 0, .memory_bytes = int64_t{1} << 30});
  set_log_pace({});
  Expected e;
  Loader loader(dataset_of(c, c.seed), options_of(c));
  e.first = read(loader, kMost);
  loader.begin_epoch();
  e.second = read(loader, kMost);
  Loader left(dataset_of(c, c.seed), options_of(c));
  read(left, c.cut);
  (void)left.save();  // which makes the iterator where nothing was read
  left.begin_epoch();
  e.after_cut = read(left, kMost);
  return e;
}

// Returns nullopt if the graph takes too many steps or cannot be built.
std::optional<Expected> expected_of(const Case& c) {
  Expected e;
  if (!dataset_of(c, c.seed).explain()) return {};
  try {
    const size_t most = c.skip ? 100 * kMost : kMost;
    model::Model whole(c.tree), left(c.tree);
    e.first = whole.rest(most);
    e.ends = e.first.size() < most;
    if (!e.ends && c.skip) return {};
    whole.begin_epoch();
    e.second = whole.rest(most);
    if (c.skip) {
      size_t seen = 0;  // not skipped
      while (seen < c.cut) {
        const std::optional<std::string> word = left.next();
        if (!word) break;
        seen += !is_skipped(*word);
      }
    } else {
      left.rest(c.cut);
    }
    left.begin_epoch();
    e.after_cut = left.rest(most);
  } catch (model::TooLong) {
    return {};
  }
  if (const bool known = model::answered(c.tree) && !model::repeats_are_nested(c.tree);
      !known || !model::passes_are_delivered(c.tree)) {
    // The simplest run of the engine is the reference.
    const Words first = std::exchange(e.first, {});
    e = plainest(c);
    if (!known) return e;
    e.first = first;
  }
  if (c.skip)
    for (Words* words : {&e.first, &e.second, &e.after_cut}) *words = without_skipped(*words);
  for (Words* words : {&e.first, &e.second, &e.after_cut})
    if (words->size() > kMost) words->resize(kMost);
  return e;
}

std::string difference(std::string_view what, const Words& wanted, const Words& found) {
  if (wanted == found) return {};
  const auto [w, f] = std::ranges::mismatch(wanted, found);
  const auto at = w - wanted.begin();
  return std::string(what) + ": word " + std::to_string(at) + " is " + (f == found.end() ? "the end" : *f) +
         " and must be " + (w == wanted.end() ? "the end" : *w) + " (" + std::to_string(found.size()) + " for " +
         std::to_string(wanted.size()) + ")";
}

Words part(const Words& words, size_t from) {
  return {words.begin() + static_cast<std::ptrdiff_t>(std::min(from, words.size())), words.end()};
}

// Describes the first difference; empty if there is none.
std::string run(const Case& c, const Expected& e) {
  set_log_pace({.pulls = c.log_every, .ns = 0, .draws = c.log_every});
  std::string wrong;
  {
    WithResources here({.workers = c.first.workers, .memory_bytes = c.first.memory_bytes});
    Loader loader(dataset_of(c, c.seed), options_of(c));
    wrong = difference("first epoch", e.first, read(loader, kMost));
    if (wrong.empty() && e.first.size() < kMost && !read(loader, 1).empty()) wrong = "the end is not sticky";
    loader.begin_epoch();
    if (wrong.empty() && e.first.size() < kMost) wrong = difference("second epoch", e.second, read(loader, kMost));
  }
  if (!wrong.empty()) return wrong;

  Dataset dataset = dataset_of(c, c.seed);
  std::string saved;
  {
    WithResources here({.workers = c.first.workers, .memory_bytes = c.first.memory_bytes});
    Loader loader(dataset, options_of(c));
    Words head = read(loader, c.cut);
    Words wanted = e.first;
    if (wanted.size() > c.cut) wanted.resize(c.cut);
    wrong = difference("head", wanted, head);
    if (!wrong.empty()) return wrong;
    Result<std::string> made = loader.save();
    if (!made) return "save: " + made.error().message();
    saved = *std::move(made);
    if (saved.size() > 64 * 1024) return "the checkpoint has " + std::to_string(saved.size()) + " bytes";
    if (c.leave) {
      loader.begin_epoch();
      wrong = difference("epoch after one left", e.after_cut, read(loader, kMost));
      if (!wrong.empty()) return wrong;
    }
  }
  WithResources here({.workers = c.second.workers, .memory_bytes = c.second.memory_bytes});
  for (int i = c.twice ? 0 : 1; i < 2; ++i) {
    Loader loader(dataset_of(c, c.seed + 1 + static_cast<uint64_t>(i)), options_of(c));
    if (Result<void> restored = loader.restore(saved); !restored) return "restore: " + restored.error().message();
    if (i == 0) {  // a little further, then again
      const size_t more = std::min<size_t>(c.cut % 3, e.first.size() - std::min(c.cut, e.first.size()));
      Words wanted = part(e.first, c.cut);
      wanted.resize(more);
      wrong = difference("between the checkpoints", wanted, read(loader, more));
      if (!wrong.empty()) return wrong;
      Result<std::string> again = loader.save();
      if (!again) return "second save: " + again.error().message();
      saved = *std::move(again);
      continue;
    }
    const size_t from =
        c.cut + (c.twice ? std::min<size_t>(c.cut % 3, e.first.size() - std::min(c.cut, e.first.size())) : 0);
    const Words wanted = part(e.first, from);
    wrong = difference("rest", wanted, read(loader, e.first.size() < kMost ? kMost : wanted.size()));
    if (wrong.empty() && e.first.size() < kMost) {
      loader.begin_epoch();
      wrong = difference("epoch after the restored one", e.second, read(loader, kMost));
    }
  }
  return wrong;
}

enum class Outcome { kSame, kUnasked };

// Runs the case, and describes the first difference; empty if there is none.
std::string check(Case c, Outcome* outcome = nullptr) {
  WatchScope watch(c.describe());
  std::optional<Expected> expected = expected_of(c);
  if (outcome) *outcome = expected ? Outcome::kSame : Outcome::kUnasked;
  if (!expected) return {};
  std::string wrong = run(c, *expected);
  if (wrong.find("shuffle holds") != std::string::npos) {  // what is held is meaning, and was too much
    c.first.memory_bytes = c.second.memory_bytes = int64_t{1} << 28;
    wrong = run(c, *expected);
  }
  return wrong;
}

// ---- making a failing case small

void collect(const Tree& tree, std::vector<Tree*>& slots, Tree& slot) {
  slots.push_back(&slot);
  for (Tree& input : tree->inputs) collect(input, slots, input);
  if (tree->child) collect(tree->child, slots, tree->child);
}

// Copies of the parameters with one of them made smaller.
std::vector<model::Params> smaller(const model::Params& params) {
  std::vector<model::Params> all;
  const auto add = [&](std::string_view changed, auto to) {
    all.push_back(params);
    model::visit(all.back(), [&](std::string_view name, auto& value, auto, model::Shrink) {
      if constexpr (std::is_same_v<decltype(to), std::remove_reference_t<decltype(value)>>)
        if (name == changed) value = to;
    });
  };
  model::visit(params, [&](std::string_view name, auto value, auto standard, model::Shrink shrink) {
    if (value == standard) return;
    if (shrink == model::Shrink::kDetail) return add(name, standard);
    if constexpr (std::is_same_v<decltype(value), int64_t>) {
      if (value <= 1) return;
      add(name, value / 2);
      add(name, value - 1);
    }
  });
  return all;
}

std::vector<Tree> smaller(const Tree& tree) {
  std::vector<Tree> all;
  // A copy of the tree, and in it the place of stage i.
  const auto copied = [&](size_t i) {
    auto copy = std::make_unique<Tree>(model::copy_of(tree));
    std::vector<Tree*> at;
    collect(*copy, at, *copy);
    return std::pair(std::move(copy), i < at.size() ? at[i] : nullptr);
  };
  for (size_t i = 0;; ++i) {
    auto [original, stage] = copied(i);
    if (!stage) return all;
    for (size_t k = 0; k < (*stage)->inputs.size(); ++k) {  // an input in place of the stage
      auto [copy, here] = copied(i);
      const Tree input = (*here)->inputs[k];
      *here = input;
      all.push_back(*copy);
    }
    for (const model::Params& params : smaller((*stage)->params)) {
      if (params.index >= params.num_shards) continue;
      auto [copy, here] = copied(i);
      (*here)->params = params;
      all.push_back(*copy);
    }
  }
}

bool fails(const Case& c) {
  for (int i = 0; i < 4; ++i)
    if (!check(c).empty()) return true;
  return false;
}

Case shrunk(Case c) {
  for (int tries = 0; tries < 600;) {
    bool better = false;
    std::vector<Case> candidates;
    for (Tree& tree : smaller(c.tree)) {
      candidates.push_back(c);
      candidates.back().tree = std::move(tree);
    }
    for (auto change :
         {+[](Case& x) { x.first.workers = 0; }, +[](Case& x) { x.second.workers = 0; },
          +[](Case& x) { x.twice = false; }, +[](Case& x) { x.skip = false; }, +[](Case& x) { x.leave = false; },
          +[](Case& x) { x.log_every = 4096; }, +[](Case& x) { x.cut /= 2; }, +[](Case& x) { x.cut -= x.cut > 0; },
          +[](Case& x) { x.first.memory_bytes = x.second.memory_bytes = int64_t{1} << 28; }}) {
      Case smaller_case = c;
      change(smaller_case);
      if (smaller_case.describe() != c.describe()) candidates.push_back(std::move(smaller_case));
    }
    for (const Case& candidate : candidates) {
      if (++tries > 600) break;
      if (!fails(candidate)) continue;
      c = candidate;
      better = true;
      break;
    }
    if (!better) break;
  }
  return c;
}

uint64_t from_environment(const char* name, uint64_t standard) {
  const char* given = std::getenv(name);
  return given ? std::strtoull(given, nullptr, 10) : standard;
}

TEST(Reference, RandomGraphsAgreeWithTheModel) {
  const uint64_t one = from_environment("STOKER_WALK_SEED", 0);
  const uint64_t walks = one ? 1 : from_environment("STOKER_WALKS", 1500);
  const uint64_t first = one ? one : from_environment("STOKER_WALK_FIRST", 1);
  const uint64_t at_most = from_environment("STOKER_WALK_FAILURES", 1);
  uint64_t compared = 0, failed = 0;
  for (uint64_t seed = first; seed < first + walks && failed < at_most; ++seed) {
    const Case c = random_case(seed);
    if (one) std::cerr << "case " << seed << ": " << c.describe() << "\n";
    Outcome outcome{};
    const std::string wrong = check(c, &outcome);
    compared += outcome == Outcome::kSame;
    if (wrong.empty()) continue;
    ++failed;
    const Case least = shrunk(c);
    std::string least_wrong;
    for (int i = 0; i < 20 && least_wrong.empty(); ++i) least_wrong = check(least);
    ADD_FAILURE() << "STOKER_WALK_SEED=" << seed << "\n"
                  << c.describe() << "\n  " << wrong << "\nor, as small as it gets:\n"
                  << least.describe() << "\n  " << least_wrong;
  }
  set_log_pace({});
  RecordProperty("compared", static_cast<int>(compared));
  if (one || failed > 0) return;
  EXPECT_GT(compared * 2, walks) << "most graphs must be comparable";
}

}  // namespace
}  // namespace stoker
