// Trains a small GPT to write sentences, letter by letter. The program generates the training text.
#include <string>
#include <vector>

#include "examples/training.h"

namespace mt = mindtorch;
namespace nn = mindtorch::nn;
using mt::Tensor;

constexpr std::int64_t kLayers = 3, kWidth = 96, kHeads = 4, kContext = 48, kBatch = 12;
constexpr std::string_view kLetters = " .abcdefghijklmnopqrstuvwxyz";

static std::string make_text(std::size_t length) {
  const std::vector<std::string_view> adjectives = {"small", "quick", "lazy", "red", "quiet", "old"};
  const std::vector<std::string_view> nouns = {"fox", "dog", "bird", "river", "child", "engine"};
  const std::vector<std::string_view> verbs = {"sees", "follows", "likes", "hears", "paints"};
  examples::Sequence sequence(7);
  const auto pick = [&](const std::vector<std::string_view>& words) {
    return words[static_cast<std::size_t>(sequence.below(static_cast<std::int64_t>(words.size())))];
  };
  std::string text;
  while (text.size() < length)
    text += fmt::format("the {} {} {} the {} {}. ", pick(adjectives), pick(nouns), pick(verbs), pick(adjectives), pick(nouns));
  return text;
}

struct Batch {
  Tensor letters, next;  // [batch, context]
};

static Batch sample(const std::string& text, examples::Sequence& sequence, mt::Device device) {
  std::vector<std::int64_t> letters, next;
  for (std::int64_t row = 0; row < kBatch; ++row) {
    const std::int64_t start = sequence.below(static_cast<std::int64_t>(text.size()) - kContext - 1);
    for (std::int64_t i = start; i < start + kContext; ++i) {
      letters.push_back(static_cast<std::int64_t>(kLetters.find(text[static_cast<std::size_t>(i)])));
      next.push_back(static_cast<std::int64_t>(kLetters.find(text[static_cast<std::size_t>(i + 1)])));
    }
  }
  return {mt::tensor(letters, {kBatch, kContext}, {.device = device}), mt::tensor(next, {kBatch, kContext}, {.device = device})};
}

// Attention to the letters before, then two linear layers on each letter; both are added to the input.
struct Block : nn::Module {
  nn::LayerNorm norm1{kWidth}, norm2{kWidth};
  nn::Linear qkv{kWidth, 3 * kWidth}, join{kWidth, kWidth}, up{kWidth, 4 * kWidth}, down{4 * kWidth, kWidth};
  nn::GELU activation;

  Block() {
    register_module("norm1", norm1), register_module("qkv", qkv), register_module("join", join);
    register_module("norm2", norm2), register_module("up", up), register_module("activation", activation), register_module("down", down);
  }
  Tensor attend(const Tensor& x) {
    const std::int64_t batch = x.size(0), length = x.size(1);
    const auto heads = [&](const Tensor& part) { return part.reshape({batch, length, kHeads, kWidth / kHeads}).transpose(1, 2); };
    const mt::TensorVector parts = mt::chunk(qkv(x), 3, -1);
    const Tensor mixed = mt::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), {.is_causal = true});
    return join(mixed.transpose(1, 2).reshape({batch, length, kWidth}));
  }
  Tensor forward(const Tensor& x) override {
    const Tensor attended = x + attend(norm1(x));
    return attended + down(activation(up(norm2(attended))));
  }
};

struct Gpt : nn::Module {
  nn::Embedding letters{static_cast<std::int64_t>(kLetters.size()), kWidth}, positions{kContext, kWidth};
  nn::Sequential blocks;
  nn::LayerNorm norm{kWidth};
  nn::Linear head{kWidth, static_cast<std::int64_t>(kLetters.size()), false};

  Gpt() {
    for (std::int64_t i = 0; i < kLayers; ++i) blocks.add<Block>();
    register_module("letters", letters), register_module("positions", positions), register_module("blocks", blocks);
    register_module("norm", norm), register_module("head", head);
  }
  Tensor forward(const Tensor& input) override {
    const Tensor where = mt::arange(input.size(1), {.dtype = mt::kInt64, .device = input.device()});
    return head(norm(blocks(letters(input) + positions(where))));
  }
};

int main(int argc, char** argv) {
  const auto arguments = examples::parse(argc, argv, "train_gpt", 120);
  if (!arguments) return 2;
  mt::manual_seed(0);
  Gpt model;
  model.to(arguments->device);
  mt::optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});

  const std::string text = make_text(20000);
  examples::Sequence sequence(1);
  return examples::train(*arguments, [&](int) {
    const Batch batch = sample(text, sequence, arguments->device);
    const Tensor scores = model(batch.letters);
    const Tensor loss = mt::cross_entropy(scores.reshape({-1, scores.size(-1)}), batch.next.reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    return loss;
  });
}
