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
#include "mindtorch/profiler/profiler.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/nn.h"
#include "mindtorch/runtime/optim/optim.h"
#include "mindtorch/runtime/parallel.h"

namespace mt = mindtorch;
namespace nn = mindtorch::nn;
using mt::Tensor;

namespace {

// Sizes and structure are those of benchmarks/runtime.py.
constexpr std::int64_t kLayers = 4, kWidth = 128, kHeads = 4, kContext = 64, kBatch = 8, kVocabulary = 64;

struct Block : nn::Module {
  nn::LayerNorm norm1{kWidth}, norm2{kWidth};
  nn::Linear qkv{kWidth, 3 * kWidth}, join{kWidth, kWidth}, up{kWidth, 4 * kWidth}, down{4 * kWidth, kWidth};
  Block() {
    register_module("norm1", norm1), register_module("qkv", qkv), register_module("join", join);
    register_module("norm2", norm2), register_module("up", up), register_module("down", down);
  }
  Tensor attend(const Tensor& x) {
    const mt::TensorVector parts = mt::chunk(qkv(x), 3, -1);
    const auto heads = [&](const Tensor& part) { return part.reshape({kBatch, kContext, kHeads, kWidth / kHeads}).transpose(1, 2); };
    const Tensor mixed = mt::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), {.is_causal = true});
    return join(mixed.transpose(1, 2).reshape({kBatch, kContext, kWidth}));
  }
  Tensor forward(const Tensor& x) override {
    const Tensor attended = x + attend(norm1(x));
    return attended + down(mt::gelu(up(norm2(attended))));
  }
};

struct Gpt : nn::Module {
  nn::Embedding tokens{kVocabulary, kWidth}, positions{kContext, kWidth};
  nn::Sequential blocks;
  nn::LayerNorm norm{kWidth};
  nn::Linear head{kWidth, kVocabulary, false};
  Gpt() {
    for (std::int64_t i = 0; i < kLayers; ++i) blocks.add<Block>();
    register_module("tokens", tokens), register_module("positions", positions), register_module("blocks", blocks);
    register_module("norm", norm), register_module("head", head);
  }
  Tensor forward(const Tensor& input) override {
    return head(norm(blocks(tokens(input) + positions(mt::arange(kContext, {.dtype = mt::kInt64})))));
  }
};

class GptStep {
 public:
  void operator()() {
    const Tensor loss = mt::cross_entropy(model_(input_).reshape({-1, kVocabulary}), target_);
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

 private:
  Gpt model_;
  mt::optim::AdamW optimizer_{model_.parameters(), {.lr = 1e-3}};
  Tensor input_ = mt::randint(0, kVocabulary, {kBatch, kContext}), target_ = mt::randint(0, kVocabulary, {kBatch * kContext});
};

class CnnStep {
 public:
  CnnStep() {
    std::int64_t channels = 3;
    for (const std::int64_t next : {32, 64}) {
      model_.add<nn::Conv2d>(channels, next, 3, nn::Conv2dOptions{.padding = 1});
      model_.add<nn::BatchNorm2d>(next);
      model_.add<nn::ReLU>();
      model_.add<nn::MaxPool2d>(2);
      channels = next;
    }
    model_.add<nn::Flatten>();
    model_.add<nn::Linear>(64 * 8 * 8, 10);
    optimizer_ = std::make_unique<mt::optim::SGD>(model_.parameters(), mt::optim::SGDOptions{.lr = 0.01, .momentum = 0.9});
  }
  void operator()() {
    const Tensor loss = mt::cross_entropy(model_(images_), labels_);
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
  }

 private:
  nn::Sequential model_;
  std::unique_ptr<mt::optim::SGD> optimizer_;
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
