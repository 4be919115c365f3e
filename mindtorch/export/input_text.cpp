// Formats decoded arguments.
#include "mindtorch/export/input_text.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <iterator>

#include "mindtorch/base/text.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::exporter {
namespace {

using trace::Input;
using Kind = trace::Input::Kind;

void append_number(std::string& out, std::int64_t value) {
  std::array<char, JsonCursor::kMaxNumber> text;
  JsonCursor cursor(text.data());
  out.append(text.data(), cursor.number(value).position());
}

// Calls `append_item` for each item, with the brackets and commas of a JSON list around them.
template <class Items, class AppendItem>
void append_list(std::string& out, const Items& items, AppendItem append_item, std::string_view separator = ",") {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    first = false;
    append_item(item);
  }
  out += ']';
}

void append_integers(std::string& out, const std::vector<std::int64_t>& values, std::string_view separator = ",") {
  append_list(
      out, values, [&](std::int64_t value) { append_number(out, value); }, separator);
}

// Sizes or strides of one argument: a list for a tensor, a list of lists for a tensor list, empty for anything else.
void append_extents(std::string& out, const Input& input, std::vector<std::int64_t> Input::*extents) {
  if (input.kind == Kind::kTensor) {
    append_integers(out, input.*extents);
  } else {
    append_list(out, input.list, [&](const Input& tensor) { append_integers(out, tensor.*extents); });
  }
}

// A double as torch prints a value: "0.5", "2.", "inf".
void append_torch_double(std::string& out, double value) {
  if (std::isfinite(value) && value == std::trunc(value) && std::abs(value) < 1e15) {
    fmt::format_to(std::back_inserter(out), "{:.0f}.", value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

void append_boolean(std::string& out, std::int64_t value) { out += value != 0 ? "True" : "False"; }

// The inside of the JSON string for one value.
void append_concrete(std::string& out, const Input& input, const std::vector<std::string>& names) {
  switch (input.kind) {
    case Kind::kInt: append_number(out, input.integer); return;
    case Kind::kBool: append_boolean(out, input.integer); return;
    case Kind::kDouble: append_torch_double(out, input.real); return;
    case Kind::kText: append_json_escaped(out, names[input.text]); return;
    case Kind::kIntList: append_integers(out, input.sizes, ", "); return;
    case Kind::kBoolList:
      append_list(
          out, input.sizes, [&](std::int64_t value) { append_boolean(out, value); }, ", ");
      return;
    case Kind::kDoubleList:
      append_list(
          out, input.reals, [&](double value) { append_torch_double(out, value); }, ", ");
      return;
    case Kind::kNone:
    case Kind::kTensor:
    case Kind::kTensorList:
    case Kind::kOther: return;
  }
}

}  // namespace

std::string_view input_type_name(const trace::Input& input) {
  switch (input.kind) {
    case Kind::kTensor: return trace::scalar_type_name(input.dtype);
    case Kind::kTensorList: return "TensorList";
    case Kind::kInt:
    case Kind::kBool:
    case Kind::kDouble: return "Scalar";
    case Kind::kIntList:
    case Kind::kBoolList:
    case Kind::kDoubleList: return "ScalarList";
    case Kind::kNone:
    case Kind::kText:
    case Kind::kOther: return "";
  }
  return "";
}

void format_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, InputTexts& texts) {
  const std::vector<Input> inputs = trace::decode_inputs(words);
  texts.dims.clear();
  append_list(texts.dims, inputs, [&](const Input& input) { append_extents(texts.dims, input, &Input::sizes); });
  texts.types.clear();
  append_list(texts.types, inputs, [&](const Input& input) {
    texts.types += '"';
    texts.types += input_type_name(input);
    texts.types += '"';
  });
  texts.strides.clear();
  append_list(texts.strides, inputs, [&](const Input& input) { append_extents(texts.strides, input, &Input::strides); });
  texts.concrete.clear();
  append_list(texts.concrete, inputs, [&](const Input& input) {
    texts.concrete += '"';
    append_concrete(texts.concrete, input, names);
    texts.concrete += '"';
  });
}

void append_json_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "\"{}\"", value);
    return;
  }
  const std::string text = fmt::format("{}", value);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

}  // namespace mindtorch::exporter
