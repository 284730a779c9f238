#include "stoker/graph/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker {
namespace {

// Has a parameter of each kind.
struct Batch {
  int64_t batch_size = 0;
  bool drop_remainder = false;
  int workers = 1;
  double share = 0.5;
  std::string name = "b";
  DType dtype = DType::kInt32;
  std::optional<int64_t> limit;
  std::vector<std::string> files;

  void describe(Fields& f) {
    f.required("batch_size", batch_size, "elements in a batch");
    f("drop_remainder", drop_remainder);
    f("workers", workers);
    f("share", share);
    f("name", name);
    f("dtype", dtype);
    f("limit", limit);
    f("files", files);
  }
};

Result<Batch> read_json(const Json& json) {
  Batch batch;
  Fields fields;
  batch.describe(fields);
  ReadContext context;
  STOKER_TRY(read_fields(fields, json, context, "batch", {"stage"}));
  return batch;
}

Result<Batch> read(std::string_view text) { return read_json(parse_json(text).value()); }

std::string error_in(std::string_view text) {
  const Result<Batch> batch = read(text);
  return batch ? "" : batch.error().message();
}

Json written(Batch batch) {
  Fields fields;
  batch.describe(fields);
  Json json = Json::dict();
  WriteContext context;
  EXPECT_TRUE(write_fields(fields, json, context).ok());
  return json;
}

TEST(Fields, AreReadAsTheyWereWritten) {
  Batch batch{.batch_size = INT64_MIN,
              .drop_remainder = true,
              .workers = -7,
              .share = 1e-300,
              .name = "naïve",
              .dtype = DType::kBytes,
              .limit = 3,
              .files = {"a", "b"}};
  const Json json = written(batch);
  const Batch again = read_json(parse_json(json.text()).value()).value();
  EXPECT_EQ(written(again), json);
  EXPECT_EQ(again.files, batch.files);
  EXPECT_EQ(again.share, batch.share);
}

TEST(Fields, AreWrittenWithTheirDefaultsAndWithoutNulls) {
  EXPECT_EQ(written(Batch{}).text(),
            R"({"batch_size":0,"drop_remainder":false,"workers":1,"share":0.5,"name":"b","dtype":"int32","files":[]})");
}

TEST(Fields, ReportTheParameterAndWhatWasExpected) {
  EXPECT_EQ(error_in(R"({"bach_size": 3})"), "batch: no parameter named 'bach_size'; did you mean 'batch_size'?");
  EXPECT_EQ(error_in(R"({"batch_size": 3, "verbose": 1})"),
            "batch: no parameter named 'verbose'; its parameters are batch_size, drop_remainder, workers, share, name, "
            "dtype, limit "
            "and files");
  EXPECT_EQ(error_in(R"({})"), "batch: parameter 'batch_size' is missing");
  EXPECT_EQ(error_in(R"({"batch_size": 3, "batch_size": 4})"), "batch: parameter 'batch_size' is present twice");
  EXPECT_EQ(error_in(R"({"batch_size": "3"})"), "batch: 'batch_size': expected an integer, got a string");
  EXPECT_EQ(error_in(R"({"batch_size": 1.5})"), "batch: 'batch_size': expected an integer, got 1.5");
  EXPECT_EQ(error_in(R"({"batch_size": 1e30})"), "batch: 'batch_size': expected an integer, got 1e+30");
  EXPECT_EQ(error_in(R"({"batch_size": 1, "workers": 3000000000})"),
            "batch: 'workers': expected an integer of 32 bits, got 3000000000");
  EXPECT_EQ(error_in(R"({"batch_size": 1, "drop_remainder": 1})"),
            "batch: 'drop_remainder': expected true or false, got an integer");
  EXPECT_EQ(error_in(R"({"batch_size": 1, "dtype": "int33"})"),
            "batch: 'dtype': expected the name of a dtype, got 'int33'; did you mean 'int32'?");
  EXPECT_EQ(error_in(R"({"batch_size": 1, "files": ["a", 2]})"),
            "batch: 'files', item 1: expected a string, got an integer");
  EXPECT_EQ(error_in(R"([1])"), "batch: expected an object of parameters, got a list");
}

TEST(Fields, IgnoreReservedKeys) { EXPECT_TRUE(read(R"({"stage": "batch", "batch_size": 1})").ok()); }

TEST(Fields, AcceptEveryNotationOfAWholeNumber) {
  EXPECT_EQ(read(R"({"batch_size": 1e3})")->batch_size, 1000);
  EXPECT_EQ(read(R"({"batch_size": 4.0})")->batch_size, 4);
  EXPECT_EQ(read(R"({"batch_size": 1, "share": 2})")->share, 2.0);
  EXPECT_EQ(read(R"({"batch_size": 1, "limit": null})")->limit, std::nullopt);
  EXPECT_EQ(read(R"({"batch_size": 1, "files": "one"})")->files, (std::vector<std::string>{"one"}));
}

TEST(Fields, PreserveNonFiniteNumbers) {
  Batch batch{.batch_size = 1, .share = -std::numeric_limits<double>::infinity()};
  EXPECT_EQ(read_json(parse_json(written(batch).text()).value())->share, batch.share);
  EXPECT_TRUE(std::isnan(read(R"({"batch_size": 1, "share": "nan"})")->share));
}

TEST(Fields, PreserveBytesThatAreNotUtf8) {
  Batch batch{.batch_size = 1, .name = std::string("\xff\x00\x80", 3)};
  const Json json = written(batch);
  EXPECT_EQ(json.find("name")->text(), R"({"base64":"/wCA"})");
  EXPECT_EQ(read_json(parse_json(json.text()).value())->name, batch.name);
}

TEST(Fields, CanBeTwoMembersUnderOneName) {
  int64_t height = 0, width = 0;
  Fields fields;
  fields.required("size", height, width, "height and width");
  const auto read = [&](const char* text) {
    ReadContext context;
    const Result<void> done = read_fields(fields, parse_json(text).value(), context, "resize");
    return done ? "" : done.error().message();
  };
  EXPECT_EQ(read(R"({"size": [3, 4]})"), "");
  EXPECT_EQ(height, 3);
  EXPECT_EQ(width, 4);
  WriteContext context;
  Json json = Json::dict();
  ASSERT_TRUE(write_fields(fields, json, context).ok());
  EXPECT_EQ(json.text(), parse_json(R"({"size": [3, 4]})").value().text());
  EXPECT_NE(read(R"({"size": [3]})").find("expected two integers, got 1"), std::string::npos);
}

struct Holds {
  Array array;
  std::vector<Array> several;
  int64_t count = 0;
  void describe(Fields& f) {
    f("array", array);
    f("several", several);
    f("count", count);
  }
};

Result<Holds> read_given(std::string_view text) {
  Holds holds;
  Fields fields;
  holds.describe(fields);
  ReadContext context;
  context.given = {Array::of<int64_t>(7), std::string("not an array")};
  STOKER_TRY(read_fields(fields, parse_json(text).value(), context, "holds"));
  return holds;
}

TEST(Fields, CopyGivenObjectsOfTheirType) {
  const Holds holds = *read_given(R"({"array": {"given": 0}, "several": [{"given": 0}, {"given": 0}]})");
  EXPECT_EQ(holds.array, Array::of<int64_t>(7));
  EXPECT_EQ(holds.several.size(), 2u);
  EXPECT_EQ(read_given(R"({"array": {"given": 1}})").error().message(),
            "holds: 'array': expected array, got an object of another type");
  EXPECT_EQ(read_given(R"({"array": {"given": 2}})").error().message(),
            "holds: 'array': expected the number of one of 2 given objects, got 2");
  EXPECT_FALSE(read_given(R"({"array": {"given": -1}})").ok());
  EXPECT_FALSE(read_given(R"({"count": {"given": 0}})").ok());
}

}  // namespace
}  // namespace stoker
