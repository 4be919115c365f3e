// Trains a small convolutional network to recognise the direction of the stripes in a noisy image.
#include <cmath>
#include <vector>

#include "examples/training.h"

namespace mt = mindtorch;
namespace nn = mindtorch::nn;

constexpr std::int64_t kSize = 16, kDirections = 4;

struct Batch {
  mt::Tensor images, labels;
};

static Batch stripes(examples::Sequence& sequence, std::int64_t count, mt::Device device) {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t direction = sequence.below(kDirections);
    const float angle = 3.14159f * static_cast<float>(direction) / kDirections, phase = 3 * sequence.symmetric();
    for (std::int64_t y = 0; y < kSize; ++y)
      for (std::int64_t x = 0; x < kSize; ++x) {
        const float along = static_cast<float>(x) * std::cos(angle) + static_cast<float>(y) * std::sin(angle);
        pixels.push_back(std::sin(along + phase) + sequence.symmetric());
      }
    labels.push_back(direction);
  }
  return {mt::tensor(pixels, {count, 1, kSize, kSize}, {.device = device}), mt::tensor(labels, {count}, {.device = device})};
}

struct Cnn : nn::Module {
  nn::Conv2d conv1{1, 16, 3, {.padding = 1}}, conv2{16, 32, 3, {.padding = 1}};
  nn::BatchNorm2d norm1{16}, norm2{32};
  nn::MaxPool2d pool{2};
  nn::AdaptiveAvgPool2d average{1};
  nn::Linear out{32, kDirections};

  Cnn() {
    register_module("conv1", conv1), register_module("norm1", norm1), register_module("pool", pool);
    register_module("conv2", conv2), register_module("norm2", norm2), register_module("average", average);
    register_module("out", out);
  }
  mt::Tensor forward(const mt::Tensor& images) override {
    const mt::Tensor edges = pool(mt::relu(norm1(conv1(images))));
    return out(average(mt::relu(norm2(conv2(edges)))).flatten(1));
  }
};

int main(int argc, char** argv) {
  const auto arguments = examples::parse(argc, argv, "train_cnn", 60);
  if (!arguments) return 2;
  mt::manual_seed(0);
  Cnn model;
  model.to(arguments->device);
  mt::optim::SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.9});

  examples::Sequence sequence(1);
  return examples::train(*arguments, [&](int) {
    const Batch batch = stripes(sequence, 32, arguments->device);
    const mt::Tensor loss = mt::cross_entropy(model(batch.images), batch.labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss;
  });
}
