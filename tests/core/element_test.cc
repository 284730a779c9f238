#include "stoker/core/element.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

Origin origin_of(int64_t position) {
  Origin origin;
  origin.position = position;
  return origin;
}

// A failed row has no value, so its structure does not matter.
TEST(Runs, TakesTheStructureOfTheFirstRowThatDidNotFail) {
  const Element pair = tuple_of({Element(Array::of<int64_t>(1)), Element(Array::of<int64_t>(2))});
  RunBuilder rows;
  rows.add(pair, origin_of(1));
  rows.add_failure(Error::corrupt("also bad"), origin_of(2), false);
  stoker::Run all = stoker::Run::failure(Error::corrupt("bad"), origin_of(0));
  all.append(rows.take());
  ASSERT_EQ(all.size, 3);
  ASSERT_EQ(all.failed.size(), 2u);
  EXPECT_EQ(all.failure_of(1), nullptr);
  EXPECT_EQ(all.element(1), pair);
}

// A file whose truncation is set by the test.
struct File final : Backing {
  bool intact() const override { return whole; }
  bool whole = true;
};

// "one" and "two", as views of a file.
Array table_in(const File& file) {
  static constexpr Bytes kText = "onetwo";
  Buffer* owner = Buffer::wrap(kText.data(), kText.size(), [] {}, &file);
  owner->set_source({"a.txt", 100});
  const Bytes views[] = {kText.substr(0, 3), kText.substr(3)};
  return Array::view_strings(views, owner);
}

TEST(TruncatedFiles, FailCopiesAndNameThePlace) {
  File file;
  const Array table = table_in(file);
  const Array rows[] = {table.row(1), table.row(0)};
  EXPECT_TRUE(Buffer::any_backed());
  EXPECT_EQ(table.clone().value(), table);
  EXPECT_EQ(stacked(rows).value(), Array::from(std::vector<std::string>{"two", "one"}));
  file.whole = false;
  EXPECT_EQ(table.clone().error().place().path, "a.txt");
  EXPECT_EQ(stacked(rows).error().code(), Code::kDataLoss);
  EXPECT_EQ(rows[0].clone().error().place().offset, 103);
}

TEST(TruncatedFiles, FailTheRowsThatWereReadFromThem) {
  File cut, kept;
  stoker::Run input;
  input.nest = Nest::leaf();
  input.size = 4;
  input.columns.emplace_back(
      Arrays{table_in(kept).row(0), table_in(cut).row(0), table_in(cut).row(1), table_in(cut).row(0)});
  input.fail(3, Error::invalid("before"));
  stoker::Run made = input;
  made.fail(1, Error::invalid("made of zeros"));
  cut.whole = false;
  made.fail_truncated(input);
  ASSERT_EQ(made.failed.size(), 3u);
  EXPECT_EQ(made.failure_of(0), nullptr);
  EXPECT_EQ(made.failure_of(1)->error.code(), Code::kDataLoss);
  EXPECT_EQ(made.failure_of(2)->error.code(), Code::kDataLoss);
  EXPECT_EQ(made.failure_of(3)->error.message(), "before");
}

// A row may be kept for a long time. It must not keep the table alive.
TEST(Tables, OfViewsKeepTheCharactersAliveAndRowsDoNotKeepTheTable) {
  bool freed = false;
  const std::string text = "onetwo";
  Buffer* owner = Buffer::wrap(text.data(), text.size(), [&] { freed = true; });
  owner->set_source({"file", 100});
  const Bytes views[] = {Bytes(text).substr(0, 3), Bytes(text).substr(3)};
  std::optional<Array> table = Array::view_strings(views, owner);
  EXPECT_EQ(*table, Array::from(std::vector<std::string>{"one", "two"}));
  std::optional<Array> row = table->row(1);
  EXPECT_EQ(row->owner(), owner);
  EXPECT_EQ(row->source()->offset, 103);
  table.reset();
  EXPECT_FALSE(freed);
  EXPECT_EQ(row->bytes(), "two");
  row.reset();
  EXPECT_TRUE(freed);
}

TEST(ElementTypes, AreDescribedWithTheNumberOfComponents) {
  const Element number(Array::of<int64_t>(1)), real(Array::of<float>(1));
  const auto described = [](const Element& element) { return ElementType::of(element).describe(); };
  EXPECT_EQ(described(number), "int64");
  EXPECT_EQ(described(tuple_of({})), "an empty tuple");
  EXPECT_EQ(described(tuple_of({number})), "a tuple of 1 component (int64)");
  EXPECT_EQ(described(tuple_of({number, real})), "a tuple of 2 components (int64, float32)");
  EXPECT_EQ(described(dict_of({{"a", tuple_of({number, real})}})), "{'a': (x, x)} of int64, float32");
}

class Bill final : public Account {
 public:
  bool take(int64_t bytes, bool) override { return owed += bytes, true; }
  void give_back(int64_t bytes) override { owed -= bytes; }
  int64_t owed = 0;
};

TEST(Tables, OfViewsAreHandedOverWithTheirCharacters) {
  const auto bill = std::make_shared<Bill>();
  const AccountScope scope(bill);
  Buffer* owner = Buffer::make_small(100);
  const Bytes view(reinterpret_cast<const char*>(owner->data()), 5);
  const Array table = Array::view_strings({&view, 1}, owner);
  EXPECT_EQ(bill->owed, 100 + static_cast<int64_t>(sizeof(Bytes)));
  table.owner()->hand_over();
  EXPECT_EQ(bill->owed, 0);
}

}  // namespace
}  // namespace stoker
