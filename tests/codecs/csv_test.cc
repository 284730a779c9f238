#include "stoker/codecs/csv.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

using Texts = std::vector<std::string>;

// The fields of each record, with errors as "problem at N".
std::vector<Texts> records(Bytes text, CsvDialect dialect = {}) {
  std::vector<Texts> all;
  while (!text.empty()) {
    const CsvEnd end = find_csv_end(text, true, dialect).value();
    Texts& fields = all.emplace_back();
    if (end.problem) {
      fields.push_back("problem at " + std::to_string(end.problem_at));
    } else {
      CsvFields each(text.substr(0, end.record), dialect);
      while (auto field = each.next())
        fields.push_back(field->doubled ? undoubled(field->text) : std::string(field->text));
    }
    text.remove_prefix(end.taken);
  }
  return all;
}

TEST(Csv, EndsRecordsAtAnyLineEnd) {
  EXPECT_EQ(records("a\rb\r\nc\n\rd"), (std::vector<Texts>{{"a"}, {"b"}, {"c"}, {""}, {"d"}}));
  EXPECT_EQ(records("a,\n,"), (std::vector<Texts>{{"a", ""}, {"", ""}}));
}

TEST(Csv, KeepsDelimitersLineEndsAndDoubledQuotesInQuotedFields) {
  EXPECT_EQ(records("\"a\r\nb\",\"c,\"\"d\"\"\"\n\"\",x"), (std::vector<Texts>{{"a\r\nb", "c,\"d\""}, {"", "x"}}));
  EXPECT_EQ(records("\"\"\"\""), (std::vector<Texts>{{"\""}}));
}

TEST(Csv, LosesOnlyTheLineWithAnInvalidQuote) {
  EXPECT_EQ(records("a\"b,c\nd,e"), (std::vector<Texts>{{"problem at 1"}, {"d", "e"}}));
  EXPECT_EQ(records("\"a\"b,c\nd,e"), (std::vector<Texts>{{"problem at 2"}, {"d", "e"}}));
  EXPECT_EQ(records("a,\"b\nc,d"), (std::vector<Texts>{{"problem at 2"}, {"c", "d"}}));
  EXPECT_EQ(records("a,\"b\n\"c\",d"), (std::vector<Texts>{{"problem at 5"}, {"c", "d"}}));
}

TEST(Csv, KeepsQuotesIfQuotingIsDisabled) {
  EXPECT_EQ(records("\"a;b\"\nc", {.delimiter = ';', .quotes = false}), (std::vector<Texts>{{"\"a", "b\""}, {"c"}}));
}

TEST(Csv, FindsTheSameEndForEveryPrefixOfTheText) {
  for (const Bytes text : {"a,b\r\nc", "\"x\"\"\ny\",z\nw", "\"a\"b\nc", "a\"\r\nb", "\"a\nb"}) {
    const CsvEnd whole = find_csv_end(text, true, {}).value();
    for (size_t known = 1; known < text.size(); ++known) {
      const auto end = find_csv_end(text.substr(0, known), false, {});
      if (!end) continue;
      EXPECT_EQ(end->taken, whole.taken) << text << " of which " << known;
      EXPECT_EQ(end->problem, whole.problem);
    }
  }
}

double number(Bytes text, DType type = DType::kFloat64) {
  const auto value = parse_csv_number(text, type);
  if (!value) return 12345;  // none of the expected values
  return visit_dtype(type, [&](auto zero) -> double {
    if constexpr (std::is_arithmetic_v<decltype(zero)>) return static_cast<double>(value->scalar<decltype(zero)>());
    return 12345;
  });
}

TEST(Csv, ParsesNumbersAsTensorFlowDoes) {
  EXPECT_EQ(number(" 1 ", DType::kInt32), 1);
  EXPECT_EQ(number("\v+1", DType::kInt64), 1);
  EXPECT_EQ(number("-00012", DType::kInt32), -12);
  for (const Bytes wrong : {"", " ", "1.0", "1e3", "0x10", "2147483648", "- 1", "--1", "+-1", "1 2", "1_000", "inf"})
    EXPECT_FALSE(parse_csv_number(wrong, DType::kInt32)) << wrong;
  EXPECT_EQ(number("0x1p3"), 8);
  EXPECT_EQ(number("-.5"), -0.5);
  EXPECT_EQ(number("5."), 5);
  EXPECT_EQ(number("1E+3", DType::kFloat32), 1000);
  EXPECT_EQ(number("1e400"), HUGE_VAL);
  EXPECT_EQ(number("-1e39", DType::kFloat32), -HUGE_VAL);
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("1e-99999"), 0);
  EXPECT_EQ(number("1e99999"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(number("-nan")));
  EXPECT_EQ(number("+Infinity"), HUGE_VAL);
  for (const Bytes wrong : {"", "1e", "1f", "--1", "+-1", "-", "1 2", "x"})
    EXPECT_FALSE(parse_csv_number(wrong, DType::kFloat64)) << wrong;
}

}  // namespace
}  // namespace stoker
