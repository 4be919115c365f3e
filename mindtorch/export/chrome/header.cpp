// The header of a Chrome trace.
#include "mindtorch/export/chrome/header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "mindtorch/base/text.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter::chrome {
namespace {

namespace key = trace::chrome_format::header;
namespace own = trace::chrome_format::own;

constexpr const char* kDistributedInfo = "distributedInfo";
constexpr std::int64_t kBasePeriodNs = std::int64_t{7889238} * 1000000000;  // torch's

std::int64_t first_time_ns(const trace::Recording& recording) {
  std::int64_t first = recording.clock.start_ns;
  for (const trace::Track& track : recording.tracks) {
    if (track.event_count > 0) first = std::min(first, recording.events.start_ns[track.first_event]);
  }
  if (recording.memory.size() > 0) first = std::min(first, recording.memory.time_ns[0]);
  return first;
}

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

template <class Items, class Format>
std::string list_text(const Items& items, Format format) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += format(item);
  }
  return text + ']';
}

// Builds our own object and the objects in it.
class ObjectText {
 public:
  template <class Items, class Format>
  void list(std::string_view key, const Items& items, Format format) {
    begin(key);
    text_ += list_text(items, format);
  }
  // `value` is a number, a boolean or JSON text.
  template <class Value>
  void value(std::string_view key, const Value& value) {
    begin(key);
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  std::string finish() { return text_ + '}'; }

 private:
  void begin(std::string_view key) {
    text_ += text_.size() > 1 ? "," : "";
    text_ += json_quoted(key);
    text_ += ':';
  }
  std::string text_ = "{";
};

std::string clock_json(const trace::ClockDomain& clock) {
  ObjectText json;
  json.value(own::clock::kName, json_quoted(clock.name));
  json.value(own::clock::kTicksPerSecond, fmt::format("{:.17g}", clock.ticks_per_second));
  json.value(own::clock::kErrorBound, clock.error_bound_ns);
  json.value(own::clock::kSamples, clock.samples);
  return json.finish();
}

// The row a track is drawn in, and the track's own identity where viewers could not take it as it is.
std::string row_json(const Row& row, const Layout& layout, const trace::Recording& recording) {
  const trace::Track& track = recording.tracks[row.track];
  ObjectText json;
  json.value(own::row::kPid, layout.processes[row.process].pid);
  json.value(own::row::kTid, row.tid);
  json.value(own::row::kLane, row.lane);
  json.value(own::row::kProcess, track.pid);
  json.value(own::row::kId, track.id);
  json.value(own::row::kNumber, track.number);
  json.value(own::row::kIsStream, track.kind == trace::Track::Kind::kStream);
  json.value(own::row::kDeviceType, static_cast<int>(track.device.type));
  json.value(own::row::kDevice, track.device.index);
  json.value(own::row::kName, json_quoted(track.name));
  return json.finish();
}

// The object that torch writes for a device.
std::string device_json(const trace::DeviceProperties& properties) {
  ObjectText json;
  json.value(key::device::kId, properties.device.index);
  json.value(key::device::kName, json_quoted(properties.name));
  for (const auto& [name, value] : properties.numbers) json.value(name, value);
  return json.finish();
}

std::string own_header(const trace::Recording& recording, const Layout& layout, bool devices_known) {
  ObjectText json;
  json.value(own::kVersion, own::kCurrentVersion);
  json.value(own::kTimelineZero, recording.clock.base_unix_ns);
  json.value(own::kWindow, fmt::format("[{},{}]", recording.clock.start_ns, recording.clock.end_ns));
  json.value(own::kDevicesKnown, devices_known);
  const auto type_number = [](trace::DeviceType type) { return fmt::format("{}", static_cast<int>(type)); };
  json.list(own::kActivities, recording.options.activities, type_number);
  json.list(own::kDeviceTypes, recording.devices, [&](const trace::DeviceProperties& each) { return type_number(each.device.type); });
  json.list(own::kLosses, recording.losses, trace::loss_json);
  json.list(own::kClocks, recording.clock.domains, clock_json);
  json.list(own::kRows, layout.rows, [&](const Row& row) { return row_json(row, layout, recording); });
  json.list(own::kSteps, recording.steps, [](const trace::StepMark& mark) { return fmt::format("[{},{}]", mark.time_ns, mark.step); });
  json.list(own::kMemoryBaselines, recording.memory_baselines, [](const trace::MemoryBaseline& baseline) {
    return fmt::format("[{},{},{},{}]", static_cast<int>(baseline.device.type), baseline.device.index, baseline.allocated,
                       baseline.reserved);
  });
  json.list(own::kMemoryTags, recording.memory_tags, [](const trace::MemoryTag& tag) {
    return fmt::format("[{},{},{}]", tag.time_ns, tag.address, static_cast<int>(tag.category));
  });
  return json.finish();
}

class Header {
 public:
  void line(std::string_view key, std::string_view json) {
    text_ += '"';
    append_json_escaped(text_, key);
    text_ += "\": ";
    text_ += json;
    text_ += ",\n";
  }
  std::string finish() { return fmt::format("{}\"{}\": [\n", text_, key::kEvents); }

 private:
  std::string text_ = "{\n";
};

}  // namespace

std::int64_t base_time_ns(const trace::Recording& recording) {
  return floor_to(recording.clock.base_unix_ns + std::min<std::int64_t>(0, first_time_ns(recording)), kBasePeriodNs);
}

std::string header_text(const trace::Recording& recording, const Layout& layout, bool devices_known) {
  Header header;
  const auto& metadata = recording.metadata;
  header.line(key::kSchemaVersion, "1");
  // Before anything else that could hold the word "rank".
  if (const auto info = metadata.find(kDistributedInfo); info != metadata.end())
    header.line(kDistributedInfo, is_json(info->second) ? spaced_json(info->second) : "{}");
  header.line(key::kDeviceProperties, list_text(recording.devices, device_json));
  header.line(key::kTraceId, json_quoted(recording.trace_id));
  const trace::RecordedOptions& options = recording.options;
  const std::array<std::pair<std::string_view, bool>, 5> flags = {{{key::kRecordShapes, options.shapes},
                                                                   {key::kWithStack, options.stacks},
                                                                   {key::kProfileMemory, options.memory},
                                                                   {key::kWithFlops, options.flops},
                                                                   {key::kWithModules, options.modules}}};
  for (const auto& [name, on] : flags) {
    if (on) header.line(name, "1");
  }
  for (const auto& [name, json] : metadata) {
    if (name == kDistributedInfo) continue;
    const bool is_taken = trace::chrome_format::is_reserved_key(name);
    header.line(is_taken ? std::string(key::kMetadataPrefix) + name : name, is_json(json) ? json : json_quoted(json));
  }
  header.line(key::kOwn, own_header(recording, layout, devices_known));
  header.line(key::kDisplayTimeUnit, "\"ms\"");
  header.line(key::kBaseTime, fmt::format("{}", base_time_ns(recording)));
  return header.finish();
}

std::string spaced_json(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    out += json[i];
    if (in_string && json[i] == '\\' && i + 1 < json.size()) {
      out += json[++i];
    } else if (json[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (json[i] == ':' || json[i] == ',')) {
      out += ' ';
      while (i + 1 < json.size() && json[i + 1] == ' ') ++i;
    }
  }
  return out;
}

}  // namespace mindtorch::exporter::chrome
