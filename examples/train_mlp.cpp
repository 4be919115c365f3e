// Trains two linear layers to tell three interleaved spirals apart.
#include <cmath>
#include <vector>

#include "examples/training.h"

namespace mt = mindtorch;

struct Batch {
  mt::Tensor points, labels;
};

static Batch spirals(examples::Sequence& sequence, std::int64_t count, mt::Device device) {
  std::vector<float> points;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t arm = sequence.below(3);
    const float radius = 0.5f + 0.5f * sequence.symmetric();
    const float angle = 2.1f * static_cast<float>(arm) + 4 * radius + 0.15f * sequence.symmetric();
    points.insert(points.end(), {radius * std::cos(angle), radius * std::sin(angle)});
    labels.push_back(arm);
  }
  return {mt::tensor(points, {count, 2}, {.device = device}), mt::tensor(labels, {count}, {.device = device})};
}

int main(int argc, char** argv) {
  const auto arguments = examples::parse(argc, argv, "train_mlp", 300);
  if (!arguments) return 2;
  mt::manual_seed(0);
  examples::Parameters parameters(arguments->device);
  const examples::Linear inner(parameters, 2, 128), outer(parameters, 128, 3);
  mt::optim::AdamW optimizer(parameters.all(), {.lr = 0.01});

  examples::Sequence sequence(1);
  return examples::train(*arguments, [&](int) {
    const Batch batch = spirals(sequence, 256, arguments->device);
    const mt::Tensor loss = mt::cross_entropy(outer(mt::dropout(mt::relu(inner(batch.points)), 0.1, true)), batch.labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss;
  });
}
