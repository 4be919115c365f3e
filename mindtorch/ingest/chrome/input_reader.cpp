// Inputs from torch's four lists.
#include "mindtorch/ingest/chrome/input_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mindtorch/ingest/chrome/json_value.h"
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

void add_extent(simdjson::ondemand::value value, Input& input, Extents extents, trace::MemoryBudget& memory) {
  const auto number = parse_integer(trimmed(value.raw_json_token()));
  if (!number) return;
  memory.take_for<std::int64_t>(1);
  (input.*extents).push_back(*number);
}

// [2, 3] of a tensor.
error_code read_tensor(simdjson::ondemand::array list, Input& tensor, Extents extents, trace::MemoryBudget& memory) {
  tensor.kind = Input::Kind::kTensor;
  for (auto item : list) {
    simdjson::ondemand::value value;
    if (const error_code error = std::move(item).get(value)) return error;
    add_extent(value, tensor, extents, memory);
  }
  return simdjson::SUCCESS;
}

// [2, 3] of a tensor, [[2, 3], [4]] of a tensor list. What is neither is left out, lists that nest deeper too.
error_code read_extents_of(simdjson::ondemand::array list, Input& input, Extents extents, trace::MemoryBudget& memory) {
  std::size_t index = 0;
  for (auto item : list) {
    simdjson::ondemand::value value;
    if (const error_code error = std::move(item).get(value)) return error;
    simdjson::ondemand::array inner;
    if (value.get_array().get(inner) == simdjson::SUCCESS) {
      if (index >= input.list.size()) {
        memory.take_for<Input>(index + 1 - input.list.size());
        input.list.resize(index + 1);
      }
      if (const error_code error = read_tensor(inner, input.list[index], extents, memory)) return error;
    } else {
      add_extent(value, input, extents, memory);
    }
    ++index;
  }
  return simdjson::SUCCESS;
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

error_code read_extents(simdjson::ondemand::value value, InputSink sink, Extents extents) {
  return for_each_item(value, [&](simdjson::ondemand::value item, std::size_t index) {
    ParsedInput& input = input_at(sink, index);
    simdjson::ondemand::array list;
    if (item.get_array().get(list) != simdjson::SUCCESS) return simdjson::SUCCESS;
    return read_extents_of(list, input.input, extents, sink.memory);
  });
}

error_code read_texts(simdjson::ondemand::value value, InputSink sink, std::string_view ParsedInput::*text) {
  return for_each_item(value, [&](simdjson::ondemand::value item, std::size_t index) {
    ParsedInput& input = input_at(sink, index);
    std::string_view inside;
    const error_code error = item.get_string().get(inside);
    if (error == simdjson::SUCCESS) input.*text = inside;
    return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  });
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
