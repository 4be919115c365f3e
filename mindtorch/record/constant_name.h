// ConstantName: the id of a text that is written in the program, such as the key of an attribute.
#pragma once

#include <atomic>
#include <string_view>

#include "mindtorch/record/names.h"

namespace mindtorch::record {

// For functions that must not throw. The id is looked up when it is first asked for, and again as long as there is no memory for it; it is
// 0, the empty name, until then. Any thread may ask.
class ConstantName {
 public:
  constexpr explicit ConstantName(std::string_view text) noexcept : text_(text) {}

  trace::NameId id() noexcept {
    if (const trace::NameId known = id_.load(std::memory_order_relaxed); known != 0) [[likely]]
      return known;
    const trace::NameId found = intern_cached(text_);
    id_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const std::string_view text_;
  std::atomic<trace::NameId> id_{0};
};

}  // namespace mindtorch::record
