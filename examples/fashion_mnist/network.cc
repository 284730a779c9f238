#include "examples/fashion_mnist/network.h"

#include <ATen/Parallel.h>
#include <torch/nn.h>
#include <torch/optim/adam.h>

#include "stoker/torch.h"

namespace fashion_mnist {
namespace {

namespace nn = torch::nn;
namespace functional = torch::nn::functional;

constexpr int64_t kFilters = 32;
constexpr int64_t kPooled = 13;  // (28 - 2) / 2
constexpr int64_t kClasses = 10;

nn::Sequential layers() {
  return nn::Sequential(nn::Conv2d(1, kFilters, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                        nn::Linear(kFilters * kPooled * kPooled, kClasses));
}

Score score_of(const torch::Tensor& outputs, const torch::Tensor& labels, const torch::Tensor& loss) {
  return {.loss = loss.item<double>(),
          .right = outputs.argmax(1).eq(labels).sum().item<int64_t>(),
          .images = labels.size(0)};
}

}  // namespace

struct Network::Parts {
  nn::Sequential layers = fashion_mnist::layers();
  torch::optim::Adam optimizer{layers->parameters()};
};

Network::Network() {
  at::set_num_threads(1);
  torch::manual_seed(1);
  parts_ = std::make_unique<Parts>();
}

Network::~Network() = default;

Score Network::train(const stoker::Element& batch) {
  auto [images, labels] = stoker::torch_batch(batch);
  parts_->optimizer.zero_grad();
  const torch::Tensor outputs = parts_->layers->forward(images);
  torch::Tensor loss = functional::cross_entropy(outputs, labels);
  loss.backward();
  parts_->optimizer.step();
  return score_of(outputs, labels, loss);
}

Score Network::test(const stoker::Element& batch) {
  const torch::NoGradGuard no_gradients;
  auto [images, labels] = stoker::torch_batch(batch);
  const torch::Tensor outputs = parts_->layers->forward(images);
  return score_of(outputs, labels, functional::cross_entropy(outputs, labels));
}

}  // namespace fashion_mnist
