#pragma once

// Batches as LibTorch's tensors. The only header that includes a library's:
// programs that include it find and link LibTorch themselves.
#include <torch/types.h>

#include <array>
#include <memory>
#include <vector>

#include "stoker/core/element.h"

namespace stoker {

// LibTorch's name for a type. Throws Error for what it has none for.
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
          "a tensor cannot hold byte strings: decode or parse them in the pipeline, or leave them out");
    default:
      throw Error::invalid("LibTorch computes with no ", name_of(type), ": cast it to int32 or int64 in the pipeline");
  }
}

// Returns a tensor over the memory of an array and keeps that memory alive.
// What a Loader delivers is not copied, and writing to the tensor changes
// nothing but that array. Memory that a dataset, a cache or a file still uses
// is copied first. Throws Error for byte strings and for uint16, uint32 and
// uint64, and when there is no memory for a copy.
inline torch::Tensor to_torch(const Array& array) {
  const torch::ScalarType type = torch_type(array.type());
  Result<Array> own = array.frozen() ? array.clone() : Result<Array>(array);
  if (!own) throw std::move(own).error();
  auto kept = std::make_shared<const Array>(*std::move(own));
  return torch::from_blob(
      const_cast<void*>(kept->raw()), {array.dims().data(), array.dims().size()}, [kept](void*) {}, type);
}

// Every component, in order; a dict's by sorted key.
inline std::vector<torch::Tensor> to_torch(const Element& element) {
  std::vector<torch::Tensor> tensors;
  for (const Array& leaf : element.leaves) tensors.push_back(to_torch(leaf));
  return tensors;
}

// The components of a batch by name: auto [images, labels] = torch_batch(batch).
// Throws Error when there are not N of them.
template <size_t N = 2>
std::array<torch::Tensor, N> torch_batch(const Element& batch) {
  if (batch.leaves.size() != N)
    throw Error::invalid("a batch of ", N, " components was wanted, this one has ", batch.leaves.size(), ": ",
                         batch.spec().words());
  std::array<torch::Tensor, N> tensors;
  for (size_t i = 0; i < N; ++i) tensors[i] = to_torch(batch.leaves[i]);
  return tensors;
}

}  // namespace stoker
