#include "stoker/sources/csv.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

Array required(DType type) { return Array::make({0}, type).value(); }
Array text(Bytes value) { return Array::of_bytes(value); }

// Written once: the laws build the example again while other loaders read the files.
Csv example() {
  static const TempDir dir;
  static const std::vector<std::string> files = {dir.write("a.csv", "name,age\nann,31\n\"bo, jr\",\n"),
                                                 dir.write("b.csv", "name,age\r\nx,1,2\r\nc,x\r\nd,4")};
  return {.filenames = files, .record_defaults = {required(DType::kBytes), Array::of(int32_t{-1})}, .header = true};
}

DATASET_EXAMPLE(Dataset::csv(example()));

std::vector<std::string> words(const Csv& csv) { return text_of(Dataset::csv(csv)); }

TEST(CsvSource, YieldsATupleForEachRecordAndContinuesAfterABadOne) {
  const std::string b = example().filenames[1];
  EXPECT_EQ(Dataset::csv(example()).element_spec().describe(), "(0: string[], 1: int32[])");
  EXPECT_EQ(words(example()),
            (std::vector<std::string>{"string[] 'ann';int32[] 31;", "string[] 'bo, jr';int32[] -1;",
                                      "error: " + b + ", line 2: the record has 3 columns, expected 2",
                                      "error: " + b + ", line 3: column 'age' is 'x', expected int32",
                                      "string[] 'd';int32[] 4;"}));
}

TEST(CsvSource, NamesTheFileLineAndByteOfABadRecord) {
  const TempDir dir;
  const std::string path = dir.write("a.csv", "\xef\xbb\xbf\"a\nb\",1\r\nc,\"d\ne,5\n");
  Loader loader(
      Dataset::csv({.filenames = {path}, .record_defaults = {required(DType::kBytes), Array::of(int64_t{0})}}));
  EXPECT_EQ((*loader.next())->leaves[0].bytes(), "a\nb");
  const auto wrong = loader.next();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(), path + ", line 3: a quoted field is not closed: c,\"d");
  EXPECT_EQ(wrong.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(wrong.error().place().path, path);
  EXPECT_EQ(wrong.error().place().offset, 14);
  EXPECT_EQ((*loader.next())->leaves[0].bytes(), "e");
}

TEST(CsvSource, RejectsCompressedDataWithoutACompressionTypeAndContinuesWithTheNextFile) {
  const TempDir dir;
  const std::string zipped = dir.write("a.csv.gz", gzipped("x\n1\n2\n"));
  const std::string plain = dir.write("b.csv", "x\n3\n");
  for (const bool header : {true, false})
    EXPECT_EQ(words({.filenames = {zipped, plain}, .record_defaults = {text("")}, .header = header})[0],
              "error: " + zipped + " is GZIP data, expected text; set compression_type to \"GZIP\" or \"AUTO\"");
  const Array number = required(DType::kInt32);
  EXPECT_EQ(words({.filenames = {zipped, plain}, .record_defaults = {number}, .header = true})[1], "int32[] 3;");
  EXPECT_EQ(
      words({.filenames = {zipped, plain}, .record_defaults = {number}, .compression_type = "AUTO", .header = true}),
      (std::vector<std::string>{"int32[] 1;", "int32[] 2;", "int32[] 3;"}));
}

TEST(CsvSource, SelectsOrExcludesColumns) {
  const TempDir dir;
  const std::string path = dir.write("a.csv", "1,2,3\n4,5\n");
  const Array number = required(DType::kInt32);
  EXPECT_EQ(words({.filenames = {path}, .record_defaults = {number}, .select_cols = {2}}),
            (std::vector<std::string>{
                "int32[] 3;", "error: " + path + ", line 2: the record has 2 columns, but column 2 is selected"}));
  EXPECT_EQ(words({.filenames = {path}, .record_defaults = {number, number}, .exclude_cols = {1}}),
            (std::vector<std::string>{"int32[] 1;int32[] 3;",
                                      "error: " + path + ", line 2: the record has 2 columns, expected 3"}));
}

TEST(CsvSource, NamesTheColumnOfAnError) {
  const TempDir dir;
  const std::string path = dir.write("a.csv", "name,\"the \"\"age\"\"\"\nann,old\nbo,\n");
  const std::vector<Array> types = {required(DType::kBytes), required(DType::kInt32)};
  EXPECT_EQ(
      words({.filenames = {path}, .record_defaults = types, .header = true}),
      (std::vector<std::string>{"error: " + path + ", line 2: column 'the \"age\"' is 'old', expected int32",
                                "error: " + path + ", line 3: column 'the \"age\"' is empty and has no default"}));
  const std::vector<std::string> without = words({.filenames = {path}, .record_defaults = types});
  ASSERT_EQ(without.size(), 3u);
  EXPECT_EQ(without[0], "error: " + path +
                            ", line 1: column 1 is 'the \"\"age\"\"', expected int32; set `header` if line 1 "
                            "contains the names of the columns");
  EXPECT_EQ(without[1], "error: " + path + ", line 2: column 1 is 'old', expected int32");
}

TEST(CsvSource, UsesDefaultsForEmptyFieldsAndTheNaValue) {
  const TempDir dir;
  const std::string path = dir.write("a.csv", "NA;\n\"\";2\n;NA\n");
  const Array none = required(DType::kFloat32);
  EXPECT_EQ(words({.filenames = {path}, .record_defaults = {text("d"), none}, .field_delim = ";", .na_value = "NA"}),
            (std::vector<std::string>{"error: " + path + ", line 1: column 1 is empty and has no default",
                                      "string[] 'd';float32[] 2;",
                                      "error: " + path + ", line 3: column 1 is empty and has no default"}));
}

TEST(CsvSource, ReadsCompressedFilesAndTextThatIsNotUtf8) {
  const TempDir dir;
  const std::string path = dir.write("a.csv.gz", gzipped("\xff,1\n") + gzipped("b,2\n"));
  const Dataset ds = Dataset::csv(
      {.filenames = {path}, .record_defaults = {text(""), Array::of(int64_t{0})}, .compression_type = "GZIP"});
  EXPECT_EQ(elements(ds)[0].leaves[0].bytes(), "\xff");
  EXPECT_EQ(values(ds), (Values{1, 2}));
}

TEST(CsvSource, LimitsTheLengthOfAQuotedField) {
  const TempDir dir;
  std::string many = "\"a\n";
  for (int i = 0; i < 3'000'000; ++i) many += "12345\n";
  const Dataset ds = Dataset::csv({.filenames = {dir.write("a", many)}, .record_defaults = {required(DType::kInt32)}});
  Loader loader(ds);
  EXPECT_FALSE(loader.next().ok());
  EXPECT_EQ((*loader.next())->leaves[0], Array::of(int32_t{12345}));
  const std::string line(17 << 20, 'x');
  const std::string path = dir.write("b", "a\n" + line + line + "\nb\n");
  EXPECT_EQ(words({.filenames = {path}, .record_defaults = {text("")}}),
            (std::vector<std::string>{
                "string[] 'a';", "error: " + path + ", line 2: the record is too long: " + std::string(40, 'x') + "…",
                "string[] 'b';"}));
}

TEST(CsvSource, ReturnsOneErrorForAnUnreadableFileAndContinuesWithTheNext) {
  const TempDir dir;
  const std::string zipped = gzipped("1\n2\n3\n");
  const std::string cut = dir.write("cut", zipped.substr(0, zipped.size() - 5)), good = dir.write("good", gzipped("7"));
  EXPECT_EQ(values_and_errors(Dataset::csv({.filenames = {dir.at("gone"), cut, good},
                                            .record_defaults = {required(DType::kInt32)},
                                            .compression_type = "GZIP"})),
            (Values{-1'000'000, 1, 2, 3, -1'000'000, 7}));
  const std::string none = dir.write("none", "");
  EXPECT_EQ(first_error(Dataset::csv({.filenames = {none}, .record_defaults = {text("")}, .header = true})),
            none + " is empty, expected a header");
}

TEST(CsvSource, SkipsAHeaderThatBreaksTheRules) {
  const TempDir dir;
  EXPECT_EQ(values_and_errors(Dataset::csv({.filenames = {dir.write("a", "x\"y\n1\n2\n"), dir.write("b", "x\n3\n")},
                                            .record_defaults = {required(DType::kInt32)},
                                            .header = true})),
            (Values{-1'000'000, 1, 2, 3}));
}

TEST(CsvSource, ContinuesFromACheckpoint) {
  const TempDir dir;
  std::string rows;
  for (int i = 0; i < 300; ++i) rows += i % 50 == 49 ? "\"x\n" : std::to_string(i) + "\n";
  const Dataset ds = Dataset::csv({.filenames = {dir.write("a", rows), dir.write("b", rows)},
                                   .record_defaults = {required(DType::kInt32)},
                                   .header = true});
  Loader first(ds);
  for (int i = 0; i < 450; ++i) (void)first.next();
  const std::string saved = *first.save();
  Loader second(ds);
  ASSERT_TRUE(second.restore(saved).ok());
  EXPECT_EQ(text_of_rest(second), text_of_rest(first));
}

TEST(CsvSource, RejectsInvalidParameters) {
  const Array number = required(DType::kInt32);
  const auto wrong = [&](Csv csv) {
    csv.filenames = {"a"};
    return error_of(Dataset::csv(csv));
  };
  EXPECT_EQ(wrong({}), "csv: record_defaults is empty, expected one value for each column");
  EXPECT_EQ(wrong({.record_defaults = {number}, .field_delim = "ab"}), "csv: field_delim is 'ab', expected one byte");
  EXPECT_EQ(wrong({.record_defaults = {number}, .field_delim = "\n"}),
            "csv: field_delim is '\\x0a', which ends records or quotes fields; choose another byte");
  EXPECT_EQ(wrong({.record_defaults = {number}, .select_cols = {0}, .exclude_cols = {1}}),
            "csv: select_cols and exclude_cols are both set, expected at most one of them");
  EXPECT_EQ(wrong({.record_defaults = {number, number}, .select_cols = {2, 1}}),
            "csv: select_cols contains 1 after 2, expected increasing numbers");
  EXPECT_EQ(wrong({.record_defaults = {number}, .exclude_cols = {-1}}),
            "csv: exclude_cols contains -1, columns are numbered from 0");
  EXPECT_EQ(wrong({.record_defaults = {number}, .select_cols = {0, 1}}),
            "csv: select_cols has 2 columns, but record_defaults has 1");
  EXPECT_EQ(wrong({.record_defaults = {Array::from(std::vector<int32_t>{1, 2})}}),
            "csv: record_defaults[0] has shape [2], expected one value or an empty array");
  EXPECT_EQ(wrong({.record_defaults = {Array::of(true)}}),
            "csv: record_defaults[0] is bool, expected int32, int64, float32, float64 or string");
}

}  // namespace
}  // namespace stoker
