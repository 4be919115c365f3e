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

// Calls take(item) for each item of a list that may be missing.
template <class Take>
void for_each(simdjson::simdjson_result<element> list, Take take) {
  simdjson::dom::array items;
  if (list.get_array().get(items) != simdjson::SUCCESS) return;
  for (const element item : items) take(item);
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
  return {{fmt::format("{}", integer(row[own::row::kPid])), fmt::format("{}", integer(row[own::row::kTid])), is_stream}, std::move(track)};
}

}  // namespace

std::string json_string_text(std::string_view token) {
  simdjson::dom::parser parser;
  return text(parser.parse(token.data(), token.size()));
}

std::optional<OwnHeader> read_own_header(std::string_view json, trace::Recording& recording) {
  simdjson::dom::parser parser;
  element top;
  if (parser.parse(json.data(), json.size()).get(top) != simdjson::SUCCESS || integer(top[own::kVersion]) != own::kCurrentVersion)
    return std::nullopt;
  OwnHeader header;
  header.devices_known = flag(top[own::kDevicesKnown]);
  recording.clock.base_unix_ns = integer(top[own::kTimelineZero]);
  recording.clock.start_ns = integer(top[own::kWindow].at(0));
  recording.clock.end_ns = integer(top[own::kWindow].at(1));
  for_each(top[own::kActivities], [&](element type) {
    recording.options.activities.push_back(static_cast<trace::DeviceType>(integer(simdjson::simdjson_result<element>(element(type)))));
  });
  for_each(top[own::kLosses], [&](element loss) {
    recording.losses.push_back({loss_reason(text(loss["reason"])), natural(loss["count"]), text(loss["where"]), text(loss["detail"])});
  });
  for_each(top[own::kClocks], [&](element clock) {
    double ticks = 1e9;
    if (clock[own::clock::kTicksPerSecond].get_double().get(ticks) != simdjson::SUCCESS) ticks = 1e9;
    recording.clock.domains.push_back(
        {text(clock[own::clock::kName]), ticks, integer(clock[own::clock::kErrorBound]), natural(clock[own::clock::kSamples])});
  });
  for_each(top[own::kSteps], [&](element mark) { recording.steps.push_back({integer(mark.at(0)), integer(mark.at(1))}); });
  for_each(top[own::kMemoryBaselines], [&](element entry) {
    recording.memory_baselines.push_back({device(entry.at(0), entry.at(1)), integer(entry.at(2)), integer(entry.at(3))});
  });
  for_each(top[own::kMemoryTags], [&](element tag) {
    recording.memory_tags.push_back({integer(tag.at(0)), natural(tag.at(1)), static_cast<trace::MemoryCategory>(integer(tag.at(2)))});
  });
  for_each(top[own::kRows], [&](element row) { header.rows.push_back(row_and_track(row)); });
  return header;
}

}  // namespace mindtorch::ingest::chrome
