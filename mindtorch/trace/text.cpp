// Devices, kinds of events, steps and losses as text.
#include "mindtorch/trace/text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "mindtorch/base/error.h"
#include "mindtorch/base/json_writer.h"

namespace mindtorch::trace {
namespace {

constexpr std::array<std::string_view, kEventKinds> kEventKindNames = {
    "op",     "backward", "scope",  "step", "module",     "python_function", "runtime", "driver",
    "kernel", "memcpy",   "memset", "sync", "collective", "device_scope",    "instant", "overhead"};

}  // namespace

Device parse_device(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view type = text.substr(0, colon);
  Device device;
  if (type == "cuda") device.type = DeviceType::kCuda;
  if (type == "npu" || type == "privateuseone") device.type = DeviceType::kNpu;
  bool is_device = type == "cpu" || device.type != DeviceType::kCpu;
  if (colon < text.size()) {
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + colon + 1, last, device.index);
    is_device &= error == std::errc() && end == last;
  }
  if (!is_device) throw_error<InvalidArgument>("trace.parse_device", "'{}' is not a device; use cpu, npu:0 or cuda:0", text);
  return device;
}

std::string device_text(Device device) {
  if (device.type == DeviceType::kCpu) return "CPU";
  return fmt::format("{}:{}", device_type_name(device.type), device.index);
}

std::string device_specifier(Device device) {
  if (device.type == DeviceType::kCpu) return "cpu";
  return fmt::format("{}:{}", device.type == DeviceType::kCuda ? "cuda" : "npu", device.index);
}

std::string_view event_kind_name(EventKind kind) { return kEventKindNames[static_cast<std::size_t>(kind)]; }

std::optional<EventKind> event_kind_of_name(std::string_view name) {
  const auto at = std::ranges::find(kEventKindNames, name);
  if (at == kEventKindNames.end()) return std::nullopt;
  return static_cast<EventKind>(at - kEventKindNames.begin());
}

ScalarType scalar_type_of_name(std::string_view name) {
  for (int type = 0; type < static_cast<int>(ScalarType::kOther); ++type) {
    if (!name.empty() && scalar_type_name(static_cast<ScalarType>(type)) == name) return static_cast<ScalarType>(type);
  }
  return ScalarType::kOther;
}

std::string step_name(std::int64_t step) { return fmt::format("{}{}", kStepPrefix, step); }

std::optional<std::int64_t> step_in_name(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  std::int64_t step = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + kStepPrefix.size(), last, step);
  return error == std::errc() && end == last ? std::optional(step) : std::nullopt;
}

std::uint64_t step_link_in_name(std::string_view name) {
  const std::optional<std::int64_t> step = step_in_name(name);
  return step && *step >= 0 ? make_step_link(*step) : 0;
}

std::string loss_json(const Loss& loss) {
  JsonWriter json;
  json.object([&] {
    json.field("reason", loss_reason_name(loss.reason)).field("count", loss.count).field("where", loss.where).field("detail", loss.detail);
  });
  return json.take();
}

}  // namespace mindtorch::trace
