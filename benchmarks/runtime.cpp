// The embedded runtime: training steps of a small GPT and a small CNN, and the smallest op there is.
//
// Without arguments it measures the cost of recording a GPT step. With --serve it reads lines "<case> <count>" (gpt, cnn, add), runs the
// case so many times and prints the nanoseconds of one run, so that benchmarks/runtime.py can take turns with PyTorch. It uses one thread
// and fixed seeds.
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks/harness.h"
#include "examples/models.h"
#include "mindtorch/profiler/profiler.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/optim/optim.h"
#include "mindtorch/runtime/parallel.h"

namespace mt = mindtorch;
using mt::Tensor;

namespace {

// Sizes and structure are those of benchmarks/runtime.py.
constexpr std::int64_t kLayers = 4, kWidth = 128, kHeads = 4, kContext = 64, kBatch = 8, kVocabulary = 64;

class GptStep {
 public:
  void operator()() {
    const Tensor loss = mt::cross_entropy(model_(input_).reshape({-1, kVocabulary}), target_);
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

 private:
  examples::Parameters parameters_{"cpu"};
  examples::Gpt model_{parameters_, kVocabulary, kContext, kLayers, kWidth, kHeads};
  mt::optim::AdamW optimizer_{parameters_.all(), {.lr = 1e-3}};
  Tensor input_ = mt::randint(0, kVocabulary, {kBatch, kContext}), target_ = mt::randint(0, kVocabulary, {kBatch * kContext});
};

class CnnStep {
 public:
  void operator()() {
    const Tensor small = mt::max_pool2d(mt::relu(first_(images_)), 2);
    const Tensor smaller = mt::max_pool2d(mt::relu(second_(small)), 2);
    const Tensor loss = mt::cross_entropy(out_(smaller.flatten(1)), labels_);
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

 private:
  examples::Parameters parameters_{"cpu"};
  examples::Convolution first_{parameters_, 3, 32, "cpu"}, second_{parameters_, 32, 64, "cpu"};
  examples::Linear out_{parameters_, 64 * 8 * 8, 10};
  mt::optim::SGD optimizer_{parameters_.all(), {.lr = 0.01, .momentum = 0.9}};
  Tensor images_ = mt::randn({32, 3, 32, 32}), labels_ = mt::randint(0, 10, {32});
};

class TinyAdd {
 public:
  void operator()() { mt::benchmarks::keep(x_ + x_); }

 private:
  Tensor x_ = mt::ones({4});
};

void serve() {
  GptStep gpt;
  CnnStep cnn;
  TinyAdd add;
  for (std::string name, count; std::cin >> name >> count;) {
    const std::int64_t n = std::stoll(count);
    const double ns = name == "gpt"   ? mt::benchmarks::ns_per_op(n, gpt)
                      : name == "cnn" ? mt::benchmarks::ns_per_op(n, cnn)
                                      : mt::benchmarks::ns_per_op(n, add);
    std::cout << ns << std::endl;
  }
}

// CPU time: recording never waits, and the machine may have other work.
void compare_recording() {
  GptStep step;
  const auto plain = [&] { return mt::benchmarks::cpu_ns_per_op(4, step) / 1e6; };
  const auto recorded = [&] {
    mt::profiler::Profile profile({.activities = {mt::profiler::Activity::kCpu}});
    profile.start();
    const double ms = mt::benchmarks::cpu_ns_per_op(4, step) / 1e6;
    profile.stop();
    return ms;
  };
  plain();
  const mt::benchmarks::Comparison c = mt::benchmarks::compare(recorded, plain, 25);
  mt::benchmarks::print_result({.name = "runtime/profiled_gpt_step",
                                .ours = c.ours,
                                .peer = "not recording",
                                .peer_value = c.peer,
                                .ratio = c.ratio,
                                .unit = "ms",
                                .note = "a training step of a GPT (4 layers, width 128, 8 x 64 tokens), one thread; limit 1.03"});
}

}  // namespace

int main(int argc, char** argv) {
  mt::set_num_threads(1);
  mt::manual_seed(0);
  if (argc > 1 && std::strcmp(argv[1], "--serve") == 0)
    serve();
  else
    compare_recording();
}
