#include "stoker/torch.h"

#include <gtest/gtest.h>

#include "stoker/stoker.h"
#include "support/support.h"

namespace stoker {
namespace {

std::string complaint_about(const Array& array) {
  try {
    to_torch(array);
  } catch (const Error& error) {
    return error.message();
  }
  return "none";
}

Array three_by_two() {
  const int64_t dims[] = {3, 2};
  return Array::from(std::vector<float>{1, 2, 3, 4, 5, 6}).reshaped(dims);
}

TEST(Torch, SharesTheMemoryOfAnArray) {
  const Array array = three_by_two();
  torch::Tensor tensor = to_torch(array);
  EXPECT_EQ(tensor.data_ptr(), array.raw());
  EXPECT_EQ(tensor.sizes(), torch::IntArrayRef({3, 2}));
  EXPECT_TRUE(tensor.is_contiguous());
  tensor.mul_(2);
  EXPECT_EQ(array.values<float>()[5], 12);
}

TEST(Torch, ATensorKeepsTheMemoryAlive) {
  auto array = std::make_optional(three_by_two());
  torch::Tensor tensor = to_torch(*array);
  const torch::Tensor tail = tensor.slice(0, 1);
  EXPECT_EQ(tail.data_ptr<float>(), array->values<float>().data() + 2);
  array.reset();
  tensor.reset();
  EXPECT_EQ(tail.sum().item<float>(), 18);
}

TEST(Torch, MemoryThatBelongsToTheCallerIsCopied) {
  bool released = false;
  std::vector<int32_t> values = {1, 2, 3};
  const int64_t dims[] = {3};
  auto array = std::make_optional(
      Array::over(values.data(), dims, DType::kInt32, Buffer::wrap(values.data(), 12, [&] { released = true; })));
  torch::Tensor tensor = to_torch(*array);
  EXPECT_FALSE(released);
  array.reset();
  EXPECT_TRUE(released);
  tensor.mul_(2);
  EXPECT_EQ(tensor.sum().item<int64_t>(), 12);
  EXPECT_EQ(values, (std::vector<int32_t>{1, 2, 3}));
}

TEST(Torch, ConvertsEveryTypeThatLibTorchSupports) {
  const std::pair<DType, torch::ScalarType> pairs[] = {
      {DType::kBool, torch::kBool},       {DType::kInt8, torch::kInt8},         {DType::kInt16, torch::kInt16},
      {DType::kInt32, torch::kInt32},     {DType::kInt64, torch::kInt64},       {DType::kUint8, torch::kUInt8},
      {DType::kFloat16, torch::kFloat16}, {DType::kBfloat16, torch::kBFloat16}, {DType::kFloat32, torch::kFloat32},
      {DType::kFloat64, torch::kFloat64},
  };
  for (const auto& [ours, theirs] : pairs) {
    const Array array = Array::make({2, 3}, ours).value();
    const torch::Tensor tensor = to_torch(array);
    EXPECT_EQ(tensor.scalar_type(), theirs) << name_of(ours);
    EXPECT_EQ(tensor.nbytes(), static_cast<size_t>(array.byte_size())) << name_of(ours);
  }
}

TEST(Torch, ValuesOfHalfPrecisionAreTheSame) {
  EXPECT_EQ(to_torch(Array::of(Float16(1.5f))).item<float>(), 1.5f);
  EXPECT_EQ(to_torch(Array::of(Bfloat16(-3.0f))).item<float>(), -3.0f);
}

TEST(Torch, ANumberBecomesATensorOfRankZero) {
  const torch::Tensor tensor = to_torch(Array::of<int64_t>(7));
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_EQ(tensor.item<int64_t>(), 7);
}

TEST(Torch, ConvertsEmptyArrays) {
  const torch::Tensor tensor = to_torch(Array::make({0, 28, 28}, DType::kFloat32).value());
  EXPECT_EQ(tensor.sizes(), torch::IntArrayRef({0, 28, 28}));
  EXPECT_EQ(tensor.sum().item<float>(), 0);
}

TEST(Torch, ConvertsMoreDimensionsThanAnArrayStoresInline) {
  const Array array = Array::make({2, 1, 3, 4, 5}, DType::kUint8).value();
  EXPECT_EQ(to_torch(array).sizes(), torch::IntArrayRef({2, 1, 3, 4, 5}));
}

TEST(Torch, ErrorsForUnsupportedTypesNameAFix) {
  EXPECT_EQ(complaint_about(Array::of_bytes("PNG")),
            "a tensor cannot hold byte strings; decode or parse them in the pipeline, or drop the component");
  EXPECT_EQ(complaint_about(Array::of<uint16_t>(1)),
            "LibTorch does not support uint16; cast it to int32 or int64 in the pipeline");
  EXPECT_EQ(complaint_about(Array::of<uint64_t>(1)),
            "LibTorch does not support uint64; cast it to int32 or int64 in the pipeline");
}

Dataset pairs() {
  return numbers(10)
      .map({.map_func = [](Value x) { return tuple(cast(x, kFloat32) / 2.0f, x); }})
      .batch({.batch_size = 4});
}

TEST(Torch, ALoopUnpacksItsBatches) {
  Loader loader(pairs());
  std::vector<int64_t> sizes;
  for (auto& batch : loader) {
    auto [halves, whole] = torch_batch(batch);
    EXPECT_TRUE(torch::equal(halves * 2, whole.to(torch::kFloat32)));
    sizes.push_back(whole.size(0));
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
}

TEST(Torch, TensorsOutliveTheirLoader) {
  std::vector<torch::Tensor> kept;
  {
    Loader loader(pairs());
    for (auto& batch : loader) kept.push_back(to_torch(batch)[1]);
  }
  EXPECT_EQ(torch::cat(kept).sum().item<int64_t>(), 45);
}

TEST(Torch, WritingIntoABatchDoesNotChangeTheNextEpoch) {
  Loader loader(Dataset::from_tensor_slices({.tensors = Element(three_by_two())}).batch({.batch_size = 3}));
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& batch : loader) {
      auto [rows] = torch_batch<1>(batch);
      EXPECT_EQ(rows.sum().item<float>(), 21) << "epoch " << epoch;
      rows.zero_();
    }
}

TEST(Torch, AnotherNumberOfComponentsIsAnError) {
  const Element batch(three_by_two());
  try {
    torch_batch(batch);
    FAIL() << "one component was taken for two";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "expected a batch of 2 components, got 1: float32[3, 2]");
  }
}

}  // namespace
}  // namespace stoker
