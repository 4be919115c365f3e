// Trains a small convolutional network to recognise the direction of the stripes in a noisy image.
#include <cmath>
#include <vector>

#include "examples/training.h"

namespace mt = mindtorch;

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

struct Cnn {
  examples::Convolution first, second;
  examples::Linear out;

  Cnn(examples::Parameters& parameters, mt::Device device)
      : first(parameters, 1, 16, device), second(parameters, 16, 32, device), out(parameters, 32, kDirections) {}
  mt::Tensor operator()(const mt::Tensor& images) const {
    const mt::Tensor edges = mt::max_pool2d(mt::relu(first(images)), 2);
    return out(mt::adaptive_avg_pool2d(mt::relu(second(edges)), 1).flatten(1));
  }
};

int main(int argc, char** argv) {
  const auto arguments = examples::parse(argc, argv, "train_cnn", 60);
  if (!arguments) return 2;
  mt::manual_seed(0);
  examples::Parameters parameters(arguments->device);
  const Cnn model(parameters, arguments->device);
  mt::optim::SGD optimizer(parameters.all(), {.lr = 0.05, .momentum = 0.9});

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
