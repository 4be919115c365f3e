// Python tells where tensors are among the arguments, and torch what they are.
#include "mindtorch/bridges/torch/applied_functions.h"

#include <ATen/core/List.h>

#include <array>
#include <atomic>
#include <span>

#include "mindtorch/trace/inputs.h"

namespace mindtorch::torch_bridge {
namespace {

using trace::Input;

// Applications with more are recorded with their tensors alone.
constexpr std::size_t kMostWords = 1024;

std::atomic<ArgumentSource> argument_source{nullptr};

template <class Number, class Values>
c10::IValue list_of(const Values& values) {
  c10::List<Number> list;
  for (const auto value : values) list.push_back(static_cast<Number>(value));
  return list;
}

c10::IValue value_of(const Input& input) {
  switch (input.kind) {
    case Input::Kind::kNone: return {};
    case Input::Kind::kInt: return input.integer;
    case Input::Kind::kDouble: return input.real;
    case Input::Kind::kBool: return input.integer != 0;
    case Input::Kind::kIntList: return list_of<std::int64_t>(input.sizes);
    case Input::Kind::kBoolList: return list_of<bool>(input.sizes);
    case Input::Kind::kDoubleList: return list_of<double>(input.reals);
    default: return std::string();
  }
}

}  // namespace

void set_argument_source(ArgumentSource source) noexcept { argument_source.store(source, std::memory_order_release); }

std::vector<c10::IValue> applied_arguments(const at::RecordFunction& fn) {
  const ArgumentSource source = argument_source.load(std::memory_order_acquire);
  if (source == nullptr) return {};
  std::array<std::int64_t, kMostWords> words;
  const std::size_t count = source(words.data(), words.size());
  if (count == 0) return {};
  std::vector<c10::IValue> values;
  auto tensor = fn.inputs().begin();
  for (const Input& input : trace::decode_inputs(std::span(words).first(count))) {
    const bool is_tensor = input.kind == Input::Kind::kTensor;
    if (is_tensor && tensor == fn.inputs().end()) return {};
    values.push_back(is_tensor ? *tensor++ : value_of(input));
  }
  return tensor == fn.inputs().end() ? values : std::vector<c10::IValue>();  // else it is another function that reports itself
}

}  // namespace mindtorch::torch_bridge
