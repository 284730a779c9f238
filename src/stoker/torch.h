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

// The same memory as a tensor, which keeps it alive; nothing is copied. What
// `batch` or a map has made is the tensor's to write into; a row of an array
// that the data set itself holds (from_tensors, from_tensor_slices, cache)
// without either is still shared with it: clone that before writing. Throws
// Error for byte strings and for uint16, uint32 and uint64.
inline torch::Tensor to_torch(const Array& array) {
  auto kept = std::make_shared<Array>(array);
  return torch::from_blob(
      kept->raw(), {array.dims().data(), array.dims().size()}, [kept](void*) {}, torch_type(array.type()));
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
