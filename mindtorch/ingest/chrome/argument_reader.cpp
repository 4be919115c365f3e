// Known arguments by name, inputs, stacks, attributes.
#include "mindtorch/ingest/chrome/argument_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "mindtorch/ingest/chrome/frame_text.h"
#include "mindtorch/ingest/chrome/json_value.h"
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

// The known key that starts at `raw` and ends in a quote. Reads no further than a longer key would: the text is padded.
Key find_key(const char* raw) {
  const auto letter = static_cast<unsigned char>(raw[0]);
  for (std::size_t i = kFirst[letter]; i < kFirst[letter + 1U]; ++i) {
    const std::string_view text = kKnownKeys[i].text;
    if (raw[text.size()] == '"' && std::memcmp(raw, text.data(), text.size()) == 0) return kKnownKeys[i].key;
  }
  return Key::kAttribute;
}

// Returns the text between the quotes of a key. A key ends at a quote that is not escaped.
std::string_view raw_key(const simdjson::ondemand::field& field) {
  const char* const begin = field.key().raw();
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, end};
}

void set_integer(std::string_view token, std::int64_t& into) {
  if (const auto value = parse_integer(token)) into = *value;
}

// An address may use all 64 bits.
void set_address(std::string_view token, std::uint64_t& into) { std::from_chars(token.data(), token.data() + token.size(), into); }

}  // namespace

error_code ArgumentReader::read(simdjson::ondemand::object args, ParsedArguments& out) {
  for (auto result : args) {
    simdjson::ondemand::field field;
    if (const error_code error = std::move(result).get(field)) return error;
    const auto token = [&] { return trimmed(field.value().raw_json_token()); };
    error_code error = simdjson::SUCCESS;
    switch (find_key(field.key().raw())) {
      case Key::kIgnored: break;
      case Key::kAttribute: error = read_attribute(field, raw_key(field), out); break;
      case Key::kAddress: set_address(token(), out.address); break;
      case Key::kKind: out.kind = inside_quotes(token()); break;
      case Key::kAsync: out.is_async = token() == "true"; break;
      case Key::kDerived: out.is_derived = token() == "true"; break;
      case Key::kFinished: out.is_unfinished = token() == "false"; break;
      case Key::kBytes: set_integer(token(), out.bytes); break;
      case Key::kDevice: set_integer(token(), out.device); break;
      case Key::kStackId: set_integer(token(), out.stack_id); break;
      case Key::kStream: set_integer(token(), out.stream); break;
      case Key::kDeviceId: set_integer(token(), out.device_id); break;
      case Key::kDeviceType: set_integer(token(), out.device_type); break;
      case Key::kCorrelation: set_integer(token(), out.correlation); break;
      case Key::kForwardThread: set_integer(token(), out.forward_thread); break;
      case Key::kSequence: set_integer(token(), out.sequence); break;
      case Key::kReserved: set_integer(token(), out.total_reserved); break;
      case Key::kAllocated: set_integer(token(), out.total_allocated); break;
      case Key::kDims: error = read_extents(field.value(), {out.inputs, out.memory}, &trace::Input::sizes); break;
      case Key::kStrides: error = read_extents(field.value(), {out.inputs, out.memory}, &trace::Input::strides); break;
      case Key::kTypes: error = read_texts(field.value(), {out.inputs, out.memory}, &ParsedInput::type); break;
      case Key::kConcrete: error = read_texts(field.value(), {out.inputs, out.memory}, &ParsedInput::concrete); break;
      case Key::kStack:
      case Key::kCallStack: error = read_stack(field.value(), out); break;
    }
    if (error != simdjson::SUCCESS) return error;
  }
  return simdjson::SUCCESS;
}

// Ours is a list of "file:line:function", torch's one text of "file(line): function" joined by ";". Both start with the innermost frame.
error_code ArgumentReader::read_stack(Value value, ParsedArguments& out) {
  std::string_view joined;
  if (value.get_string().get(joined) == simdjson::SUCCESS) {
    while (!joined.empty()) {
      const std::size_t end = std::min(joined.find(';'), joined.size());
      out.memory.take_for<trace::Frame>(1);
      out.stack.push_back(frame_of(joined.substr(0, end)));
      joined.remove_prefix(std::min(joined.size(), end + 1));
    }
    return simdjson::SUCCESS;
  }
  return for_each_item(value, [&](Value item, std::size_t) {
    std::string_view text;
    const error_code error = item.get_string().get(text);
    out.memory.take_for<trace::Frame>(1);
    if (error == simdjson::SUCCESS && text.starts_with(trace::chrome_format::kStackReference))
      set_integer(text.substr(trace::chrome_format::kStackReference.size()), out.same_stack);
    else if (error == simdjson::SUCCESS)
      out.stack.push_back(frame_of(text));
    return error == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : error;
  });
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

error_code ArgumentReader::read_attribute(simdjson::ondemand::field field, std::string_view key, ParsedArguments& out) {
  Attribute attribute;
  attribute.key = cache_.find(names_, key, [&] {
    std::string_view text;
    return field.unescaped_key().get(text) == simdjson::SUCCESS ? text : key;
  });
  Value value = field.value();
  const std::string_view token = trimmed(value.raw_json_token());
  if (is_string(token)) {
    attribute.type = Attribute::Type::kText;
    error_code error = simdjson::SUCCESS;
    attribute.bits = cache_.find(names_, token, [&] {
      std::string_view text;
      error = value.get_string().get(text);
      return text;
    });
    if (error != simdjson::SUCCESS) return error;
  } else if (token.starts_with('{') || token.starts_with('[')) {
    attribute.type = Attribute::Type::kJson;
    std::string_view json;
    if (const error_code error = raw_text(value, json)) return error;
    attribute.bits = cache_.intern(names_, json);
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
