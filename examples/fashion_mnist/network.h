#pragma once

#include <memory>

#include "stoker/core/element.h"

namespace fashion_mnist {

// The result of one step.
struct Score {
  double loss = 0;    // mean over the batch
  int64_t right = 0;  // correct predictions
  int64_t images = 0;
};

// A small convolutional network for gray images of 28x28 and ten classes: one
// convolution with 32 filters, pooling, and one dense layer, trained with Adam.
//
// Batches are (float32 [n, 1, 28, 28], int64 [n]). The network computes on one
// thread: on a machine with few cores, this is faster than sharing all cores with
// the pipeline.
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
