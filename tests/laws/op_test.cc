// Properties of every operation, checked on each OP_EXAMPLE.

#include <gtest/gtest.h>

#include <set>

#include "support/eval.h"
#include "support/law.h"
#include "support/op_example.h"

namespace stoker {
namespace {

constexpr int32_t kRows = 5;

// The rows of a run in one block, or in separate arrays.
enum class Layout { kBlock, kSeparate };
const char* name_of(Layout layout) { return layout == Layout::kBlock ? "a block" : "separate rows"; }

using Results = std::vector<Result<Element>>;

class OpLaw : public testing::TestWithParam<OpExample> {
 protected:
  static const Program& program() { return *GetParam().function.program(); }

  // Rows [first, first + n) of the example, as blocks where they can be stacked, or separately.
  static stoker::Run rows(int32_t first, int32_t n, Layout layout) {
    Columns columns(GetParam().rows(0).size());
    for (size_t k = 0; k < columns.size(); ++k) {
      Arrays each;
      for (int32_t i = 0; i < n; ++i) each.push_back(GetParam().rows(first + i)[k]);
      columns[k] = Column(std::move(each));
      if (layout == Layout::kBlock) (void)columns[k].make_dense();
    }
    stoker::Run run = run_of(std::move(columns));
    run.origins = Origins(0, 0, first, n);
    return run;
  }

  static Results results(const Program& program, stoker::Run run) {
    Context context(7, 3, nullptr);
    const Origins origins = run.origins;
    context.set_origins(&origins);
    const Result<void> done = program.apply(run, context);
    Results all;
    for (int32_t i = 0; i < run.size; ++i) {
      const Failure* failure = run.failure_of(i);
      if (!done)
        all.emplace_back(done.error());
      else if (failure)
        all.emplace_back(failure->error);
      else
        all.emplace_back(run.element(i));
    }
    return all;
  }

  // Each row in a run of its own.
  static Results results_alone() {
    Results all;
    for (int32_t i = 0; i < kRows; ++i) all.push_back(results(program(), rows(i, 1, Layout::kSeparate))[0]);
    return all;
  }

  static void expect_same(const Results& found, const Results& expected, const std::string& how) {
    ASSERT_EQ(found.size(), expected.size()) << how;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(found[i].ok()) << how << ", row " << i << ": " << found[i].error().describe();
      ASSERT_TRUE(expected[i].ok()) << how << ", row " << i << ": " << expected[i].error().describe();
      EXPECT_EQ(*found[i], *expected[i]) << how << ", row " << i;
    }
  }
};

std::string op_law_name(const testing::TestParamInfo<OpExample>& info) {
  return std::string(info.param.type->name) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Every, OpLaw, testing::ValuesIn(op_examples()), op_law_name);

TEST_P(OpLaw, ARunHasTheResultsOfItsRowsAlone) {
  const Results alone = results_alone();
  for (const Layout layout : {Layout::kBlock, Layout::kSeparate}) {
    const stoker::Run run = rows(0, kRows, layout);
    expect_same(results(program(), run), alone, name_of(layout));
    for (int32_t i = 0; i < kRows; ++i)
      EXPECT_EQ(run.element(i), rows(i, 1, Layout::kSeparate).element(0)) << "the operation has changed its input";
  }
}

TEST_P(OpLaw, AFailedRowStaysFailedAndChangesNoOtherRow) {
  const Results alone = results_alone();
  for (const Layout layout : {Layout::kBlock, Layout::kSeparate}) {
    stoker::Run run = rows(0, kRows, layout);
    run.fail(2, Error::corrupt("bad row"));
    Results found = results(program(), run);
    ASSERT_FALSE(found[2].ok());
    EXPECT_EQ(found[2].error().message(), "bad row");
    found[2] = alone[2];
    expect_same(found, alone, name_of(layout));
  }
}

TEST_P(OpLaw, HasTheSameResultsAfterItWasWrittenAsJson) {
  const Result<std::shared_ptr<const Program>> again = read_again(program());
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ((*again)->describe(), program().describe());
  expect_same(results(**again, rows(0, kRows, Layout::kBlock)), results(program(), rows(0, kRows, Layout::kBlock)),
              "from JSON");
}

// How much of the shape of the inputs is known before running.
enum class Known { kDims, kRank, kType };

Spec spec_of(const Arrays& arguments, Known known) {
  Spec spec = stoker::spec_of(arguments);
  for (LeafSpec& leaf : spec.leaves) {
    if (known == Known::kType) leaf.shape.reset();
    if (known == Known::kRank) leaf.shape->assign(leaf.shape->size(), -1);
  }
  return spec;
}

TEST_P(OpLaw, TheSpecComputedBeforeRunningFitsTheResults) {
  const Results alone = results_alone();
  for (int32_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(alone[static_cast<size_t>(i)].ok()) << alone[static_cast<size_t>(i)].error().describe();
    const Spec found = alone[static_cast<size_t>(i)]->spec();
    for (const Known known : {Known::kDims, Known::kRank, Known::kType}) {
      const Result<Spec> spec = program().spec(spec_of(GetParam().rows(i), known));
      ASSERT_TRUE(spec.ok()) << spec.error().describe();
      EXPECT_EQ(common(*spec, found), *spec)
          << spec->describe() << " was computed for " << spec_of(GetParam().rows(i), known).describe()
          << ", the result is " << found.describe();
    }
  }
}

TEST_P(OpLaw, ResultsDependOnTheElementExactlyIfTheOperationIsMarkedRandom) {
  constexpr int32_t kDraws = 64;
  std::set<std::string> different;
  for (int32_t i = 0; i < kDraws; ++i) {
    stoker::Run run = rows(0, 1, Layout::kBlock);
    run.origins = Origins(0, 0, i, 1);
    const Results result = results(program(), run);
    ASSERT_TRUE(result[0].ok()) << result[0].error().describe();
    const Array& leaf = result[0]->leaves[0];
    different.insert(shape_text(leaf.shape()) +
                     (leaf.type() == DType::kBytes
                          ? leaf.describe()
                          : std::string(static_cast<const char*>(leaf.raw()), static_cast<size_t>(leaf.byte_size()))));
  }
  EXPECT_EQ(different.size() > 1, GetParam().type->random);
}

// The operations that are marked with kByItem.
std::vector<OpExample> by_item_examples() {
  std::vector<OpExample> all = op_examples();
  std::erase_if(all, [](const OpExample& example) { return !example.type->by_item; });
  return all;
}

class ByItemLaw : public OpLaw {};
INSTANTIATE_TEST_SUITE_P(Every, ByItemLaw, testing::ValuesIn(by_item_examples()), op_law_name);

TEST_P(ByItemLaw, TheResultForABatchIsTheBatchOfTheResults) {
  const Results alone = results_alone();
  Arrays inputs, expected;
  for (size_t k = 0; k < GetParam().rows(0).size(); ++k) {
    Arrays each;
    for (int32_t i = 0; i < kRows; ++i) each.push_back(GetParam().rows(i)[k]);
    inputs.push_back(stacked(each).value());
  }
  for (const Result<Element>& result : alone) expected.push_back(result.value().leaves[0]);
  Columns columns;
  for (const Array& input : inputs) columns.emplace_back(Arrays{input});
  const Results found = results(program(), run_of(std::move(columns)));
  ASSERT_TRUE(found[0].ok()) << found[0].error().describe();
  EXPECT_EQ(found[0]->leaves[0], stacked(expected).value());
}

Dataset elements_of(const OpExample& example) {
  return Dataset::from_generator({.generator = [rows = example.rows]() -> NextElement {
    return [rows, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == 4 * kRows) return std::optional<Element>();
      const Arrays row = rows(i++);
      InlineVector<Array, 2> leaves;
      for (const Array& leaf : row) leaves.push_back(leaf);
      const Nest* nest = row.size() == 1 ? Nest::leaf() : Nest::tuple_of_leaves(row.size());
      return std::optional<Element>(Element(nest, std::move(leaves)));
    };
  }});
}

TEST_P(OpLaw, WorkersAndBatchesDoNotChangeTheResults) {
  WatchScope watch(GetParam().name);
  const auto mapped = [] {
    set_seed(7);
    return elements_of(GetParam()).map({.map_func = GetParam().function});
  };
  std::vector<std::string> expected;
  for (const int workers : {0, 1, 3}) {
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 24});
    const std::vector<std::string> found = text_of(mapped());
    ASSERT_EQ(found.size(), size_t{4 * kRows});
    for (const std::string& words : found) EXPECT_FALSE(words.starts_with("error: ")) << words;
    if (expected.empty()) expected = found;
    EXPECT_EQ(found, expected) << workers << " workers";
    const std::vector<std::string> batched = text_of(mapped().batch({.batch_size = 4}).unbatch({}));
    const bool stacks =
        std::ranges::none_of(batched, [](const std::string& words) { return words.starts_with("error: "); });
    if (stacks) {
      EXPECT_EQ(batched, expected) << workers << " workers, in batches";
    }
  }
}

TEST(OpLaws, EveryOperationHasAnExample) {
  std::set<std::string_view> seen;
  for (const OpExample& example : op_examples()) seen.insert(example.type->name);
  for (const OpType* type : registry().ops())
    EXPECT_TRUE(seen.contains(type->name))
        << "ops.def lists '" << type->name << "': add an OP_EXAMPLE to the test of its header in tests/ops";
}

}  // namespace
}  // namespace stoker
