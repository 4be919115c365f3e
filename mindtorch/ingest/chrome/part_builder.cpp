// Elements become events.
#include "mindtorch/ingest/chrome/part_builder.h"

#include <bit>
#include <cmath>

#include "mindtorch/ingest/chrome/raw_json.h"
#include "mindtorch/ingest/chrome/stack_references.h"
#include "mindtorch/trace/clock_mapping.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::ingest::chrome {
namespace {

namespace format = trace::chrome_format;
using trace::DeviceType;
using trace::EventIndex;
using trace::EventKind;

std::uint8_t device_index(std::int64_t index) { return static_cast<std::uint8_t>(index > 0 && index < 256 ? index : 0); }

// An unknown device type is treated as CUDA, because it is most likely an accelerator.
trace::Device device_from(std::int64_t type, std::int64_t index) {
  if (type == static_cast<int>(DeviceType::kCpu)) return {};
  return {type == static_cast<int>(DeviceType::kNpu) ? DeviceType::kNpu : DeviceType::kCuda, device_index(index)};
}

// False if there is none. Times that are farther away than a timeline reaches are none: sums of two of them would overflow.
bool read_time(std::string_view token, std::int64_t& time) {
  const std::optional<std::int64_t> parsed = parse_micros(token);
  if (!parsed || *parsed < -trace::kFarthestNs || *parsed > trace::kFarthestNs) return false;
  time = *parsed;
  return true;
}

std::uint64_t link_of(EventKind kind, const ParsedArguments& arguments) {
  if (trace::has_correlation(kind)) return static_cast<std::uint64_t>(arguments.correlation);
  constexpr std::int64_t kSequences = std::int64_t{1} << 39;  // that fit into a link
  if (arguments.sequence < 0 || arguments.sequence >= kSequences) return 0;
  return trace::make_sequence_link(arguments.sequence, static_cast<std::uint32_t>(arguments.forward_thread));
}

}  // namespace

void PartBuilder::add(Element& element) {
  const std::string_view phase = inside_quotes(element.phase);
  switch (phase.empty() ? '\0' : phase[0]) {
    case 'X': return add_complete(element);
    case 'i':
    case 'I':
    case 'R': return add_instant(element);
    case 'M': return add_metadata(element);
    case 'C': return add_counter(element);
    case 's': return add_flow(element, true, false);
    case 't': return add_flow(element, false, false);
    case 'f': return add_flow(element, false, true);
    case 'P': {
      // Looks without a duration are not read back into samples, which have one.
      const std::string& name = part_.recording.names[element.name];
      if (name == format::kProfileStart || name == format::kProfilePart) return;
      return skip("phase P");
    }
    case '\0': return skip("no phase");
    default: return skip("phase " + std::string(phase));
  }
}

const PartBuilder::Category& PartBuilder::category_of(std::string_view token) {
  const std::uint32_t id = category_ids_.find_or_add(
      hash_of(token), [&](std::uint32_t known) { return is_same(categories_[known].first, token); },
      [&] {
        Category category;
        const auto meaning = format::meaning_of_category(inside_quotes(token));
        category.is_known = meaning.has_value();
        if (meaning) category.meaning = *meaning;
        categories_.emplace_back(token, category);
        return static_cast<std::uint32_t>(categories_.size() - 1);
      });
  return categories_[id].second;
}

void PartBuilder::add_complete(Element& element) {
  std::int64_t start = 0, duration = 0;
  if (!read_time(element.start, start)) return skip("no time");
  if (!read_time(element.duration, duration) || duration < 0) return skip("no duration");
  const Category& category = category_of(element.category);
  if (!category.is_known && inside_quotes(element.category) == format::kSpanCategory) return skip("span of the trace");
  if (element.arguments.is_derived) return skip("Python function known from stacks");
  add_event(element, category, start, duration);
}

void PartBuilder::add_instant(Element& element) {
  std::int64_t time = 0;
  if (!read_time(element.start, time)) return skip("no time");
  const std::string& name = part_.recording.names[element.name];
  if (name == format::kMemoryName) return add_memory(element, time);
  if (name == format::kWindowStart || name == format::kWindowEnd) {
    (name == format::kWindowStart ? part_.window_start_ns : part_.window_end_ns) = time;
    return skip("window of the recording");
  }
  Category instant;
  instant.meaning.kind = EventKind::kInstant;
  add_event(element, instant, time, 0);
}

// "aten::add.Tensor" that says that its overload is "Tensor" is the op "aten::add".
trace::NameId PartBuilder::name_without_overload(const Element& element) {
  std::vector<std::string>& names = part_.recording.names;
  for (const trace::Attribute& attribute : element.arguments.attributes) {
    if (attribute.type != trace::Attribute::Type::kText || names[attribute.key] != trace::chrome_format::kOverloadName) continue;
    const std::string_view name = names[element.name], overload = names[static_cast<std::size_t>(attribute.bits)];
    if (name.size() <= overload.size() || !name.ends_with(overload)) continue;
    const std::string plain(name.substr(0, name.size() - overload.size()));
    if (plain.ends_with('.')) return names_.intern(names, std::string_view(plain).substr(0, plain.size() - 1));
  }
  return element.name;
}

void PartBuilder::add_event(Element& element, const Category& category, std::int64_t start, std::int64_t duration) {
  trace::Recording& recording = part_.recording;
  trace::EventColumns& events = recording.events;
  ParsedArguments& arguments = element.arguments;
  element.name = name_without_overload(element);
  std::uint64_t link = link_of(category.meaning.kind, arguments);
  EventKind kind = format::implied_kind(category.meaning.kind, recording.names[element.name], link);
  trace::Device device = {category.meaning.device, device_index(arguments.device)};
  if (!category.is_known && arguments.stream >= 0) {  // only work on a device has a stream
    kind = EventKind::kKernel;
    link = link_of(kind, arguments);
    device.type = DeviceType::kCuda;
  }
  if (!arguments.kind.empty()) kind = trace::event_kind_of_name(arguments.kind).value_or(kind);
  if (kind == EventKind::kStep) link = trace::step_link_in_name(recording.names[element.name]);
  part_.saw_npu |= trace::is_launch_kind(kind) && category.meaning.device == DeviceType::kNpu;
  part_.saw_cuda |= trace::is_launch_kind(kind) && category.meaning.device == DeviceType::kCuda;
  std::uint8_t flags = (arguments.is_unfinished ? trace::kUnfinished : 0) | (arguments.is_async ? trace::kAsync : 0);
  if (arguments.device_type >= 0) {
    device = device_from(arguments.device_type, arguments.device_id);
    flags |= trace::kKnownDevice;
  }
  const auto index = static_cast<EventIndex>(events.size());
  events.push_back(
      {.start_ns = start, .duration_ns = duration, .name = element.name, .link = link, .device = device, .kind = kind, .flags = flags});
  part_.row_of_event.push_back(row_of(element, trace::is_device_kind(kind), arguments.stream));
  add_side_data(arguments, index);
}

void PartBuilder::add_side_data(ParsedArguments& arguments, EventIndex event) {
  trace::Recording& recording = part_.recording;
  if (!arguments.inputs.empty()) recording.inputs.add(event, trace::encode_inputs(arguments_.resolve_inputs(arguments.inputs)));
  if (!arguments.attributes.empty()) recording.attributes.add(event, arguments.attributes);
  if (arguments.same_stack >= 0 && arguments.same_stack < kMaxStackId)  // it may be in another part of the file
    arguments.stack = {{.line = stack_reference(arguments.same_stack)}};
  if (!arguments.stack.empty()) {
    const trace::StackId stack = stacks_.intern(recording.stacks, arguments.stack);
    recording.stacks.of_event.add(event, {&stack, 1});
    if (arguments.stack_id >= 0) part_.stack_of_id.emplace_back(arguments.stack_id, stack);
  }
}

void PartBuilder::add_memory(const Element& element, std::int64_t time) {
  const ParsedArguments& arguments = element.arguments;
  part_.recording.memory.push_back({.time_ns = time,
                                    .track = row_of(element, false, -1),
                                    .address = arguments.address,
                                    .bytes = arguments.bytes,
                                    .device = device_from(arguments.device_type, arguments.device_id),
                                    .total_allocated = arguments.total_allocated,
                                    .total_reserved = arguments.total_reserved});
}

void PartBuilder::add_metadata(const Element& element) {
  const std::vector<std::string>& names = part_.recording.names;
  skip("metadata");
  if (names[element.name] != format::kRowName) return;
  for (const trace::Attribute& attribute : element.arguments.attributes) {
    if (attribute.type != trace::Attribute::Type::kText || names[attribute.key] != "name") continue;
    part_.row_names[{std::string(element.pid), std::string(element.tid), false}] = names[static_cast<std::size_t>(attribute.bits)];
  }
}

void PartBuilder::add_counter(const Element& element) {
  std::int64_t time = 0;
  if (!read_time(element.start, time)) return skip("no time");
  const trace::NameId process = names_.intern(part_.recording.names, inside_quotes(element.pid));
  for (const trace::Attribute& attribute : element.arguments.attributes) {
    const bool is_real = attribute.type == trace::Attribute::Type::kDouble;
    if (!is_real && attribute.type != trace::Attribute::Type::kInt) continue;
    const double value = is_real ? std::bit_cast<double>(attribute.bits) : static_cast<double>(attribute.bits);
    if (std::isfinite(value)) part_.counter_samples.push_back({element.name, attribute.key, process, time, value});
  }
}

// Arrows are told apart by category, name and id together.
void PartBuilder::add_flow(const Element& element, bool starts, bool ends) {
  skip("flow");
  if (!keep_flows_) return;
  const std::uint64_t hash = hash_of(part_.recording.names[element.name]) ^ (hash_of(element.category) * 3) ^ (hash_of(element.id) * 5);
  if (starts) part_.flow_starts.push_back(hash);
  if (ends) part_.flow_ends.push_back(hash);
}

RowId PartBuilder::row_of(const Element& element, bool is_device, std::int64_t stream) {
  const auto same = [&](const RowKey& key) {
    return is_same(key.tid, element.tid) && is_same(key.pid, element.pid) && key.is_device == is_device;
  };
  RowId& last = last_rows_[is_device ? 1 : 0];
  if (last >= part_.rows.size() || !same(part_.rows[last])) {
    last = rows_.find_or_add(
        hash_of_row(element.pid, element.tid, is_device), [&](std::uint32_t id) { return same(part_.rows[id]); },
        [&] {
          part_.rows.push_back({std::string(element.pid), std::string(element.tid), is_device});
          part_.streams.push_back(-1);
          return static_cast<std::uint32_t>(part_.rows.size() - 1);
        });
  }
  if (stream >= 0) part_.streams[last] = stream;
  return last;
}

}  // namespace mindtorch::ingest::chrome
