// Side data of events as JSON.
#include "mindtorch/export/chrome/arguments.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <span>

#include "mindtorch/analyze/copy_bandwidth.h"
#include "mindtorch/analyze/frame_labels.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/tensor_identity.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter::chrome {
namespace {

namespace argument = trace::chrome_format::argument;
using trace::Attribute;
using trace::EventIndex;
using trace::EventKind;

// Moves `next` to `event` in a sorted list; true if the event is there.
bool advance_to(const std::vector<EventIndex>& events, std::size_t& next, EventIndex event) {
  while (next < events.size() && events[next] < event) ++next;
  return next < events.size() && events[next] == event;
}

void append_value(std::string& out, const Attribute& attribute, const std::vector<std::string>& names) {
  const auto text = [&]() -> const std::string& { return names[static_cast<std::size_t>(attribute.bits)]; };
  switch (attribute.type) {
    case Attribute::Type::kInt: fmt::format_to(std::back_inserter(out), "{}", attribute.bits); return;
    case Attribute::Type::kBool: out += attribute.bits != 0 ? "true" : "false"; return;
    case Attribute::Type::kDouble: append_json_double(out, std::bit_cast<double>(attribute.bits)); return;
    case Attribute::Type::kJson: out += is_json(text()) ? text() : json_quoted(text()); return;
    case Attribute::Type::kText: out += json_quoted(text()); return;
  }
}

// Appends `,"name":value`.
template <auto Name, class Value>
void append_argument(std::string& out, const Value& value) {
  append_key<Name>(out);
  fmt::format_to(std::back_inserter(out), "{}", value);
}

// The text of a longer row of attributes is not kept.
constexpr std::size_t kLongestKnownRow = 32;

std::size_t hash_of(std::span<const Attribute> row) {
  std::uint64_t hash = row.size();
  for (const Attribute& attribute : row) {
    hash = (hash ^ attribute.key ^ static_cast<std::uint64_t>(attribute.bits)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash;
}

bool has_device(EventKind kind) { return kind == EventKind::kOp || kind == EventKind::kBackward; }

}  // namespace

EventArguments::EventArguments(const analyze::Analysis& analysis) : analysis_(analysis), recording_(analysis.recording()) {
  const trace::Recording& recording = recording_;
  const trace::EventColumns& events = recording.events;
  for (EventIndex i = 0; i < events.size() && devices_known_; ++i) {
    devices_known_ = !has_device(events.kind[i]) || (events.flags[i] & trace::kKnownDevice) != 0;
  }
  shadowed_.resize(recording.names.size());
  shadowed_on_device_.resize(recording.names.size());
  latest_place_.resize(recording.attributes.values.empty() ? 0 : recording.names.size());
  for (const Attribute& attribute : recording.attributes.values) {
    const std::string& key = recording.names[attribute.key];
    shadowed_[attribute.key] = trace::chrome_format::is_own_argument(key, EventKind::kOp);
    shadowed_on_device_[attribute.key] = trace::chrome_format::is_own_argument(key, EventKind::kKernel);
  }
  rows_are_shared_ = recording.attributes.shared_rows() < recording.attributes.events.size() / 2;
  stacks_are_whole_ = recording.metadata.contains(std::string(trace::chrome_format::kWholeStacks));
  stack_is_written_.resize(recording.stacks.size());
  whole_stack_json_.resize(stacks_are_whole_ ? recording.stacks.size() : 0);
  frame_json_.reserve(recording.stacks.frames.size());
  for (const trace::Frame& frame : recording.stacks.frames) {
    frame_json_.push_back(json_quoted(fmt::format("{}:{}:{}", recording.names[frame.file], frame.line, recording.names[frame.function])));
  }
}

bool EventArguments::any(EventIndex event) {
  const trace::EventColumns& events = recording_.events;
  const bool has_flags = (events.flags[event] & (trace::kUnfinished | trace::kAsync)) != 0;
  const bool has_known_device =
      (events.flags[event] & trace::kKnownDevice) != 0 && (!devices_known_ || events.device[event] != trace::Device{});
  const bool has_inputs = trace::takes_arguments(events.kind[event]) && advance_to(recording_.inputs.events, next_input_, event);
  const bool has_stack = advance_to(recording_.stacks.of_event.events, next_stack_, event);
  const bool has_attributes = advance_to(recording_.attributes.events, next_attribute_, event);
  return has_flags || has_known_device || has_inputs || has_stack || has_attributes || needs_kind(recording_, event) ||
         (recording_.options.memory && has_device(events.kind[event]));
}

void EventArguments::append(std::string& out, EventIndex event) {
  append_flags(out, event);
  append_inputs(out, event);
  append_stack(out, event);
  append_memory(out, event);
  append_attributes(out, event);
}

void EventArguments::append_flags(std::string& out, EventIndex event) const {
  const trace::EventColumns& events = recording_.events;
  const std::uint8_t flags = events.flags[event];
  if ((flags & trace::kUnfinished) != 0) append_argument<argument::kFinished>(out, false);
  if ((flags & trace::kAsync) != 0) append_argument<argument::kAsync>(out, true);
  if (needs_kind(recording_, event)) append_argument<argument::kKind>(out, json_quoted(trace::event_kind_name(events.kind[event])));
  if (has_device(events.kind[event]) && (flags & trace::kKnownDevice) != 0 &&
      (!devices_known_ || events.device[event] != trace::Device{})) {
    append_argument<argument::kDeviceType>(out, static_cast<int>(events.device[event].type));
    append_argument<argument::kDeviceId>(out, events.device[event].index);
  }
}

void EventArguments::append_inputs(std::string& out, EventIndex event) {
  if (!trace::takes_arguments(recording_.events.kind[event]) || !advance_to(recording_.inputs.events, next_input_, event)) return;
  format_inputs(recording_.inputs.row(next_input_), recording_.names, inputs_);
  append_argument<argument::kInputDims>(out, inputs_.dims);
  append_argument<argument::kInputTypes>(out, inputs_.types);
  append_argument<argument::kInputStrides>(out, inputs_.strides);
  append_argument<argument::kConcreteInputs>(out, inputs_.concrete);
  // Readers of our runtime's ops want the sizes under this name too. Those of torch's ops know torch's name, and such traces are large.
  if ((recording_.events.flags[event] & trace::kKnownDevice) != 0) append_argument<argument::kInputShapes>(out, inputs_.dims);
}

void EventArguments::append_stack(std::string& out, EventIndex event) {
  if (!advance_to(recording_.stacks.of_event.events, next_stack_, event)) return;
  const trace::StackId stack = recording_.stacks.of_event.row(next_stack_).front();
  if (stacks_are_whole_) return append_argument<argument::kCallStack>(out, whole_stack(stack));
  append_key<argument::kStack>(out);
  if (stack_is_written_[stack]) {
    fmt::format_to(std::back_inserter(out), R"(["{}{}"])", trace::chrome_format::kStackReference, stack);
    return;
  }
  stack_is_written_[stack] = true;
  out += '[';
  const char* separator = "";
  for (const std::uint32_t frame : recording_.stacks.frames_of(stack)) {
    out += separator;
    out += frame_json_[frame];
    separator = ",";
  }
  out += ']';
  append_argument<argument::kStackId>(out, stack);
}

const std::string& EventArguments::whole_stack(trace::StackId stack) {
  std::string& json = whole_stack_json_[stack];
  if (json.empty()) {
    std::string text;
    for (const std::uint32_t id : recording_.stacks.frames_of(stack)) {
      const trace::Frame& frame = recording_.stacks.frames[id];
      text += analyze::call_name(recording_.names[frame.file], frame.line, recording_.names[frame.function]);
      text += ';';
    }
    json = json_quoted(text);
  }
  return json;
}

void EventArguments::append_attributes(std::string& out, EventIndex event) {
  if (!advance_to(recording_.attributes.events, next_attribute_, event)) return;
  const std::span<const Attribute> attributes = recording_.attributes.row(next_attribute_);
  if (const std::optional<double> bandwidth = analyze::copy_bandwidth(recording_, event, attributes))
    append_argument<argument::kMemoryBandwidth>(out, *bandwidth);
  const bool is_of_device = trace::has_correlation(recording_.events.kind[event]);
  if (attributes.size() > kLongestKnownRow) {
    append_row(out, attributes, is_of_device);
    return;
  }
  RowText& known = row_texts_[(rows_are_shared_ ? recording_.attributes.shared[next_attribute_] : hash_of(attributes)) % row_texts_.size()];
  const bool is_same = known.row.data() == attributes.data() || std::ranges::equal(known.row, attributes);
  if (known.is_of_device != is_of_device || !is_same) {
    known.row = attributes;
    known.is_of_device = is_of_device;
    known.text.clear();
    append_row(known.text, attributes, is_of_device);
  }
  out += known.text;
}

void EventArguments::append_row(std::string& out, std::span<const Attribute> attributes, bool is_of_device) {
  const std::vector<bool>& shadowed = is_of_device ? shadowed_on_device_ : shadowed_;
  // A key that is there several times has the value that was set last.
  for (std::size_t at = 0; at < attributes.size(); ++at) latest_place_[attributes[at].key] = at;
  for (std::size_t at = 0; at < attributes.size(); ++at) {
    const trace::NameId key = attributes[at].key;
    if (latest_place_[key] != at || shadowed[key]) continue;
    out += ",\"";
    append_json_escaped(out, recording_.names[key]);
    out += "\":";
    append_value(out, attributes[at], recording_.names);
  }
}

void EventArguments::append_memory(std::string& out, EventIndex event) const {
  const trace::EventColumns& events = recording_.events;
  if (!recording_.options.memory || !has_device(events.kind[event])) return;
  const trace::Device device = events.device[event];
  const std::int64_t before = analysis_.memory_totals().before(device, events.start_ns[event]);
  const std::int64_t after = analysis_.memory_totals().after(device, events.end_ns(event));
  append_argument<argument::kDeviceTypeName>(out, json_quoted(trace::device_type_name(device.type)));
  const argument::MemoryKeys& keys = argument::memory_keys(device.type);
  // Totals come from files too, where they can be any number: their difference wraps around instead of overflowing.
  const auto delta = static_cast<std::int64_t>(static_cast<std::uint64_t>(after) - static_cast<std::uint64_t>(before));
  fmt::format_to(std::back_inserter(out), R"(,"{}":{},"{}":{},"{}":{})", keys.before, before, keys.after, after, keys.delta, delta);
}

bool needs_kind(const trace::Recording& recording, EventIndex event) {
  const EventKind kind = recording.events.kind[event];
  const EventKind seen = trace::chrome_format::kind_seen_by_readers(kind);
  return trace::chrome_format::implied_kind(seen, recording.name(event), recording.events.link[event]) != kind;
}

}  // namespace mindtorch::exporter::chrome
