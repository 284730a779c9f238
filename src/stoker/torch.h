#pragma once

// Converts batches to LibTorch tensors. This is the only header that includes
// third-party headers: programs that include it must find and link LibTorch
// themselves.
#include <torch/types.h>

#include <array>
#include <memory>
#include <vector>

#include "stoker/core/element.h"

namespace stoker {

// Returns the LibTorch type of a Stoker type. Throws Error for byte strings and
// for uint16, uint32 and uint64.
inline torch::ScalarType torch_type(DType type) {
  switch (type) {
    case DType::kBool: return torch::kBool;
    case DType::kInt8: return torch::kInt8;
    case DType::kInt16: return torch::kInt16;
    case DType::kInt32: return torch::kInt32;
    case DType::kInt64: return torch::kInt64;
    case DType::kUint8: return torch::kUInt8;
    case DType::kFloat16: return torch::kFloat16;
    case DType::kBfloat16: return torch::kBFloat16;
    case DType::kFloat32: return torch::kFloat32;
    case DType::kFloat64: return torch::kFloat64;
    case DType::kBytes:
      throw Error::invalid(
          "a tensor cannot hold byte strings; decode or parse them in the pipeline, or drop the component");
    default:
      throw Error::invalid("LibTorch does not support ", name_of(type), "; cast it to int32 or int64 in the pipeline");
  }
}

// Returns a tensor over the memory of an array, and keeps that memory alive.
// Arrays that a Loader delivers are not copied, and writing to the tensor changes
// only that array. Memory that a dataset, a cache or a file still uses is copied
// first, and so is the argument of a user function. Throws Error as torch_type(),
// and if there is no memory for a copy.
inline torch::Tensor to_torch(const Array& array) {
  const torch::ScalarType type = torch_type(array.type());
  Result<Array> own = array.frozen() || array.borrowed() ? array.clone() : Result<Array>(array);
  if (!own) throw std::move(own).error();
  auto kept = std::make_shared<const Array>(*std::move(own));
  return torch::from_blob(
      const_cast<void*>(kept->raw()), {array.shape().data(), array.shape().size()}, [kept](void*) {}, type);
}

// Converts every component, in order; the components of a dict by sorted key.
inline std::vector<torch::Tensor> to_torch(const Element& element) {
  std::vector<torch::Tensor> tensors;
  for (const Array& leaf : element.leaves) tensors.push_back(to_torch(leaf));
  return tensors;
}

// Converts a batch of N components, for structured bindings:
// auto [images, labels] = torch_batch(batch). Throws Error if the batch has
// another number of components.
template <size_t N = 2>
std::array<torch::Tensor, N> torch_batch(const Element& batch) {
  if (batch.leaves.size() != N)
    throw Error::invalid("expected a batch of ", N, " components, got ", batch.leaves.size(), ": ",
                         batch.spec().describe());
  std::array<torch::Tensor, N> tensors;
  for (size_t i = 0; i < N; ++i) tensors[i] = to_torch(batch.leaves[i]);
  return tensors;
}

}  // namespace stoker
