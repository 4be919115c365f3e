// The header of a Chrome trace.
#include "mindtorch/export/chrome/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "mindtorch/base/text.h"
#include "mindtorch/export/category.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter::chrome {
namespace {

constexpr std::int64_t kBasePeriodNs = std::int64_t{7889238} * 1000000000;  // torch's

constexpr std::array<std::string_view, 13> kReservedKeys = {
    "schemaVersion", "deviceProperties", "trace_id",   "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName",
    "with_stack",    "profile_memory",   "with_flops", "with_modules",    "record_shapes",       kOwnHeader};

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

// Builds `"key": [item,item]` pieces of our own object.
class OwnHeader {
 public:
  template <class Items, class Format>
  void list(std::string_view key, const Items& items, Format format) {
    begin(key);
    text_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += ',';
      first = false;
      text_ += format(item);
    }
    text_ += ']';
  }
  void value(std::string_view key, std::string_view json) {
    begin(key);
    text_ += json;
  }
  std::string finish() { return text_ + '}'; }

 private:
  void begin(std::string_view key) {
    text_ += text_.size() > 1 ? "," : "";
    fmt::format_to(std::back_inserter(text_), "\"{}\":", key);
  }
  std::string text_ = "{";
};

std::string clock_json(const trace::ClockDomain& clock) {
  return fmt::format(R"({{"name":{},"ticks_per_second":{:.17g},"error_bound_ns":{},"samples":{}}})", json_quoted(clock.name),
                     clock.ticks_per_second, clock.error_bound_ns, clock.samples);
}

// The row a track is drawn in, and the track's own identity where viewers could not take it as it is.
std::string row_json(const Row& row, const Layout& layout, const trace::Recording& recording) {
  const trace::Track& track = recording.tracks[row.track];
  return fmt::format(
      R"({{"pid":{},"tid":{},"lane":{},"process":{},"id":{},"number":{},"stream":{},"device_type":{},"device":{},"name":{}}})",
      layout.processes[row.process].pid, row.tid, row.lane, track.pid, track.id, track.number, track.kind == trace::Track::Kind::kStream,
      static_cast<int>(track.device.type), track.device.index, json_quoted(track.name));
}

std::string own_header(const trace::Recording& recording, const Layout& layout, bool devices_known) {
  OwnHeader header;
  header.value("version", "1");
  header.value("timeline_zero_unix_ns", fmt::format("{}", recording.clock.base_unix_ns));
  header.value("window_ns", fmt::format("[{},{}]", recording.clock.start_ns, recording.clock.end_ns));
  header.value("devices_known", devices_known ? "true" : "false");
  header.list("activities", recording.options.activities, [](trace::DeviceType type) { return fmt::format("{}", static_cast<int>(type)); });
  header.list("losses", recording.losses, trace::loss_json);
  header.list("clocks", recording.clock.domains, clock_json);
  header.list("rows", layout.rows, [&](const Row& row) { return row_json(row, layout, recording); });
  header.list("steps", recording.steps, [](const trace::StepMark& mark) { return fmt::format("[{},{}]", mark.time_ns, mark.step); });
  header.list("memory_baselines", recording.memory_baselines, [](const trace::MemoryBaseline& baseline) {
    return fmt::format("[{},{},{},{}]", static_cast<int>(baseline.device.type), baseline.device.index, baseline.allocated,
                       baseline.reserved);
  });
  header.list("memory_tags", recording.memory_tags, [](const trace::MemoryTag& tag) {
    return fmt::format("[{},{},{}]", tag.time_ns, tag.address, static_cast<int>(tag.category));
  });
  return header.finish();
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
  std::string finish() { return text_ + "\"traceEvents\": [\n"; }

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
  const auto value_of = [&](std::string_view key, std::string_view otherwise) {
    const auto at = metadata.find(std::string(key));
    return at != metadata.end() && is_json(at->second) ? at->second : std::string(otherwise);
  };
  header.line("schemaVersion", "1");
  // Before anything else that could hold the word "rank".
  if (metadata.contains("distributedInfo")) header.line("distributedInfo", spaced_json(value_of("distributedInfo", "{}")));
  header.line("deviceProperties", value_of("deviceProperties", "[]"));
  header.line("trace_id", json_quoted(recording.trace_id));
  const trace::RecordedOptions& options = recording.options;
  const std::array<std::pair<std::string_view, bool>, 5> flags = {{{"record_shapes", options.shapes},
                                                                   {"with_stack", options.stacks},
                                                                   {"profile_memory", options.memory},
                                                                   {"with_flops", options.flops},
                                                                   {"with_modules", options.modules}}};
  for (const auto& [key, on] : flags) {
    if (on) header.line(key, "1");
  }
  for (const auto& [key, json] : metadata) {
    if (key == "distributedInfo" || key == "deviceProperties") continue;
    header.line(is_reserved_key(key) ? "metadata." + key : key, is_json(json) ? json : json_quoted(json));
  }
  header.line(kOwnHeader, own_header(recording, layout, devices_known));
  header.line("displayTimeUnit", "\"ms\"");
  header.line("baseTimeNanoseconds", fmt::format("{}", base_time_ns(recording)));
  return header.finish();
}

bool is_reserved_key(std::string_view key) { return std::ranges::find(kReservedKeys, key) != kReservedKeys.end(); }

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
