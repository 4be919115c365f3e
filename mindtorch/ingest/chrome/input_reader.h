// Reads "Input Dims", "Input type", "Input Strides" and "Concrete Inputs", and makes inputs of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/ingest/chrome/json_tokens.h"
#include "mindtorch/ingest/chrome/name_cache.h"
#include "mindtorch/trace/event.h"
#include "mindtorch/trace/memory_budget.h"

namespace mindtorch::ingest::chrome {

// The fields that torch writes for one argument of an op. Together they determine the kind of the argument.
struct ParsedInput {
  trace::Input input;         // sizes, strides and list
  std::string_view type;      // "float", "Scalar", "TensorList", ""
  std::string_view concrete;  // the value, "" if it has none; valid until the next element is read
};

// Where inputs go, and the memory they may take.
struct InputSink {
  std::vector<ParsedInput>& inputs;
  trace::MemoryBudget& memory;
};

// Reads the sizes or strides of each argument. Values that torch would not write are left out. Throws trace::BudgetExceeded.
simdjson::error_code read_extents(JsonTokens& tokens, InputSink sink, std::vector<std::int64_t> trace::Input::*extents);
// Type or value of each argument.
simdjson::error_code read_texts(JsonTokens& tokens, InputSink sink, std::string_view ParsedInput::*text);

// Combines all four lists. Texts are interned into `names`.
std::vector<trace::Input> resolve_inputs(std::vector<ParsedInput>& parsed, std::vector<std::string>& names, NameCache& cache);

}  // namespace mindtorch::ingest::chrome
