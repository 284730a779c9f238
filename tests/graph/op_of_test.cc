#include "stoker/graph/op_of.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

struct Plus {
  static constexpr std::string_view kName = "plus";
  static constexpr std::string_view kDoc = "Add a number.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t number = 1;

  void describe(Fields& f) { f("number", number, "number to add"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const { return inputs[0]; }
  Result<Array> apply(std::span<const Array> inputs, Context&) const {
    return Array::of(inputs[0].scalar<int64_t>() + number);
  }
};

struct Contributor : Plus {
  Contribution contribution() const { return Contribution::of(number); }
  static Chain chain(std::span<const ChainLink>) { return {}; }
};

TEST(OpOf, SetsThePropertiesThatTheStructHas) {
  const OpType& type = OpOf<Plus>::info();
  EXPECT_EQ(type.name, "plus");
  EXPECT_EQ(type.inputs, 1);
  EXPECT_TRUE(type.random);
  EXPECT_FALSE(type.waits);
  EXPECT_EQ(type.chain, nullptr);
  EXPECT_NE(OpOf<Contributor>::info().chain, nullptr);
}

TEST(OpOf, ReturnsTheContributionOfTheStruct) {
  const OpOf<Contributor> op(Contributor{{.number = 7}});
  const Contribution contribution = op.contribution();
  ASSERT_NE(contribution.as<int64_t>(), nullptr);
  EXPECT_EQ(*contribution.as<int64_t>(), 7);
  EXPECT_EQ(contribution.as<double>(), nullptr);
  EXPECT_EQ(OpOf<Plus>(Plus{}).contribution().as<int64_t>(), nullptr);
}

// OpOf of one of these does not compile.
struct NotConst : Plus {
  Contribution contribution() { return {}; }
};
struct WithParameter : Plus {
  Contribution contribution(int) const { return {}; }
};
struct Overloaded : Plus {
  Contribution contribution(int) const { return {}; }
  Contribution contribution(double) const { return {}; }
};
struct OtherResult : Plus {
  int contribution() const { return 0; }
};
struct NotStatic : Plus {
  Chain chain(std::span<const ChainLink>) const { return {}; }
};

template <typename T>
constexpr bool has_wrong_contribution = ContributionNamed<T>::value && !Contributes<T>;

TEST(OpOf, DetectsOptionalFunctionsWithAWrongSignature) {
  EXPECT_TRUE(has_wrong_contribution<NotConst>);
  EXPECT_TRUE(has_wrong_contribution<WithParameter>);
  EXPECT_TRUE(has_wrong_contribution<Overloaded>);
  EXPECT_TRUE(has_wrong_contribution<OtherResult>);
  EXPECT_TRUE(ChainNamed<NotStatic>::value && !StartsChains<NotStatic>);
  EXPECT_FALSE(ContributionNamed<Plus>::value || ChainNamed<Plus>::value);
  EXPECT_TRUE(Contributes<Contributor> && StartsChains<Contributor>);
}

TEST(OpRows, KeepsTheFirstErrorOfARow) {
  std::vector<Failure> failed;
  OpRows rows{3, &failed, "plus"};
  rows.fail(2, Error::invalid("second row"));
  rows.fail(0, Error::invalid("first"));
  rows.fail(0, Error::invalid("later"));
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed[0].error.message(), "first");
  EXPECT_EQ(failed[0].error.place().stage, "plus");
  EXPECT_TRUE(rows.has_failed(2));
  EXPECT_FALSE(rows.has_failed(1));
}

}  // namespace
}  // namespace stoker
