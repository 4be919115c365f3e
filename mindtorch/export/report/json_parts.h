// Pieces of the JSON of a report: texts that are safe inside a page, lists, and the list of names that all tables refer to.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/base/demangle.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/markup.h"

namespace mindtorch::exporter {

// `text` as JSON that cannot end the element around it.
inline std::string quoted(std::string_view text) {
  std::string safe;
  for (const char c : json_quoted(text)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

// Names of C++ kernels can have thousands of characters.
inline std::string short_name(std::string_view name) { return shortened(valid_utf8(demangled(name)), 300); }

// [text(item), ...]
template <class Items, class Text>
std::string list(const Items& items, Text text) {
  std::string joined = "[";
  for (const auto& item : items) {
    if (joined.size() > 1) joined += ',';
    joined += text(item);
  }
  return joined + "]";
}

template <class Numbers>
std::string numbers(const Numbers& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

inline std::string json_list(const std::vector<std::string>& values) {
  return list(values, [](const std::string& value) { return quoted(value); });
}

// Tables hold the numbers of names, and the page has the names once.
class Names {
 public:
  std::size_t id(std::string_view text) {
    if (const auto known = ids_of_whole_.find(text); known != ids_of_whole_.end()) return known->second;
    const auto [at, is_new] = ids_.emplace(short_name(text), texts_.size());
    if (is_new) texts_.push_back(at->first);
    return ids_of_whole_.emplace(text, at->second).first->second;
  }
  std::string json() const { return json_list(texts_); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> ids_of_whole_;  // by the name as it was recorded
  std::unordered_map<std::string, std::size_t> ids_;                                  // by the name as it is shown
  std::vector<std::string> texts_;
};

}  // namespace mindtorch::exporter
