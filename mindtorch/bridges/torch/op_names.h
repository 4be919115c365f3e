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
  bool is_aten = false;        // aten::..., called through its schema: never with keyword values of the caller's
};

// By address first: the name of an operator lives in its schema, so that the address finds it. Other names are temporary copies that come
// at any address: what the address finds is compared, and if it is another text, the text is looked up.
class OpNameCache {
 public:
  // `name` must be the text of a std::string: its first kHead bytes may be read whatever its length.
  OpName find(const char* name) noexcept {
    const ByAddress& entry = by_address_[address_index(name)];
    if (entry.address == name && std::memcmp(entry.head, name, kHead) == 0 && (!entry.is_long || std::strcmp(entry.text, name) == 0))
        [[likely]]
      return entry.name;
    return find_by_text(name);
  }

 private:
  static constexpr std::size_t kEntries = 512;
  static constexpr std::size_t kHead = 16;  // the least room that a std::string has

  // Holds the head of the text, so that a short name is compared without touching other memory.
  struct ByAddress {
    const char* address = nullptr;
    char head[kHead] = {};
    const char* text = "";  // lives as long as the process
    OpName name;
    bool is_long = false;  // longer than the head
  };
  struct ByText {
    const char* text = "";
    OpName name;
  };

  static std::size_t address_index(const char* address) noexcept {
    return (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> 55;
  }
  static_assert(kEntries == 512, "address_index() gives 9 bits");

  OpName find_by_text(const char* name) noexcept;

  std::array<ByAddress, kEntries> by_address_;
  std::array<ByText, kEntries> by_text_;
};

}  // namespace mindtorch::torch_bridge
