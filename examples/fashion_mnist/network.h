#pragma once

#include <memory>

#include "stoker/core/element.h"

namespace fashion_mnist {

// What a step found in its batch.
struct Score {
  double loss = 0;  // mean
  int64_t right = 0;
  int64_t pictures = 0;
};

// A small convolutional network for grey pictures of 28x28 and ten classes:
// one convolution of 32 filters, pooling, one dense layer; Adam.
//
// Batches are (float32 [n, 1, 28, 28], int64 [n]). Computes on one thread: with
// the pipeline on the others that is faster on few cores than sharing them.
class Network {
 public:
  Network();
  ~Network();

  Score train(const stoker::Element& batch);
  Score test(const stoker::Element& batch);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fashion_mnist
