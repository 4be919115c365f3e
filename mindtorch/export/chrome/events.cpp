// The hot loop of the Chrome exporter: one reservation per event, then literals, digits and texts made once for each name and row.
#include "mindtorch/export/chrome/events.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "mindtorch/analyze/frame_labels.h"
#include "mindtorch/base/text.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::exporter::chrome {
namespace {

namespace argument = trace::chrome_format::argument;
using trace::DeviceType;
using trace::EventIndex;
using trace::EventKind;
using trace::TrackId;

// Room for everything in an event but its name: two times, six numbers, row, category and literals.
constexpr std::size_t kRoom = 640;

trace::DeviceType first_device_type(const trace::Recording& recording) {
  for (const trace::Track& track : recording.tracks) {
    if (track.kind == trace::Track::Kind::kStream) return track.device.type;
  }
  return DeviceType::kCuda;
}

// 7 for "nn.Module: Linear_7".
std::optional<std::uint64_t> number_of_module(std::string_view name) {
  std::uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + name.rfind('_') + 1, end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

bool is_op(EventKind kind) { return kind == EventKind::kOp || kind == EventKind::kBackward; }
bool is_python(EventKind kind) { return kind == EventKind::kPythonFunction || kind == EventKind::kModule; }

}  // namespace

EventsWriter::EventsWriter(const analyze::Analysis& analysis, const Layout& layout, std::int64_t offset_ns, Output& out)
    : recording_(analysis.recording()),
      devices_(has_device_timeline(recording_) ? &analysis : nullptr),
      layout_(layout),
      offset_ns_(offset_ns),
      out_(out),
      arguments_(analysis),
      call_ids_(recording_),
      row_of_event_(layout),
      runtime_device_(first_device_type(recording_)),
      derived_calls_(analyze::derived_calls(recording_)) {
  name_offsets_.reserve(recording_.names.size() + 1);
  for (const std::string& text : recording_.names) {
    if (text == trace::chrome_format::kOverloadName) overload_key_ = static_cast<trace::NameId>(name_offsets_.size());
    name_offsets_.push_back(escaped_names_.size());
    append_json_escaped(escaped_names_, text);
  }
  name_offsets_.push_back(escaped_names_.size());
  for (const Row& row : layout.rows)
    row_text_.push_back(fmt::format(R"(","pid":{},"tid":{},"ts":)", layout.processes[row.process].pid, row.tid));
  for (const DeviceType device : {DeviceType::kCuda, DeviceType::kNpu}) {
    for (int kind = 0; kind < trace::kEventKinds; ++kind) {
      prefix_text_.push_back(
          fmt::format(R"({{"ph":"X","cat":"{}","name":")", trace::chrome_format::category(static_cast<EventKind>(kind), device)));
    }
  }
}

std::string_view EventsWriter::escaped(trace::NameId name) const {
  return std::string_view(escaped_names_).substr(name_offsets_[name], name_offsets_[name + 1] - name_offsets_[name]);
}

std::string_view EventsWriter::overload(EventIndex event) const {
  if (overload_key_ == 0) return {};
  for (const trace::Attribute& attribute : recording_.attributes.find(event))
    if (attribute.key == overload_key_ && attribute.type == trace::Attribute::Type::kText)
      return escaped(static_cast<trace::NameId>(attribute.bits));
  return {};
}

void EventsWriter::write_complete_events() {
  for (TrackId t = 0; t < recording_.tracks.size(); ++t) {
    const trace::Track& track = recording_.tracks[t];
    python_calls_.clear();
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (recording_.events.kind[i] == EventKind::kInstant) continue;
      write_derived_calls(t, i);
      write_complete(t, i);
    }
  }
}

void EventsWriter::write_derived_calls(TrackId track, EventIndex event) {
  for (; next_derived_ < derived_calls_.size() && derived_calls_[next_derived_].first_event == event; ++next_derived_) {
    const analyze::DerivedCall& call = derived_calls_[next_derived_];
    const trace::Frame& frame = recording_.stacks.frames[call.frame];
    scratch_.clear();
    const std::string_view file = analyze::shown_file(recording_.names[frame.file]);
    append_json_escaped(scratch_, analyze::call_name(file, frame.line, recording_.names[frame.function]));
    JsonCursor cursor(out_.reserve(kRoom + scratch_.size()));
    cursor.bytes(prefix_text_[static_cast<std::size_t>(EventKind::kPythonFunction)]).bytes(scratch_).bytes(row_text_[track]);
    cursor.micros(call.start_ns + offset_ns_).literal(R"(,"dur":)").micros(call.end_ns - call.start_ns).literal(R"(,"args":{)");
    write_python_ids(cursor, call.start_ns, call.end_ns);
    out_.advance(cursor.next_key<argument::kDerived>().literal("true}},\n").position());
  }
}

void EventsWriter::write_complete(TrackId track, EventIndex event) {
  const trace::EventColumns& events = recording_.events;
  const std::string_view text = escaped(events.name[event]), version = overload(event);
  const DeviceType device = events.device[event].type == DeviceType::kCpu ? runtime_device_ : events.device[event].type;
  const std::size_t prefix = static_cast<std::size_t>(events.kind[event]) + (device == DeviceType::kNpu ? trace::kEventKinds : 0);
  JsonCursor cursor(out_.reserve(kRoom + text.size() + version.size()));
  cursor.bytes(prefix_text_[prefix]).bytes(text);
  if (!version.empty()) cursor.literal(".").bytes(version);  // as in torch's traces: aten::add.Tensor
  cursor.bytes(row_text_[row_of_event_(track, event)]);
  cursor.micros(events.start_ns[event] + offset_ns_).literal(R"(,"dur":)").micros(events.duration_ns[event]).literal(R"(,"args":{)");
  write_arguments(cursor, track, event);
  if (arguments_.any(event)) {
    out_.advance(cursor.position());
    scratch_.clear();
    arguments_.append(scratch_, event);
    out_.append(scratch_);
    out_.append("}},\n");
  } else {
    out_.advance(cursor.literal("}},\n").position());
  }
}

void EventsWriter::write_arguments(JsonCursor& cursor, TrackId track, EventIndex event) {
  const trace::EventColumns& events = recording_.events;
  const EventKind kind = events.kind[event];
  if (kind == EventKind::kDeviceScope) {  // readers take an event with a stream or a correlation for work
    cursor.first_key<argument::kExternalId>().number(external_id(event));
    return;
  }
  if (trace::has_correlation(kind)) {
    if (const std::uint64_t id = external_id(event)) cursor.first_key<argument::kExternalId>().number(id).literal(",");
    if (trace::is_device_kind(kind)) {
      cursor.first_key<argument::kDevice>().number(std::uint64_t{events.device[event].index});
      cursor.next_key<argument::kStream>().number(layout_.rows[track].tid).literal(",");
    }
    cursor.first_key<argument::kCorrelation>().number(events.link[event]);
    return;
  }
  if (is_python(kind)) {
    write_python_ids(cursor, events.start_ns[event], events.end_ns(event));
    if (kind == EventKind::kModule)
      if (const auto number = number_of_module(recording_.names[events.name[event]]))
        cursor.next_key<argument::kPythonModuleId>().number(*number);
  } else {
    cursor.first_key<argument::kExternalId>().number(recording_.id(event));
    cursor.next_key<argument::kRecordFunctionId>().number(call_ids_.of(event));
    if (const std::int64_t sequence = trace::sequence_of(events.link[event]); sequence >= 0 && trace::has_sequence(kind)) {
      cursor.next_key<argument::kSequence>().number(sequence);
      cursor.next_key<argument::kForwardThread>().number(std::uint64_t{trace::forward_thread_of(events.link[event])});
    }
  }
  cursor.next_key<argument::kEventIndex>().number(std::uint64_t{event});
}

std::uint64_t EventsWriter::external_id(EventIndex event) const {
  if (devices_ == nullptr) return 0;
  const EventKind kind = recording_.events.kind[event];
  EventIndex host = trace::is_launch_kind(kind) ? devices_->tree().parent(event) : devices_->launches().host_of(event);
  if (kind != EventKind::kDeviceScope)
    while (host != analyze::kNoEvent && !is_op(recording_.events.kind[host])) host = devices_->tree().parent(host);
  return host == analyze::kNoEvent ? 0 : recording_.id(host);
}

void EventsWriter::write_python_ids(JsonCursor& cursor, std::int64_t start_ns, std::int64_t end_ns) {
  python_calls_.close_until(start_ns);
  cursor.first_key<argument::kPythonId>().number(++python_ids_).next_key<argument::kPythonParentId>();
  if (python_calls_.empty()) {
    cursor.literal("null");
  } else {
    cursor.number(python_calls_.innermost());
  }
  python_calls_.open(end_ns, python_ids_);
}

void EventsWriter::write_instants() {
  arguments_.rewind();
  for (TrackId t = 0; t < recording_.tracks.size(); ++t) {
    const trace::Track& track = recording_.tracks[t];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (recording_.events.kind[i] == EventKind::kInstant) write_instant(layout_.rows[t], i);
    }
  }
}

void EventsWriter::write_instant(const Row& row, EventIndex event) {
  const std::string_view text = escaped(recording_.events.name[event]);
  JsonCursor cursor(out_.reserve(kRoom + text.size()));
  cursor.literal(R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":")").bytes(text).bytes(row_text_[row.track]);
  cursor.micros(recording_.events.start_ns[event] + offset_ns_).literal(R"(,"args":{)");
  cursor.first_key<argument::kEventIndex>().number(std::uint64_t{event});
  out_.advance(cursor.position());
  scratch_.clear();
  arguments_.append(scratch_, event);
  out_.append(scratch_);
  out_.append("}},\n");
}

void EventsWriter::write_memory() {
  const trace::MemoryColumns& memory = recording_.memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    JsonCursor cursor(out_.reserve(kRoom));
    cursor.literal(R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":")").bytes(trace::chrome_format::kMemoryName);
    cursor.bytes(row_text_[memory.track[i]]).micros(memory.time_ns[i] + offset_ns_).literal(R"(,"args":{)");
    cursor.first_key<argument::kTotalReserved>().number(memory.total_reserved[i]);
    cursor.next_key<argument::kTotalAllocated>().number(memory.total_allocated[i]).next_key<argument::kBytes>().number(memory.bytes[i]);
    // In torch the CPU has no index.
    const trace::Device device = memory.device[i];
    cursor.next_key<argument::kDeviceId>().number(device.type == DeviceType::kCpu ? std::int64_t{-1} : std::int64_t{device.index});
    cursor.next_key<argument::kDeviceType>().number(static_cast<std::uint64_t>(device.type));
    cursor.next_key<argument::kAddress>().number(memory.address[i]).next_key<argument::kFinished>().literal("false");
    cursor.next_key<argument::kEventIndex>().number(recording_.events.size() + i);
    out_.advance(cursor.literal("}},\n").position());
  }
}

void EventsWriter::write_flows(std::string_view kind, const std::vector<Flow>& flows) {
  const auto write_end = [&](const Flow& flow, EventIndex event, bool is_start) {
    JsonCursor cursor(out_.reserve(kRoom));
    cursor.bytes(is_start ? R"({"ph":"s","id":)" : R"({"ph":"f","bp":"e","id":)").number(flow.id).literal(R"(,"cat":")").bytes(kind);
    // An arrow ends at the slice that is open in its row at its time.
    cursor.literal(R"(","name":")").bytes(kind).bytes(row_text_[row_of(event)]).micros(recording_.events.start_ns[event] + offset_ns_);
    out_.advance(cursor.literal("},\n").position());
  };
  for (const Flow& flow : flows) {
    write_end(flow, flow.from, true);
    write_end(flow, flow.to, false);
  }
}

std::uint32_t EventsWriter::row_of(EventIndex event) const {
  const auto in_lane = std::ranges::lower_bound(layout_.lane_events, event, {}, &LaneEvent::event);
  return in_lane != layout_.lane_events.end() && in_lane->event == event ? in_lane->row : recording_.track_of(event);
}

}  // namespace mindtorch::exporter::chrome
