// Names of ops as ids: a cache of one thread. Needs nothing of torch.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

struct OpName {
  record::NameId id = 0;
  bool is_evaluation = false;  // autograd::engine::evaluate_function: ...
  bool is_step = false;        // ProfilerStep#...
};

// By address first: the name of an operator lives in its schema, so that the address finds it. Other names are temporary copies that come
// at any address, so what was found is compared, and only the text decides.
class OpNameCache {
 public:
  OpName find(const char* name) noexcept {
    Entry& entry = entries_[index_of(name)];
    if (entry.address == name && std::strcmp(entry.text, name) == 0) [[likely]]
      return entry.name;
    return find_by_text(name, entry);
  }

 private:
  struct Entry {
    const char* address = nullptr;
    const char* text = "";  // lives as long as the process
    OpName name;
  };
  static constexpr std::size_t kEntries = 512;

  static std::size_t index_of(const char* address) noexcept {
    return (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> 55;
  }
  static_assert(kEntries == 512, "index_of() gives 9 bits");

  static OpName find_by_text(const char* name, Entry& entry) noexcept;

  std::array<Entry, kEntries> entries_;
};

}  // namespace mindtorch::torch_bridge
