#include "stoker/sources/jsonl_features.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/core/rng.h"
#include "stoker/core/shown.h"
#include "stoker/sources/jsonl.h"
#include "support/allocations.h"
#include "support/limited_account.h"
#include "support/support.h"

namespace stoker {
namespace {

// The plain version: it reads the tree of the whole text.
class Plain {
 public:
  Plain(DType type, std::vector<int64_t> shape) : type_(type), dims_(std::move(shape)) {}

  // "an error" or the shape and the items of the array.
  std::string read(const std::string& line) {
    const Result<Json> object = parse_json(line);
    if (!object) {
      constexpr std::string_view kPlace = "not JSON at line 1, ";
      const std::string message = object.error().message();
      const bool has_place = message.starts_with(kPlace);
      return (has_place ? "not valid JSON at " + message.substr(kPlace.size()) : "not valid JSON: " + message) + ": " +
             shown(line);
    }
    if (!object->as<Json::Dict>()) return "expected an object, got " + std::string(object->describe_kind());
    const Json* value = nullptr;
    for (const auto& [key, item] : *object->as<Json::Dict>())
      if (key == "a") value = &item;
    if (!value) return "'a': the key is missing and the feature has no default";
    if (value->is_null()) return "'a': the value is null and the feature has no default";
    add(*value, 0);
    if (error_.empty())
      for (const Json* item : items_) check(*item);
    if (!error_.empty()) return "'a': " + error_;
    for (int64_t& dim : dims_) dim = std::max<int64_t>(dim, 0);
    std::string text = shape_text(dims_);
    for (const Json* item : items_) text += " " + item->text();
    return text;
  }

 private:
  void fail(const std::string& error) {
    if (error_.empty()) error_ = error;
  }
  void add(const Json& value, size_t depth) {
    if (!error_.empty()) return;
    if (depth == dims_.size()) return items_.push_back(&value);
    const auto* list = value.as<Json::List>();
    if (!list)
      return fail("expected a list of rank " + std::to_string(dims_.size() - depth) + ", got " +
                  std::string(value.describe_kind()));
    const auto size = static_cast<int64_t>(list->size());
    if (dims_[depth] < 0) dims_[depth] = size;
    if (dims_[depth] != size)
      return fail("expected a list of " + std::to_string(dims_[depth]) + " items, got " + std::to_string(size));
    for (const Json& item : *list) add(item, depth + 1);
  }
  void check(const Json& item) {
    const auto* whole = item.as<int64_t>();
    if (type_ == DType::kInt8 ? whole != nullptr : item.as<std::string>() != nullptr) {
      if (whole && !std::in_range<int8_t>(*whole)) fail(std::to_string(*whole) + " does not fit int8");
      return;
    }
    fail("expected " + std::string(name_of(type_)) + ", got " + std::string(item.describe_kind()));
  }

  const DType type_;
  std::vector<int64_t> dims_;
  std::vector<const Json*> items_;
  std::string error_;
};

std::string read(const JsonLines& stage, const std::string& line) {
  Context context;
  const Result<Element> element =
      stage.load(tuple_of({Element(Array::of_bytes(line)), Element(Array::of(int64_t{1}))}), context);
  if (!element) return element.error().message().substr(std::string_view(", line 1: ").size());
  const Array& array = element->leaves[0];
  std::string text = shape_text(array.shape());
  for (int64_t i = 0; i < array.count(); ++i)
    text += " " + (array.type() == DType::kBytes ? Json(array.bytes_at(i)).text()
                                                 : std::to_string(array.values<int8_t>()[static_cast<size_t>(i)]));
  return text;
}

// Values of all kinds; mostly nested lists of equal lengths.
std::string random_value(Rng& rng, int depth, const std::string& usual) {
  if (rng.below(40) == 0) {
    const std::vector<std::string> odd{"null",         "1.5",          "true",  "300", "[]",
                                       "{\"a\": [1]}", "\"a\\u00fc\"", "[[1]]", "{",   "\x01"};
    return odd[static_cast<size_t>(rng.below(static_cast<int64_t>(odd.size())))];
  }
  if (depth == 0) return usual;
  const int64_t n = rng.below(12) == 0 ? rng.below(4) : 2;
  std::string list;
  for (int64_t i = 0; i < n; ++i) list += (i > 0 ? ", " : "") + random_value(rng, depth - 1, usual);
  return "[" + list + "]";
}

TEST(JsonFeatures, EqualTheTreeOfTheLine) {
  Rng rng(1, 2, 3, 4);
  for (int i = 0; i < 20'000; ++i) {
    const bool text = rng.below(2) == 0;
    std::vector<int64_t> shape;
    for (int64_t rank = rng.below(4); rank > 0; --rank) shape.push_back(rng.below(3) == 0 ? 2 : -1);
    const int depth = static_cast<int>(rng.below(8) == 0 ? rng.below(4) : static_cast<int64_t>(shape.size()));
    const auto value = [&] { return random_value(rng, depth, text ? "\"word\"" : "7"); };
    std::string line = "{\"b\": " + value();
    for (int64_t keys = rng.below(10) == 0 ? rng.below(3) : 1; keys > 0; --keys) line += ", \"a\": " + value();
    line += ", \"c\": {\"a\": " + value() + "}}";
    if (rng.below(50) == 0) line = value();
    const DType type = text ? DType::kBytes : DType::kInt8;
    const JsonLines stage{.filenames = {"x"}, .names = {"a"}, .dtypes = {type}, .shapes = {shape}};
    ASSERT_EQ(read(stage, line), Plain(type, shape).read(line)) << line << " " << shape_text(shape);
  }
}

// A long line takes the memory of its requested values, which is charged, and little else.
TEST(JsonFeatures, TakeNoMemoryForTheTreeOfTheLine) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has operator new";
  std::string ones = "[1", lists = "[[]", texts = "[\"a\"";
  for (int i = 0; i < 300'000; ++i) ones += ",1", lists += ",[]", texts += ",\"a\"";
  const std::string line = "{\"b\": " + lists + "], \"c\": " + texts + "], \"a\": " + ones + "]}";
  const JsonLines stage{.filenames = {"x"}, .names = {"a"}, .dtypes = {DType::kInt8}, .shapes = {{-1}}};
  const auto size = static_cast<int64_t>(line.size());
  const Element input = tuple_of({Element(Array::of_bytes(line)), Element(Array::of(int64_t{1}))});
  const auto account = std::make_shared<LimitedAccount>(int64_t{1} << 30);
  {
    const AccountScope scope(account);
    Context context;
    reset_most_bytes();
    const Result<Element> element = stage.load(input, context);
    EXPECT_LE(most_bytes(), size);
    ASSERT_TRUE(element.ok());
    EXPECT_EQ(element->leaves[0].count(), 300'001);
  }
  EXPECT_LE(account->most(), size + 4 * 300'001);
  EXPECT_EQ(account->held(), 0);
  const AccountScope scope(std::make_shared<LimitedAccount>(100'000));
  Context context;
  EXPECT_EQ(stage.load(input, context).error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace stoker
