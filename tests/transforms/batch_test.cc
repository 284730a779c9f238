#include "stoker/transforms/batch.h"

#include <gtest/gtest.h>

#include "stoker/codecs/tfrecord.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Batch{.batch_size = 7}, numbers(40));
STAGE_EXAMPLE(Batch{.batch_size = 7, .drop_remainder = true}, numbers(40).then(FailSome{}));

TEST(Batch, KeepsAShortLastBatchUnlessItIsDropped) {
  EXPECT_EQ(sizes(numbers(5).batch({.batch_size = 2})), (Sizes{2, 2, 1}));
  EXPECT_EQ(sizes(numbers(5).batch({.batch_size = 2, .drop_remainder = true})), (Sizes{2, 2}));
}

TEST(Batch, StacksRowsOfAnyRank) {
  const Dataset ds = numbers(6).batch({.batch_size = 3}).batch({.batch_size = 2});
  const auto all = elements(ds);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(shape_text(all[0].leaves[0].shape()), "[2, 3]");
}

TEST(Batch, LosesNothingButTheElementThatFailed) {
  const Dataset ds = numbers(8).then(FailSome{}).batch({.batch_size = 3});
  EXPECT_EQ(values_and_errors(ds), (Values{0, 1, 2, -1'000'000, 4, 5, 6, 7}));
}

TEST(Batch, NamesBothElementsOfUnequalShape) {
  const Dataset ds = numbers(4)
                         .map({.map_func =
                                   [](int64_t x) {
                                     return Array::from(std::vector<int64_t>(static_cast<size_t>(x == 2 ? 2 : 1), x));
                                   }})
                         .batch({.batch_size = 4});
  EXPECT_EQ(
      first_error(ds),
      "cannot stack elements: element 0 is int64[1] and element 2 is int64[2]; bring them to one shape before batch, "
      "for example with resize, or with a map that crops or pads them");
}

TEST(Batch, NamesBothRecordsOfUnequalShape) {
  const TempDir folder;
  std::string one, two;
  append_record(one, "a");
  append_record(two, "b");
  append_record(two, "cc");
  const Dataset records = Dataset::tfrecord({.filenames = {folder.write("1", one), folder.write("2", two)}});
  const auto sized = [](Array record) { return Array::from(std::vector<int64_t>(record.bytes().size())); };
  const std::string both = "record 0 of " + folder.at("1") + " and record 1 of " + folder.at("2");
  for (const Dataset& ds : {records, records.take({.count = 3}), records.shard({.num_shards = 1, .index = 0})})
    EXPECT_EQ(Loader(ds.map({.map_func = sized}).batch({.batch_size = 3})).next().error().place().record, both);
}

TEST(Batch, NamesBothFilesOfUnequalShape) {
  const TempDir folder;
  const std::string a = folder.write("a", "1"), c = folder.write("c", "22");
  folder.write("b", "1");
  const Dataset ds = Dataset::list_files({.file_pattern = {folder.at("*")}, .shuffle = false})
                         .map({.map_func =
                                   [](Array path) {
                                     const auto size = std::filesystem::file_size(std::string(path.bytes_at(0)));
                                     return Array::from(std::vector<int64_t>(size));
                                   }})
                         .batch({.batch_size = 3});
  const Error error = Loader(ds).next().error();
  EXPECT_EQ(error.place().record, a + " and " + c);
  EXPECT_EQ(error.place().path, a);
  EXPECT_EQ(error.place().origin, "list_files:(0,2)");

  Loader skipping(ds, {.on_error = OnError::kSkip});
  EXPECT_FALSE(skipping.next().ok());  // every element was skipped
  ASSERT_EQ(skipping.skipped().size(), 1);
  EXPECT_EQ(skipping.skipped()[0].error.place().record, a + " and " + c);
}

TEST(Batch, FailsIfABatchWouldHaveMoreRowsThanARunCanHave) {
  const Element rows = Element(*Array::make({kMostRowsOfRun + 5, 0}, DType::kUint8));  // without bytes
  const Dataset all = Dataset::from_tensors({.tensors = rows}).unbatch({});
  for (const int64_t batch_size : {kMostRowsOfRun + 1, INT64_MAX}) {
    Loader loader(all.batch({.batch_size = batch_size}));
    EXPECT_EQ(loader.next().error().message(),
              "expected a batch of at most 2147483647 elements, got more; use a smaller batch_size");
    EXPECT_EQ((**loader.next()).leaves[0].dim(0), 5);
  }
}

TEST(Batch, RejectsASizeBelowOne) {
  EXPECT_EQ(error_of(numbers(4).batch({.batch_size = 0})), "batch: batch_size must be at least 1, got 0");
}

TEST(Batch, HasAKnownCardinality) {
  EXPECT_EQ(*numbers(5).batch({.batch_size = 2}).cardinality(), 3);
  EXPECT_EQ(*numbers(5).batch({.batch_size = 2, .drop_remainder = true}).cardinality(), 2);
}

}  // namespace
}  // namespace stoker
