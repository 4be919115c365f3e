// Trains a small GPT to write sentences, letter by letter. The program generates the training text.
#include <string>
#include <vector>

#include "examples/training.h"

namespace mt = mindtorch;
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

int main(int argc, char** argv) {
  const auto arguments = examples::parse(argc, argv, "train_gpt", 120);
  if (!arguments) return 2;
  mt::manual_seed(0);
  examples::Parameters parameters(arguments->device);
  const examples::Gpt model(parameters, static_cast<std::int64_t>(kLetters.size()), kContext, kLayers, kWidth, kHeads);
  mt::optim::AdamW optimizer(parameters.all(), {.lr = 1e-3});

  const std::string text = make_text(20000);
  examples::Sequence sequence(1);
  return examples::train(*arguments, [&](int) {
    const Batch batch = sample(text, sequence, arguments->device);
    const Tensor scores = model(batch.letters);
    const Tensor loss = mt::cross_entropy(scores.reshape({-1, scores.size(-1)}), batch.next.reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    mt::optim::clip_grad_norm_(parameters.all(), 1.0);
    optimizer.step();
    return loss;
  });
}
