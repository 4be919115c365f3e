// Lists as commands write them in JSON.
#pragma once

#include <fmt/format.h>

#include <string>

namespace mindtorch::mtprof {

// `items` as a JSON list.
template <class Items, class Format>
std::string json_list(const Items& items, Format format) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + format(item);
  return "[" + text + "]";
}

}  // namespace mindtorch::mtprof
