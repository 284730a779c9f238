// Random nested graphs against a model: the engine under any workers, any
// budget, failures, cuts and restores gives what one thread that pulls from
// the end would give.
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
  // `ranks` of the components that come out, as far as they matter.
  Tree grow(int ops, int depth, std::vector<int>& ranks) {
    Tree tree = source(depth, ranks);
    while (ops-- > 0) tree = extended(std::move(tree), depth, ranks);
    return tree;
  }

  Tree source(int depth, std::vector<int>& ranks) {
    ranks = {0};
    if (depth > 0 && !one_in(5)) return model::stage(Kind::kRangeOf, {}, between(1, 8));
    const int64_t n = one_in(12) ? below(400) : one_in(3) ? below(60) : below(13);
    if (one_in(6)) {
      ranks = {1};
      return model::stage(Kind::kSlices, {}, below(9), between(0, 4));
    }
    if (one_in(6)) return model::stage(Kind::kGenerator, {}, n);
    return model::stage(Kind::kRange, {}, n, below(100));
  }

  Tree extended(Tree in, int depth, std::vector<int>& ranks) {
    switch (below(31)) {
      case 0:
      case 1:
      case 2: return model::stage(Kind::kMap, {in}, between(1, 50), below(1000), below(3));
      case 3:
      case 4:
      case 5: return model::stage(Kind::kFail, {in}, between(2, 9), below(1000), one_in(5));
      case 6:
      case 7: return model::stage(Kind::kFilter, {in}, between(2, 5), below(1000));
      case 8: return model::stage(Kind::kDoubt, {in}, between(2, 9), below(1000));
      case 9: ranks = {1}; return model::stage(Kind::kWiden, {in}, one_in(4) ? 300 : between(1, 40));
      case 10:
      case 11:
      case 12:
        for (int& rank : ranks) ++rank;
        return model::stage(Kind::kBatch, {in}, between(1, 6), one_in(3));
      case 13:
        if (std::ranges::count(ranks, 0) > 0) return in;
        for (int& rank : ranks) --rank;
        return model::stage(Kind::kUnbatch, {in});
      case 14:
      case 15:
      case 16: return model::stage(Kind::kShuffle, {in}, one_in(5) ? 50 : between(1, 8), below(1000), one_in(4));
      case 17:
      case 18: return model::stage(Kind::kRepeat, {in}, one_in(8) ? -1 : between(0, 3));
      case 19: return model::stage(Kind::kTake, {in}, one_in(10) ? -1 : below(21));
      case 20: return model::stage(Kind::kSkip, {in}, one_in(20) ? -1 : below(7));
      case 21: {
        const int64_t parts = between(1, 4);
        return model::stage(Kind::kShard, {in}, parts, below(parts));
      }
      case 22: {
        std::vector<int> more;
        Tree other = grow(static_cast<int>(below(4)), depth, more);
        ranks.insert(ranks.end(), more.begin(), more.end());
        return model::stage(Kind::kZip, {in, other});
      }
      case 23: return model::stage(Kind::kConcatenate, {in, varied(in)});
      case 24: ranks.insert(ranks.begin(), 0); return model::stage(Kind::kEnumerate, {in}, below(100));
      case 25: return model::stage(Kind::kCache, {in});
      case 26: return model::stage(Kind::kPrefetch, {in}, below(10));
      case 27:
      case 28: {
        if (depth >= 2) return in;
        Tree child = grow(static_cast<int>(below(4)), depth + 1, ranks);
        const int64_t fails = one_in(3) ? between(2, 6) : 0;
        if (one_in(3)) return model::stage(Kind::kFlatMap, {in}, 0, 0, fails, child);
        return model::stage(Kind::kInterleave, {in}, between(1, 5), between(1, 4), fails, child);
      }
      case 29: return model::stage(Kind::kIgnoreErrors, {in});
      default:
        if (one_in(3)) return model::stage(Kind::kAssertCardinality, {in}, below(20));
        if (!one_in(3)) return in;
        if (one_in(3)) return model::stage(Kind::kNoise, {in});
        if (one_in(2)) return model::stage(Kind::kDrawnShuffle, {in}, between(1, 8));
        return model::stage(Kind::kGlobalShuffle, {in}, below(1000));
    }
  }

  // The same stages over other numbers: elements of the same type.
  Tree varied(const Tree& tree) {
    Tree copy = model::copy_of(tree);
    vary(*copy);
    return copy;
  }
  void vary(model::Stage& stage) {
    if (stage.kind == Kind::kRange || stage.kind == Kind::kGenerator) stage.a = below(20);
    if (stage.kind == Kind::kFail || stage.kind == Kind::kFilter || stage.kind == Kind::kShuffle) stage.b = below(1000);
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
  size_t cut = 0;         // words before the checkpoint
  bool leave = false;     // the first epoch at the cut, for the second
  bool skip = false;      // errors
  bool twice = false;     // saved, restored, saved and restored
  int64_t log_every = 1;  // rows, so that short runs have entries too
  uint64_t seed = 0;

  std::string words() const {
    auto place = [](const Place& p) {
      return std::to_string(p.workers) + " workers and " + std::to_string(p.memory_bytes) + " bytes";
    };
    return model::words_of(tree) + "\n  with " + place(first) + ", cut after " + std::to_string(cut) +
           (leave ? " and left" : "") + (twice ? " twice" : "") + ", then " + place(second) +
           (skip ? ", skipping errors" : "") + ", an entry every " + std::to_string(log_every) + " rows";
  }
};

constexpr size_t kMost = 120;  // words of a pass that are compared

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

// Skipping has left nothing; what the loader says then is no element's failure.
bool tells_that_nothing_is_left(const Result<std::optional<Element>>& next) {
  return !next && next.error().message().starts_with("nothing is left to give");
}

// A pass of the engine, as words.
Words read(Loader& loader, size_t at_most) {
  Words all;
  while (all.size() < at_most) {
    Result<std::optional<Element>> next = loader.next();
    if ((next && !*next) || tells_that_nothing_is_left(next)) break;
    all.push_back(next ? model::words_of(**next) : model::words_of(next.error()));
  }
  return all;
}

Words without_errors(Words words) {
  std::erase_if(words, model::is_error);
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

// What the engine gives with nothing ahead.
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

// Nothing where the graph takes too long or is refused when built.
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
      size_t seen = 0;  // good ones
      while (seen < c.cut) {
        const std::optional<std::string> word = left.next();
        if (!word) break;
        seen += !model::is_error(*word);
      }
    } else {
      left.rest(c.cut);
    }
    left.begin_epoch();
    e.after_cut = left.rest(most);
  } catch (model::TooLong) {
    return {};
  }
  if (const bool known = model::answered(c.tree); !known || !model::passes_are_delivered(c.tree)) {
    // Then the plainest run of the engine's own is the answer.
    const Words first = std::exchange(e.first, {});
    e = plainest(c);
    if (!known) return e;
    e.first = first;
  }
  if (c.skip)
    for (Words* words : {&e.first, &e.second, &e.after_cut}) *words = without_errors(*words);
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

// What went wrong; empty when nothing did.
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

// Runs the case; its mistake in words, or nothing.
std::string check(Case c, Outcome* outcome = nullptr) {
  WatchScope watch(c.words());
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

std::vector<Tree> smaller(const Tree& tree) {
  std::vector<Tree> all;
  Tree root = model::copy_of(tree);
  std::vector<Tree*> slots;
  collect(root, slots, root);
  const size_t n = slots.size();
  for (size_t i = 0; i < n; ++i) {
    for (int change = 0; change < 6; ++change) {
      Tree copy = model::copy_of(tree);
      std::vector<Tree*> at;
      collect(copy, at, copy);
      Tree& here = *at[i];
      if (change < 2) {  // an input in its place
        if (static_cast<int>(here->inputs.size()) <= change) continue;
        Tree input = here->inputs[static_cast<size_t>(change)];
        here = input;
      } else if (change == 2) {
        if (here->a <= 1) continue;
        here->a /= 2;
      } else if (change == 3) {
        if (here->a <= 1) continue;
        --here->a;
      } else if (change == 4) {
        if (here->b == 0 || here->kind == Kind::kInterleave) continue;
        here->b = 0;
      } else {
        if (here->c == 0) continue;
        here->c = 0;
      }
      if (here->kind == Kind::kShard && here->b >= here->a) continue;
      all.push_back(std::move(copy));
    }
  }
  return all;
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
      if (smaller_case.words() != c.words()) candidates.push_back(std::move(smaller_case));
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
    if (one) std::cerr << "case " << seed << ": " << c.words() << "\n";
    Outcome outcome{};
    const std::string wrong = check(c, &outcome);
    compared += outcome == Outcome::kSame;
    if (wrong.empty()) continue;
    ++failed;
    const Case least = shrunk(c);
    std::string least_wrong;
    for (int i = 0; i < 20 && least_wrong.empty(); ++i) least_wrong = check(least);
    ADD_FAILURE() << "STOKER_WALK_SEED=" << seed << "\n"
                  << c.words() << "\n  " << wrong << "\nor, as small as it gets:\n"
                  << least.words() << "\n  " << least_wrong;
  }
  set_log_pace({});
  RecordProperty("compared", static_cast<int>(compared));
  if (one || failed > 0) return;
  EXPECT_GT(compared * 2, walks) << "most graphs must be comparable";
}

}  // namespace
}  // namespace stoker
