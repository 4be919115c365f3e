// Devices and losses as text.
#include "mindtorch/trace/text.h"

#include <algorithm>
#include <charconv>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"

namespace mindtorch::trace {

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
  if (!is_device) throw_error<InvalidArgument>("trace.parse_device", "'{}' is no device; say cpu, npu:0 or cuda:0", text);
  return device;
}

std::string loss_json(const Loss& loss) {
  return fmt::format(R"({{"reason":"{}","count":{},"where":{},"detail":{}}})", loss_reason_name(loss.reason), loss.count,
                     json_quoted(loss.where), json_quoted(loss.detail));
}

}  // namespace mindtorch::trace
