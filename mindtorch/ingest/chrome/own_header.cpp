// Reads the header with simdjson's DOM: it is small, and forgiving access is worth more than speed.
#include "mindtorch/ingest/chrome/own_header.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <string>

#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::ingest::chrome {
namespace {

namespace own = trace::chrome_format::own;
using simdjson::dom::element;

std::int64_t integer(simdjson::simdjson_result<element> value) {
  std::int64_t number = 0;
  return value.get_int64().get(number) == simdjson::SUCCESS ? number : 0;
}

std::uint64_t natural(simdjson::simdjson_result<element> value) {
  std::uint64_t number = 0;
  return value.get_uint64().get(number) == simdjson::SUCCESS ? number : 0;
}

std::string text(simdjson::simdjson_result<element> value) {
  std::string_view view;
  return value.get_string().get(view) == simdjson::SUCCESS ? std::string(view) : std::string();
}

bool flag(simdjson::simdjson_result<element> value) {
  bool is_set = false;
  return value.get_bool().get(is_set) == simdjson::SUCCESS && is_set;
}

trace::Device device(simdjson::simdjson_result<element> type, simdjson::simdjson_result<element> index) {
  return {static_cast<trace::DeviceType>(integer(type)), static_cast<std::uint8_t>(integer(index))};
}

// Appends make(item) for each item of a list that may be missing.
template <class T, class Make>
void append_all(simdjson::simdjson_result<element> list, std::vector<T>& into, trace::MemoryBudget& budget, Make make) {
  simdjson::dom::array items;
  if (list.get_array().get(items) != simdjson::SUCCESS) return;
  for (const element item : items) {
    budget.take_for<T>(1);
    into.push_back(make(item));
  }
}

trace::MemoryCategory memory_category(simdjson::simdjson_result<element> value) {
  const std::int64_t number = integer(value);
  return number >= 0 && number < trace::kMemoryCategories ? static_cast<trace::MemoryCategory>(number) : trace::MemoryCategory::kUnknown;
}

trace::LossReason loss_reason(std::string_view name) {
  for (int reason = 0; reason < trace::kLossReasons; ++reason) {
    if (trace::loss_reason_name(static_cast<trace::LossReason>(reason)) == name) return static_cast<trace::LossReason>(reason);
  }
  return trace::LossReason::kDamagedFile;
}

std::pair<RowKey, trace::Track> row_and_track(element row) {
  const bool is_stream = flag(row[own::row::kIsStream]);
  trace::Track track;
  track.kind = is_stream ? trace::Track::Kind::kStream : trace::Track::Kind::kThread;
  track.device = device(row[own::row::kDeviceType], row[own::row::kDevice]);
  track.pid = integer(row[own::row::kProcess]);
  track.id = integer(row[own::row::kId]);
  track.number = static_cast<std::uint32_t>(integer(row[own::row::kNumber]));
  track.name = text(row[own::row::kName]);
  RowKey key{fmt::format("{}", integer(row[own::row::kPid])), fmt::format("{}", integer(row[own::row::kTid])), is_stream};
  return {std::move(key), std::move(track)};
}

}  // namespace

std::string json_string_text(std::string_view token) {
  simdjson::dom::parser parser;
  return text(parser.parse(token.data(), token.size()));
}

std::optional<OwnHeader> read_own_header(std::string_view json, trace::Recording& recording, trace::MemoryBudget& budget) {
  budget.take(kParserBytes * json.size());
  simdjson::dom::parser parser;
  element top;
  if (parser.parse(json.data(), json.size()).get(top) != simdjson::SUCCESS || integer(top[own::kVersion]) != own::kCurrentVersion)
    return std::nullopt;
  OwnHeader header;
  header.devices_known = flag(top[own::kDevicesKnown]);
  recording.clock.base_unix_ns = integer(top[own::kTimelineZero]);
  recording.clock.start_ns = integer(top[own::kWindow].at(0));
  recording.clock.end_ns = integer(top[own::kWindow].at(1));
  const auto read = [&](std::string_view key, auto& into, auto make) { append_all(top[key], into, budget, make); };
  const auto device_type = [](element type) {
    return static_cast<trace::DeviceType>(integer(simdjson::simdjson_result<element>(element(type))));
  };
  read(own::kActivities, recording.options.activities, device_type);
  read(own::kDeviceTypes, header.device_types, device_type);
  read(own::kLosses, recording.losses, [](element loss) {
    return trace::Loss{loss_reason(text(loss["reason"])), natural(loss["count"]), text(loss["where"]), text(loss["detail"])};
  });
  read(own::kClocks, recording.clock.domains, [](element clock) {
    double ticks = 1e9;
    if (clock[own::clock::kTicksPerSecond].get_double().get(ticks) != simdjson::SUCCESS) ticks = 1e9;
    return trace::ClockDomain{text(clock[own::clock::kName]), ticks, integer(clock[own::clock::kErrorBound]),
                              natural(clock[own::clock::kSamples])};
  });
  read(own::kSteps, recording.steps, [](element mark) { return trace::StepMark{integer(mark.at(0)), integer(mark.at(1))}; });
  read(own::kMemoryBaselines, recording.memory_baselines, [](element entry) {
    return trace::MemoryBaseline{device(entry.at(0), entry.at(1)), integer(entry.at(2)), integer(entry.at(3))};
  });
  read(own::kMemoryTags, recording.memory_tags, [](element tag) {
    return trace::MemoryTag{integer(tag.at(0)), natural(tag.at(1)), memory_category(tag.at(2))};
  });
  read(own::kRows, header.rows, row_and_track);
  return header;
}

}  // namespace mindtorch::ingest::chrome
