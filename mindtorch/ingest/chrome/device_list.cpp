// Reads the list of devices with simdjson's DOM.
#include "mindtorch/ingest/chrome/device_list.h"

#include <simdjson.h>

#include <string>
#include <utility>

#include "mindtorch/ingest/chrome/own_header.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::ingest::chrome {
namespace {

namespace device_key = trace::chrome_format::header::device;
using simdjson::dom::element;

// Returns false if the entry holds something that DeviceProperties cannot.
bool read_device(element entry, trace::MemoryBudget& budget, trace::DeviceProperties& into) {
  simdjson::dom::object fields;
  if (entry.get_object().get(fields) != simdjson::SUCCESS) return false;
  for (const auto [name, value] : fields) {
    if (std::string_view text; name == device_key::kName && value.get_string().get(text) == simdjson::SUCCESS) {
      into.name = text;
      continue;
    }
    std::int64_t number = 0;
    if (value.get_int64().get(number) != simdjson::SUCCESS) return false;
    if (name == device_key::kId) {
      if (number < 0 || number > 255) return false;
      into.device.index = static_cast<std::uint8_t>(number);
      continue;
    }
    budget.take_for<trace::DeviceProperty>(1);
    into.numbers.push_back({std::string(name), number});
  }
  return true;
}

}  // namespace

std::optional<std::vector<trace::DeviceProperties>> read_device_list(std::string_view json, trace::DeviceType type,
                                                                     trace::MemoryBudget& budget) {
  budget.take(kParserBytes * json.size());
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  if (parser.parse(json.data(), json.size()).get_array().get(entries) != simdjson::SUCCESS) return std::nullopt;
  std::vector<trace::DeviceProperties> devices;
  for (const element entry : entries) {
    budget.take_for<trace::DeviceProperties>(1);
    trace::DeviceProperties device{.device = {type, 0}, .name = {}, .numbers = {}};
    if (!read_device(entry, budget, device)) return std::nullopt;
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace mindtorch::ingest::chrome
