// Models of a few functions: what the training examples and the benchmark of the runtime train.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "mindtorch/runtime/functions.h"

namespace examples {

// The parameters of a model, in the order in which they are made.
class Parameters {
 public:
  explicit Parameters(mindtorch::Device device) : device_(device) {}
  // Uniform within 1 / sqrt(inputs), as torch begins with for a layer with that many inputs.
  mindtorch::Tensor random(mindtorch::IntArrayRef sizes, std::int64_t inputs) {
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    return add(mindtorch::rand(sizes, {.device = device_}) * (2 * bound) - bound);
  }
  mindtorch::Tensor filled(mindtorch::IntArrayRef sizes, double value) { return add(mindtorch::full(sizes, value, {.device = device_})); }
  const mindtorch::TensorVector& all() const { return all_; }

 private:
  mindtorch::Tensor add(const mindtorch::Tensor& parameter) { return all_.emplace_back(parameter.requires_grad_()); }

  mindtorch::Device device_;
  mindtorch::TensorVector all_;
};

struct Linear {
  mindtorch::Tensor weight, bias;
  Linear(Parameters& parameters, std::int64_t inputs, std::int64_t outputs)
      : weight(parameters.random({outputs, inputs}, inputs)), bias(parameters.random({outputs}, inputs)) {}
  mindtorch::Tensor operator()(const mindtorch::Tensor& x) const { return mindtorch::linear(x, weight, bias); }
};

struct LayerNorm {
  mindtorch::Tensor weight, bias;
  LayerNorm(Parameters& parameters, std::int64_t width) : weight(parameters.filled({width}, 1)), bias(parameters.filled({width}, 0)) {}
  mindtorch::Tensor operator()(const mindtorch::Tensor& x) const { return mindtorch::layer_norm(x, {weight.size(0)}, weight, bias); }
};

// A 3 x 3 convolution that keeps the size of an image, and a normalisation of its channels.
struct Convolution {
  mindtorch::Tensor weight, bias, scale, shift, mean, variance;
  Convolution(Parameters& parameters, std::int64_t inputs, std::int64_t outputs, mindtorch::Device device)
      : weight(parameters.random({outputs, inputs, 3, 3}, 9 * inputs)),
        bias(parameters.random({outputs}, 9 * inputs)),
        scale(parameters.filled({outputs}, 1)),
        shift(parameters.filled({outputs}, 0)),
        mean(mindtorch::zeros({outputs}, {.device = device})),
        variance(mindtorch::ones({outputs}, {.device = device})) {}
  mindtorch::Tensor operator()(const mindtorch::Tensor& images) const {
    return mindtorch::batch_norm(mindtorch::conv2d(images, weight, bias, 1, 1), scale, shift, mean, variance, true);
  }
};

// The block of a transformer: attention to the letters before, then two linear layers on each letter; both are added to the input.
struct Block {
  std::int64_t width, heads;
  LayerNorm norm1, norm2;
  Linear qkv, join, up, down;
  Block(Parameters& parameters, std::int64_t of_width, std::int64_t of_heads)
      : width(of_width),
        heads(of_heads),
        norm1(parameters, width),
        norm2(parameters, width),
        qkv(parameters, width, 3 * width),
        join(parameters, width, width),
        up(parameters, width, 4 * width),
        down(parameters, 4 * width, width) {}
  mindtorch::Tensor attend(const mindtorch::Tensor& x) const {
    const std::int64_t batch = x.size(0), length = x.size(1);
    const auto split = [&](const mindtorch::Tensor& part) { return part.reshape({batch, length, heads, width / heads}).transpose(1, 2); };
    const mindtorch::TensorVector parts = mindtorch::chunk(qkv(x), 3, -1);
    const mindtorch::Tensor mixed =
        mindtorch::scaled_dot_product_attention(split(parts[0]), split(parts[1]), split(parts[2]), {.is_causal = true});
    return join(mixed.transpose(1, 2).reshape({batch, length, width}));
  }
  mindtorch::Tensor operator()(const mindtorch::Tensor& x) const {
    const mindtorch::Tensor attended = x + attend(norm1(x));
    return attended + down(mindtorch::gelu(up(norm2(attended))));
  }
};

// A transformer that says which letter comes next: [batch, context] -> [batch, context, letters].
struct Gpt {
  mindtorch::Tensor letters, positions, head;
  std::vector<Block> blocks;
  LayerNorm norm;
  Gpt(Parameters& parameters, std::int64_t count, std::int64_t context, std::int64_t layers, std::int64_t width, std::int64_t heads)
      : letters(parameters.random({count, width}, 3)),
        positions(parameters.random({context, width}, 3)),
        head(parameters.random({count, width}, width)),
        norm(parameters, width) {
    for (std::int64_t i = 0; i < layers; ++i) blocks.emplace_back(parameters, width, heads);
  }
  mindtorch::Tensor operator()(const mindtorch::Tensor& input) const {
    const mindtorch::Tensor where = mindtorch::arange(input.size(1), {.dtype = mindtorch::kInt64, .device = input.device()});
    mindtorch::Tensor x = mindtorch::embedding(letters, input) + mindtorch::embedding(positions, where);
    for (const Block& block : blocks) x = block(x);
    return mindtorch::linear(norm(x), head);
  }
};

}  // namespace examples
