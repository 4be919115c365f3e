// Both recordings as text, line by line.
#include "tests/support/same_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "mindtorch/trace/inputs.h"

namespace mindtorch::tests {
namespace {

using trace::EventIndex;
using trace::Recording;

std::string device_text(trace::Device device) { return fmt::format("{}:{}", trace::device_type_name(device.type), device.index); }

std::string input_text(const Recording& recording, const trace::Input& input) {
  std::string text = fmt::format("{}/{}{}{} {} {} {}", static_cast<int>(input.kind), static_cast<int>(input.dtype), input.sizes,
                                 input.strides, input.integer, input.real, input.reals);
  if (input.kind == trace::Input::Kind::kText) text += recording.names[input.text];
  for (const trace::Input& item : input.list) text += " (" + input_text(recording, item) + ")";
  return text;
}

std::string attribute_text(const Recording& recording, const trace::Attribute& attribute) {
  return fmt::format(
      "{}({})={}", recording.names[attribute.key], static_cast<int>(attribute.type),
      trace::has_text(attribute) ? recording.names[static_cast<std::size_t>(attribute.bits)] : fmt::format("{}", attribute.bits));
}

std::string stack_text(const Recording& recording, trace::StackId stack) {
  std::string text;
  for (const std::uint32_t id : recording.stacks.frames_of(stack)) {
    const trace::Frame& frame = recording.stacks.frames[id];
    text += fmt::format("; frame {}:{}:{}", recording.names[frame.file], frame.line, recording.names[frame.function]);
  }
  return text;
}

std::string event_text(const Recording& recording, EventIndex i) {
  const trace::EventColumns& events = recording.events;
  std::string text = fmt::format("event {} '{}' track {} kind {} at {} for {} link {} device {} flags {}", i, recording.name(i),
                                 recording.track_of(i), static_cast<int>(events.kind[i]), events.start_ns[i], events.duration_ns[i],
                                 events.link[i], device_text(events.device[i]), events.flags[i]);
  if (const auto words = recording.inputs.find(i); !words.empty()) {
    for (const trace::Input& input : trace::decode_inputs(words)) text += "; input " + input_text(recording, input);
  }
  if (const auto stack = recording.stacks.of_event.find(i); !stack.empty()) text += stack_text(recording, stack.front());
  for (const trace::Attribute& attribute : recording.attributes.find(i)) text += "; " + attribute_text(recording, attribute);
  return text;
}

std::vector<std::string> header_lines(const Recording& recording) {
  std::vector<std::string> lines;
  for (const trace::Track& track : recording.tracks) {
    lines.push_back(fmt::format("track kind {} {} pid {} id {} number {} '{}' events {}+{}", static_cast<int>(track.kind),
                                device_text(track.device), track.pid, track.id, track.number, track.name, track.first_event,
                                track.event_count));
  }
  const trace::ClockInfo& clock = recording.clock;
  lines.push_back(fmt::format("clock {} {} {}", clock.base_unix_ns, clock.start_ns, clock.end_ns));
  for (const trace::ClockDomain& domain : clock.domains) {
    lines.push_back(fmt::format("domain {} {} {} {}", domain.name, domain.ticks_per_second, domain.error_bound_ns, domain.samples));
  }
  const trace::RecordedOptions& options = recording.options;
  lines.push_back(fmt::format("options {}{}{}{}{} {}", options.shapes, options.stacks, options.memory, options.flops, options.modules,
                              options.sampling_interval_ns));
  for (const trace::DeviceType type : options.activities) lines.push_back(fmt::format("activity {}", trace::device_type_name(type)));
  for (const trace::DeviceProperties& device : recording.devices) {
    lines.push_back(fmt::format("device {} '{}'", device_text(device.device), device.name));
    for (const auto& [key, value] : device.numbers) lines.push_back(fmt::format("{} {}", key, value));
  }
  for (const auto& [key, json] : recording.metadata) lines.push_back(fmt::format("metadata {} = {}", key, json));
  for (const trace::Loss& loss : recording.losses) {
    lines.push_back(fmt::format("loss {} {} {} {}", trace::loss_reason_name(loss.reason), loss.count, loss.where, loss.detail));
  }
  lines.push_back("trace id " + recording.trace_id);
  for (const trace::StepMark& mark : recording.steps) lines.push_back(fmt::format("step {} at {}", mark.step, mark.time_ns));
  for (const trace::MemoryTag& tag : recording.memory_tags) {
    lines.push_back(fmt::format("tag {} {:x} {}", tag.time_ns, tag.address, trace::memory_category_name(tag.category)));
  }
  for (const trace::MemoryBaseline& baseline : recording.memory_baselines) {
    lines.push_back(fmt::format("baseline {} {} {}", device_text(baseline.device), baseline.allocated, baseline.reserved));
  }
  for (const trace::CounterTrack& counter : recording.counters) {
    lines.push_back(fmt::format("counter {} in {} of {}", counter.name, counter.unit, device_text(counter.device)));
    for (std::size_t i = 0; i < counter.size(); ++i) lines.push_back(fmt::format("{} at {}", counter.values[i], counter.times_ns[i]));
  }
  return lines;
}

std::vector<std::string> all_lines(const Recording& recording) {
  std::vector<std::string> lines = header_lines(recording);
  for (EventIndex i = 0; i < recording.events.size(); ++i) lines.push_back(event_text(recording, i));
  const trace::MemoryColumns& memory = recording.memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    lines.push_back(fmt::format("memory at {} track {} {:x} {} on {} total {} {}", memory.time_ns[i], memory.track[i], memory.address[i],
                                memory.bytes[i], device_text(memory.device[i]), memory.total_allocated[i], memory.total_reserved[i]));
  }
  const trace::SampleColumns& samples = recording.samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::string text = fmt::format("sample at {} for {} track {} {}", samples.time_ns[i], samples.duration_ns[i], samples.track[i],
                                   trace::thread_state_name(samples.state[i]));
    lines.push_back(text + stack_text(recording, samples.stack[i]));
  }
  return lines;
}

}  // namespace

std::string first_difference(const Recording& a, const Recording& b) {
  const std::vector<std::string> left = all_lines(a), right = all_lines(b);
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string l = i < left.size() ? left[i] : "(nothing)", r = i < right.size() ? right[i] : "(nothing)";
    if (l != r) return fmt::format("'{}' is not '{}'", l.substr(0, 2000), r.substr(0, 2000));
  }
  return "";
}

}  // namespace mindtorch::tests
