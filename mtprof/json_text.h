// Lists and devices as commands write them in JSON.
#pragma once

#include <fmt/format.h>

#include <string>

#include "mindtorch/trace/event.h"

namespace mindtorch::mtprof {

// "CPU", "CUDA 1"
inline std::string device_text(trace::Device device) {
  const std::string_view type = trace::device_type_name(device.type);
  return device.type == trace::DeviceType::kCpu ? std::string(type) : fmt::format("{} {}", type, device.index);
}

// `items` as a JSON list.
template <class Items, class Format>
std::string json_list(const Items& items, Format format) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + format(item);
  return "[" + text + "]";
}

}  // namespace mindtorch::mtprof
