// Known arguments by name, inputs, stacks, attributes.
#include "mindtorch/ingest/chrome/argument_reader.h"

#include <algorithm>
#include <array>
#include <bit>

#include "mindtorch/ingest/chrome/frame_text.h"
#include "mindtorch/ingest/chrome/json_tokens.h"
#include "mindtorch/ingest/chrome/raw_json.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::ingest::chrome {
namespace {

namespace argument = trace::chrome_format::argument;
using simdjson::error_code;
using trace::Attribute;

enum class Key : std::uint8_t {
  kAttribute,
  kIgnored,  // follows from something else that is kept
  kAddress,
  kKind,
  kStack,
  kStackId,
  kAsync,
  kBytes,
  kDerived,
  kDevice,
  kStream,
  kFinished,
  kDeviceId,
  kDims,
  kTypes,
  kCallStack,
  kCorrelation,
  kDeviceType,
  kForwardThread,
  kStrides,
  kReserved,
  kSequence,
  kConcrete,
  kAllocated,
};

struct KnownKey {
  std::string_view text;
  Key key;
};

// By first letter, so that a key is compared with few others.
constexpr std::array kKnownKeys = {
    KnownKey{argument::kAddress, Key::kAddress},
    KnownKey{argument::kBytes, Key::kBytes},
    KnownKey{argument::kCallStack, Key::kCallStack},
    KnownKey{argument::kConcreteInputs, Key::kConcrete},
    KnownKey{argument::kDeviceId, Key::kDeviceId},
    KnownKey{argument::kDeviceType, Key::kDeviceType},
    KnownKey{argument::kEventIndex, Key::kIgnored},
    KnownKey{argument::kExternalId, Key::kIgnored},
    KnownKey{argument::kForwardThread, Key::kForwardThread},
    KnownKey{argument::kInputDims, Key::kDims},
    KnownKey{argument::kInputStrides, Key::kStrides},
    KnownKey{argument::kInputTypes, Key::kTypes},
    KnownKey{argument::kKind, Key::kKind},
    KnownKey{argument::kPythonId, Key::kIgnored},
    KnownKey{argument::kPythonModuleId, Key::kIgnored},
    KnownKey{argument::kPythonParentId, Key::kIgnored},
    KnownKey{argument::kRecordFunctionId, Key::kIgnored},
    KnownKey{argument::kSequence, Key::kSequence},
    KnownKey{argument::kTotalAllocated, Key::kAllocated},
    KnownKey{argument::kTotalReserved, Key::kReserved},
    KnownKey{argument::kAsync, Key::kAsync},
    KnownKey{argument::kCorrelation, Key::kCorrelation},
    KnownKey{argument::kCpuMemory.after, Key::kIgnored},
    KnownKey{argument::kCpuMemory.before, Key::kIgnored},
    KnownKey{argument::kCpuMemory.delta, Key::kIgnored},
    KnownKey{argument::kCudaMemory.after, Key::kIgnored},
    KnownKey{argument::kCudaMemory.before, Key::kIgnored},
    KnownKey{argument::kCudaMemory.delta, Key::kIgnored},
    KnownKey{argument::kDerived, Key::kDerived},
    KnownKey{argument::kDevice, Key::kDevice},
    KnownKey{argument::kDeviceTypeName, Key::kIgnored},
    KnownKey{argument::kFinished, Key::kFinished},
    KnownKey{argument::kInputShapes, Key::kIgnored},
    KnownKey{argument::kMemoryBandwidth, Key::kIgnored},
    KnownKey{argument::kNpuMemory.after, Key::kIgnored},
    KnownKey{argument::kNpuMemory.before, Key::kIgnored},
    KnownKey{argument::kNpuMemory.delta, Key::kIgnored},
    KnownKey{argument::kStack, Key::kStack},
    KnownKey{argument::kStackId, Key::kStackId},
    KnownKey{argument::kStream, Key::kStream},
};
static_assert(std::ranges::is_sorted(kKnownKeys, {}, &KnownKey::text));

// kFirst[c]: the first known key that starts with c or a later letter.
constexpr std::array<std::uint8_t, 257> kFirst = [] {
  std::array<std::uint8_t, 257> first{};
  for (std::size_t c = 0; c < first.size(); ++c) {
    std::size_t at = 0;
    while (at < kKnownKeys.size() && static_cast<unsigned char>(kKnownKeys[at].text[0]) < c) ++at;
    first[c] = static_cast<std::uint8_t>(at);
  }
  return first;
}();

Key find_key(std::string_view key) {
  if (key.empty()) return Key::kAttribute;
  const auto letter = static_cast<unsigned char>(key[0]);
  for (std::size_t i = kFirst[letter]; i < kFirst[letter + 1U]; ++i) {
    if (is_same(kKnownKeys[i].text, key)) return kKnownKeys[i].key;
  }
  return Key::kAttribute;
}

// An address may use all 64 bits.
void set_address(std::string_view token, std::uint64_t& into) { std::from_chars(token.data(), token.data() + token.size(), into); }

}  // namespace

error_code ArgumentReader::read(JsonTokens& tokens, const WantedArguments& wanted, ParsedArguments& out) {
  return tokens.for_each_member([&](std::string_view key, std::string_view token) { return read_token(key, token, tokens, wanted, out); },
                                [&](std::string_view key) { return read_nested(key, tokens, wanted, out); });
}

error_code ArgumentReader::read_token(std::string_view raw_key, std::string_view token, JsonTokens& tokens, const WantedArguments& wanted,
                                      ParsedArguments& out) {
  switch (find_key(raw_key)) {
    case Key::kAttribute: return wanted.wants(raw_key) ? read_attribute(raw_key, token, tokens, out) : simdjson::SUCCESS;
    case Key::kStack:
    case Key::kCallStack: return wanted.stacks && is_string(token) ? read_joined_stack(token, tokens, out) : simdjson::SUCCESS;
    case Key::kAddress: set_address(token, out.address); break;
    case Key::kKind: out.kind = inside_quotes(token); break;
    case Key::kAsync: out.is_async = token == "true"; break;
    case Key::kDerived: out.is_derived = token == "true"; break;
    case Key::kFinished: out.is_unfinished = token == "false"; break;
    case Key::kBytes: read_integer(token, out.bytes); break;
    case Key::kDevice: read_integer(token, out.device); break;
    case Key::kStackId: read_integer(token, out.stack_id); break;
    case Key::kStream: read_integer(token, out.stream); break;
    case Key::kDeviceId: read_integer(token, out.device_id); break;
    case Key::kDeviceType: read_integer(token, out.device_type); break;
    case Key::kCorrelation: read_integer(token, out.correlation); break;
    case Key::kForwardThread: read_integer(token, out.forward_thread); break;
    case Key::kSequence: read_integer(token, out.sequence); break;
    case Key::kReserved: read_integer(token, out.total_reserved); break;
    case Key::kAllocated: read_integer(token, out.total_allocated); break;
    default: break;
  }
  return simdjson::SUCCESS;
}

error_code ArgumentReader::read_nested(std::string_view raw_key, JsonTokens& tokens, const WantedArguments& wanted, ParsedArguments& out) {
  const InputSink inputs{out.inputs, out.memory};
  switch (find_key(raw_key)) {
    case Key::kDims: return wanted.inputs ? read_extents(tokens, inputs, &trace::Input::sizes) : tokens.skip();
    case Key::kStrides: return wanted.inputs ? read_extents(tokens, inputs, &trace::Input::strides) : tokens.skip();
    case Key::kTypes: return wanted.inputs ? read_texts(tokens, inputs, &ParsedInput::type) : tokens.skip();
    case Key::kConcrete: return wanted.inputs ? read_texts(tokens, inputs, &ParsedInput::concrete) : tokens.skip();
    case Key::kStack:
    case Key::kCallStack: return wanted.stacks ? read_stack(tokens, out) : tokens.skip();
    case Key::kAttribute: break;
    default: return tokens.skip();
  }
  if (!wanted.wants(raw_key)) return tokens.skip();
  std::string_view json;
  if (const error_code error = tokens.take_json(json)) return error;
  return read_attribute(raw_key, json, tokens, out);
}

// torch writes a stack as one text of "file(line): function" joined by ";", the innermost frame first.
error_code ArgumentReader::read_joined_stack(std::string_view token, JsonTokens& tokens, ParsedArguments& out) {
  std::string_view joined;
  if (const error_code error = tokens.unescape(inside_quotes(token), joined)) return error;
  while (!joined.empty()) {
    const std::size_t end = std::min(joined.find(';'), joined.size());
    add_frame(joined.substr(0, end), out);
    joined.remove_prefix(std::min(joined.size(), end + 1));
  }
  return simdjson::SUCCESS;
}

// Ours is a list of "file:line:function", the innermost frame first.
error_code ArgumentReader::read_stack(JsonTokens& tokens, ParsedArguments& out) {
  if (tokens.first() != '[') return tokens.skip();
  return tokens.for_each_item([&](std::size_t) {
    const bool is_text = tokens.first() == '"';
    std::string_view text;
    if (const error_code error = tokens.take_text(text)) return error;
    if (text.starts_with(trace::chrome_format::kStackReference))
      read_integer(text.substr(trace::chrome_format::kStackReference.size()), out.same_stack);
    else if (is_text)
      add_frame(text, out);
    return simdjson::SUCCESS;
  });
}

void ArgumentReader::add_frame(std::string_view text, ParsedArguments& out) {
  out.memory.take_for<trace::Frame>(1);
  out.stack.push_back(frame_of(text));
}

trace::Frame ArgumentReader::frame_of(std::string_view text) {
  const auto [at, is_new] = frames_.try_emplace(std::string(text));
  if (is_new) {
    frame_bytes_ += text.size();
    const FrameText frame = split_frame(text);
    at->second = {cache_.intern(names_, frame.file), cache_.intern(names_, frame.function), frame.line};
  }
  return at->second;
}

error_code ArgumentReader::read_attribute(std::string_view key, std::string_view token, JsonTokens& tokens, ParsedArguments& out) {
  error_code error = simdjson::SUCCESS;
  const auto intern = [&](std::string_view raw, std::string_view inside) {
    return cache_.find(names_, raw, [&] {
      std::string_view text;
      error = tokens.unescape(inside, text);
      return text;
    });
  };
  Attribute attribute;
  attribute.key = intern(key, key);
  if (error != simdjson::SUCCESS) return error;
  if (is_string(token)) {
    attribute.type = Attribute::Type::kText;
    attribute.bits = intern(token, inside_quotes(token));
    if (error != simdjson::SUCCESS) return error;
  } else if (token.starts_with('{') || token.starts_with('[')) {
    attribute.type = Attribute::Type::kJson;
    attribute.bits = cache_.intern(names_, token);
  } else if (token == "true" || token == "false") {
    attribute.type = Attribute::Type::kBool;
    attribute.bits = token == "true";
  } else if (const auto integer = parse_integer(token)) {
    attribute.bits = *integer;
  } else if (const auto real = parse_real(token)) {
    attribute.type = Attribute::Type::kDouble;
    attribute.bits = std::bit_cast<std::int64_t>(*real);
  } else {
    return simdjson::SUCCESS;  // null adds no information
  }
  out.memory.take_for<Attribute>(1);
  out.attributes.push_back(attribute);
  return simdjson::SUCCESS;
}

}  // namespace mindtorch::ingest::chrome
