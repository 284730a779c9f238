// A file may be truncated at any time. What the engine delivers is what was in the
// file: records whose bytes are gone fail with DataLoss, wherever they waited and
// whatever read them.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "stoker/codecs/tfrecord.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

// Longer than a page, so that some records lie on missing pages and some in the zeros of the last one.
constexpr int kRecords = 200, kRecordBytes = 1500;

std::string record(int i) { return std::string(kRecordBytes, static_cast<char>('a' + i % 26)); }

std::string file_of_records() {
  std::string file;
  for (int i = 0; i < kRecords; ++i) append_record(file, record(i));
  return file;
}

// Whether every string of the element is a record as it was written.
bool is_as_written(const Element& element) {
  for (int64_t i = 0; i < element.leaves[0].count(); ++i) {
    const Bytes text = element.leaves[0].bytes_at(i);
    if (text.size() != kRecordBytes || text[0] < 'a' || text[0] > 'z') return false;
    if (text.find_first_not_of(text[0]) != Bytes::npos) return false;
  }
  return true;
}

struct Outcome {
  int64_t good = 0, bad = 0, data_losses = 0, other_errors = 0;
  int64_t records = 0;  // in the good ones
};

Outcome rest_of(Loader& loader) {
  Outcome outcome;
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    if (!next)
      ++(next.error().code() == Code::kDataLoss ? outcome.data_losses : outcome.other_errors);
    else if (!*next)
      return outcome;
    else if (is_as_written(**next))
      ++outcome.good, outcome.records += (*next)->leaves[0].count();
    else
      ++outcome.bad;
  }
}

struct Pipeline {
  std::string name;
  std::function<Dataset(const Dataset&)> made;
};

std::vector<Pipeline> pipelines() {
  const auto copied = [](Element e) { return Element(Array::of_bytes(e.leaves[0].bytes())); };
  return {
      {"plain", [](const Dataset& ds) { return ds; }},
      {"prefetch", [](const Dataset& ds) { return ds.prefetch({.buffer_size = 300}); }},
      {"shuffle_all", [](const Dataset& ds) { return ds.shuffle({.seed = 1}); }},
      {"shuffle_some", [](const Dataset& ds) { return ds.shuffle({.buffer_size = 100, .seed = 1}); }},
      {"batch", [](const Dataset& ds) { return ds.batch({.batch_size = 4}); }},
      {"shuffled_batch",
       [](const Dataset& ds) { return ds.shuffle({.buffer_size = 100, .seed = 1}).batch({.batch_size = 4}); }},
      {"cache", [](const Dataset& ds) { return ds.cache({}); }},
      {"map", [=](const Dataset& ds) { return ds.map({.map_func = copied}); }},
      {"shuffled_map",
       [=](const Dataset& ds) { return ds.shuffle({.buffer_size = 100, .seed = 1}).map({.map_func = copied}); }},
      {"filter",
       [](const Dataset& ds) {
         return ds.filter({.predicate = [](Element e) { return e.leaves[0].bytes()[700] != '\0'; }});
       }},
      {"concatenate",
       [](const Dataset& ds) { return ds.concatenate({.dataset = ds}).shuffle({.buffer_size = 100, .seed = 1}); }},
  };
}

class Truncation : public testing::TestWithParam<Pipeline> {
 protected:
  const TempDir dir_;
  const std::string path_ = dir_.write("a.tfrecord", file_of_records());

  Dataset dataset() const { return GetParam().made(Dataset::tfrecord({.filenames = {path_}})); }
};
INSTANTIATE_TEST_SUITE_P(Every, Truncation, testing::ValuesIn(pipelines()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Truncation, DeliversNothingThatWasNotInTheFile) {
  // To nothing; inside a page; at the end of one; in the last page, of which the rest then reads as zeros.
  for (const int64_t bytes : {int64_t{0}, int64_t{100}, int64_t{8192}, int64_t{100'000},
                              static_cast<int64_t>(file_of_records().size()) - 1600}) {
    SCOPED_TRACE(bytes);
    dir_.write("a.tfrecord", file_of_records());
    Loader whole(dataset());
    const int64_t all_records = rest_of(whole).records;
    Loader loader(dataset());
    int64_t records = 0;
    for (int i = 0; i < 3; ++i) records += loader.next().value()->leaves[0].count();
    std::filesystem::resize_file(path_, static_cast<uintmax_t>(bytes));
    const Outcome rest = rest_of(loader);
    EXPECT_EQ(rest.bad, 0);
    EXPECT_EQ(rest.other_errors, 0);
    EXPECT_TRUE(rest.data_losses > 0 || records + rest.records == all_records) << rest.records;
  }
}

TEST_P(Truncation, LeavesNoDamagedRecordInACache) {
  const Dataset cached = dataset().cache({});
  {
    Loader loader(cached);
    ASSERT_TRUE(loader.next()->has_value());
    std::filesystem::resize_file(path_, 5000);
    EXPECT_EQ(rest_of(loader).bad, 0);
  }
  Loader again(cached);
  const Outcome second = rest_of(again);
  EXPECT_EQ(second.bad, 0);
  EXPECT_GT(second.good + second.data_losses, 0);
}

TEST(TruncationDuringACall, FailsTheRecordThatTheFunctionReads) {
  const TempDir dir;
  const std::string path = dir.write("a.tfrecord", file_of_records());
  const auto truncate_and_read = [path](Element e) {
    std::filesystem::resize_file(path, 0);
    return Element(Array::of_bytes(e.leaves[0].bytes()));
  };
  Loader loader(Dataset::tfrecord({.filenames = {path}}).map({.map_func = truncate_and_read}));
  const Outcome outcome = rest_of(loader);
  EXPECT_EQ(outcome.good + outcome.bad, 0);
  EXPECT_GT(outcome.data_losses, 0);
  EXPECT_EQ(outcome.other_errors, 0);
}

TEST(TruncationDuringACall, FailsTheRecordThatAPredicateWouldHaveDropped) {
  const TempDir dir;
  const std::string path = dir.write("a.tfrecord", file_of_records());
  const auto truncate_and_drop = [path](Element e) {
    std::filesystem::resize_file(path, 0);
    return e.leaves[0].bytes()[0] != '\0';
  };
  Loader loader(Dataset::tfrecord({.filenames = {path}}).filter({.predicate = truncate_and_drop}));
  const Outcome outcome = rest_of(loader);
  EXPECT_EQ(outcome.good + outcome.bad, 0);
  EXPECT_GT(outcome.data_losses, 0);
}

TEST(TruncationError, NamesTheFileAndWhatToDo) {
  const TempDir dir;
  const std::string path = dir.write("a.tfrecord", file_of_records());
  Loader loader(Dataset::tfrecord({.filenames = {path}}).prefetch({.buffer_size = 300}));
  ASSERT_TRUE(loader.next()->has_value());
  std::filesystem::resize_file(path, 0);
  const Error error = loader.next().error();
  EXPECT_EQ(error.code(), Code::kDataLoss);
  EXPECT_EQ(error.message(),
            "the file was truncated while it was read; expected it to keep its size (to replace a file that is in use, "
            "rename a complete one over it)");
  EXPECT_EQ(error.place().path, path);
}

}  // namespace
}  // namespace stoker
