// Reads the "args" of one element, as far as they are torch's or ours; the rest become attributes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/ingest/chrome/json_tokens.h"
#include "mindtorch/ingest/chrome/name_cache.h"
#include "mindtorch/ingest/chrome/raw_json.h"
#include "mindtorch/trace/chrome_format.h"
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

// The arguments that are numbers, flags and words.
struct ArgumentValues {
  std::int64_t sequence = -1;
  std::int64_t forward_thread = 0;
  std::int64_t correlation = 0;
  std::int64_t device = -1;
  std::int64_t stream = -1;
  std::int64_t device_type = -1;
  std::int64_t device_id = -1;
  std::int64_t bytes = 0, total_allocated = 0, total_reserved = 0;
  std::uint64_t address = 0;
  std::string_view kind;  // our own word for it
  bool is_unfinished = false;
  bool is_async = false;
  bool is_derived = false;
  std::int64_t stack_id = -1;
  std::int64_t same_stack = -1;  // the id of the stack that this one is the same as
};

struct ParsedArguments : ArgumentValues {
  std::vector<ParsedInput> inputs;
  std::vector<trace::Frame> stack;  // innermost first
  std::vector<trace::Attribute> attributes;
  trace::MemoryBudget memory;  // of this one event: three bytes of text can stand for an input

  void clear() {
    memory.give_back_all();
    static_cast<ArgumentValues&>(*this) = {};
    inputs.clear();
    stack.clear();
    attributes.clear();
  }
};

// The keys of attributes that are kept.
class AttributeFilter {
 public:
  // The overload of an op is always kept, because it is a part of the name.
  explicit AttributeFilter(std::span<const std::string_view> keys) : keys_(keys.begin(), keys.end()) {
    keys_.push_back(trace::chrome_format::kOverloadName);
    for (const std::string_view key : keys_) sizes_ |= bit_of(key);
  }
  // Keys of other sizes, which are most, are not compared with any.
  bool keeps(std::string_view key) const {
    return (sizes_ & bit_of(key)) != 0 && std::ranges::any_of(keys_, [&](std::string_view kept) { return is_same(kept, key); });
  }

 private:
  static std::uint64_t bit_of(std::string_view key) { return std::uint64_t{1} << (key.size() % 64); }
  std::vector<std::string_view> keys_;
  std::uint64_t sizes_ = 0;
};

// What can take long. What is not wanted is stepped over.
struct WantedArguments {
  bool inputs = true;
  bool stacks = true;
  const AttributeFilter* attributes = nullptr;  // null: all of them
  bool wants(std::string_view attribute) const { return attributes == nullptr || attributes->keeps(attribute); }
};

class ArgumentReader {
 public:
  // Texts are interned into `names`.
  ArgumentReader(std::vector<std::string>& names, NameCache& cache) : names_(names), cache_(cache) {}

  // Reads the object at hand. Throws trace::BudgetExceeded if the arguments take more than out.memory.
  simdjson::error_code read(JsonTokens& tokens, const WantedArguments& wanted, ParsedArguments& out);
  // Bytes that what is remembered between events takes, at most.
  std::uint64_t memory() const { return frames_.size() * kFrameEntry + 2 * frame_bytes_; }

  // The parsed inputs, encoded as in a Recording.
  std::vector<trace::Input> resolve_inputs(std::vector<ParsedInput>& parsed) { return chrome::resolve_inputs(parsed, names_, cache_); }

 private:
  static constexpr std::uint64_t kFrameEntry = 128;

  // Keys are what lies between their quotes. A token or a JSON text is the value; without one, the value is at hand.
  simdjson::error_code read_token(std::string_view key, std::string_view token, JsonTokens& tokens, const WantedArguments& wanted,
                                  ParsedArguments& out);
  simdjson::error_code read_nested(std::string_view key, JsonTokens& tokens, const WantedArguments& wanted, ParsedArguments& out);
  simdjson::error_code read_joined_stack(std::string_view token, JsonTokens& tokens, ParsedArguments& out);
  simdjson::error_code read_stack(JsonTokens& tokens, ParsedArguments& out);
  simdjson::error_code read_attribute(std::string_view key, std::string_view json, JsonTokens& tokens, ParsedArguments& out);
  void add_frame(std::string_view text, ParsedArguments& out);
  trace::Frame frame_of(std::string_view text);

  std::vector<std::string>& names_;
  NameCache& cache_;
  std::unordered_map<std::string, trace::Frame> frames_;
  std::uint64_t frame_bytes_ = 0;
};

}  // namespace mindtorch::ingest::chrome
