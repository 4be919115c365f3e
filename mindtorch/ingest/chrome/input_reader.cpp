// Inputs from torch's four lists.
#include <algorithm>
#include <optional>
#include <utility>

#include "mindtorch/ingest/chrome/argument_reader.h"
#include "mindtorch/ingest/chrome/raw_json.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::ingest::chrome {
namespace {

using simdjson::error_code;
using trace::Input;

ParsedInput& input_at(InputSink sink, std::size_t index) {
  if (index >= sink.inputs.size()) {
    sink.memory.take_for<ParsedInput>(1);
    sink.inputs.resize(index + 1);
  }
  return sink.inputs[index];
}

using Extents = std::vector<std::int64_t> Input::*;

error_code add_extent(JsonTokens& tokens, Input& input, Extents extents, trace::MemoryBudget& memory) {
  std::string_view token;
  if (const error_code error = tokens.take_token(token)) return error;
  if (const auto number = parse_integer(token)) {
    memory.take_for<std::int64_t>(1);
    (input.*extents).push_back(*number);
  }
  return simdjson::SUCCESS;
}

// [2, 3] of a tensor.
error_code read_tensor(JsonTokens& tokens, Input& tensor, Extents extents, trace::MemoryBudget& memory) {
  tensor.kind = Input::Kind::kTensor;
  return tokens.for_each_item([&](std::size_t) { return add_extent(tokens, tensor, extents, memory); });
}

// [2, 3] of a tensor, [[2, 3], [4]] of a tensor list. What is neither is left out, lists that nest deeper too.
error_code read_extents_of(JsonTokens& tokens, Input& input, Extents extents, trace::MemoryBudget& memory) {
  return tokens.for_each_item([&](std::size_t index) {
    if (tokens.first() != '[') return add_extent(tokens, input, extents, memory);
    if (index >= input.list.size()) {
      memory.take_for<Input>(index + 1 - input.list.size());
      input.list.resize(index + 1);
    }
    return read_tensor(tokens, input.list[index], extents, memory);
  });
}

// The items of "[1, -1]".
std::vector<std::string_view> list_items(std::string_view text) {
  std::vector<std::string_view> items;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return items;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    items.push_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(text.size(), comma + 1));
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return items;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text != "True" && text != "False") return std::nullopt;
  return text == "True";
}

void resolve_scalar(std::string_view text, Input& input) {
  if (const auto boolean = parse_boolean(text)) {
    input.kind = Input::Kind::kBool;
    input.integer = *boolean;
  } else if (const auto integer = parse_integer(text)) {
    input.kind = Input::Kind::kInt;
    input.integer = *integer;
  } else if (const auto real = parse_real(text)) {
    input.kind = Input::Kind::kDouble;
    input.real = *real;
  } else {
    input.kind = Input::Kind::kOther;
  }
}

void resolve_scalar_list(std::string_view text, Input& input) {
  const std::vector<std::string_view> items = list_items(text);
  std::vector<std::int64_t> integers, booleans;
  for (const std::string_view item : items) {
    if (const auto integer = parse_integer(item)) integers.push_back(*integer);
    if (const auto boolean = parse_boolean(item)) booleans.push_back(*boolean);
  }
  if (text.empty()) {
    input.kind = Input::Kind::kOther;
  } else if (!booleans.empty() && booleans.size() == items.size()) {
    input.kind = Input::Kind::kBoolList;
    input.sizes = std::move(booleans);
  } else if (integers.size() == items.size()) {
    input.kind = Input::Kind::kIntList;
    input.sizes = std::move(integers);
  } else {
    input.kind = Input::Kind::kDoubleList;
    for (const std::string_view item : items) input.reals.push_back(parse_real(item).value_or(0));
  }
}

// Strides are kept where they fit the sizes; a tensor without them counts as contiguous.
void resolve_tensor(Input& tensor) {
  tensor.kind = Input::Kind::kTensor;
  if (tensor.strides.size() != tensor.sizes.size()) tensor.strides.clear();
  tensor.list.clear();
}

void resolve(ParsedInput& parsed, std::vector<std::string>& names, NameCache& cache) {
  Input& input = parsed.input;
  if (parsed.type == "Scalar") {
    resolve_scalar(parsed.concrete, input);
  } else if (parsed.type == "ScalarList") {
    resolve_scalar_list(parsed.concrete, input);
  } else if (parsed.type == "TensorList" || !input.list.empty()) {
    input.kind = Input::Kind::kTensorList;
    input.sizes.clear();
    input.strides.clear();
    for (Input& tensor : input.list) resolve_tensor(tensor);
  } else if (!parsed.type.empty() || !input.sizes.empty()) {
    input.dtype = trace::scalar_type_of_name(parsed.type);
    resolve_tensor(input);
  } else if (!parsed.concrete.empty()) {
    input.kind = Input::Kind::kText;
    input.text = cache.intern(names, parsed.concrete);
  }
}

}  // namespace

error_code read_extents(JsonTokens& tokens, InputSink sink, Extents extents) {
  if (tokens.first() != '[') return tokens.skip();
  return tokens.for_each_item([&](std::size_t index) {
    ParsedInput& input = input_at(sink, index);
    return tokens.first() == '[' ? read_extents_of(tokens, input.input, extents, sink.memory) : tokens.skip();
  });
}

error_code read_texts(JsonTokens& tokens, InputSink sink, std::string_view ParsedInput::*text) {
  if (tokens.first() != '[') return tokens.skip();
  return tokens.for_each_item([&](std::size_t index) { return tokens.take_text(input_at(sink, index).*text); });
}

std::vector<Input> resolve_inputs(std::vector<ParsedInput>& parsed, std::vector<std::string>& names, NameCache& cache) {
  std::vector<Input> inputs;
  inputs.reserve(parsed.size());
  for (ParsedInput& item : parsed) {
    resolve(item, names, cache);
    inputs.push_back(std::move(item.input));
  }
  return inputs;
}

}  // namespace mindtorch::ingest::chrome
