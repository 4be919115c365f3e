// A cache of one thread from names of ops to their ids. It does not use torch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

struct OpName {
  record::NameId id = 0;
  bool is_evaluation = false;  // autograd::engine::evaluate_function: ...
  bool is_step = false;        // a step of torch's profiler: its name tells its number
  bool is_aten = false;        // aten::..., called through its schema: never with keyword values of the caller's
};

// The name of an operator is stored in its schema, so its address identifies it and the text is not read. Other names are copies at any
// address; they are looked up by their text.
class OpNameCache {
 public:
  // Null if the address was not added or was evicted by others.
  const OpName* at_address(const char* name) const noexcept {
    const Group& group = by_address_[group_index(name)];
    if (group[0].address == name) [[likely]]
      return &group[0].name;
    return at_address(group, name);
  }
  // For a text that stays where it is until forget_addresses().
  void remember_address(const char* name, const OpName& as) noexcept;
  void forget_addresses() noexcept { by_address_.fill({}); }

  OpName of_text(const char* name) noexcept;

 private:
  static constexpr int kGroupBits = 8, kTextBits = 9;
  struct ByAddress {
    const char* address = nullptr;
    OpName name;
  };
  using Group = std::array<ByAddress, 4>;  // a line of the cache; the latest comes first
  struct ByText {
    const char* text = "";  // lives as long as the process
    OpName name;
  };

  static std::size_t group_index(const char* address) noexcept {
    return (reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> (64 - kGroupBits);
  }
  static const OpName* at_address(const Group& group, const char* name) noexcept;

  alignas(64) std::array<Group, std::size_t{1} << kGroupBits> by_address_;
  std::array<ByText, std::size_t{1} << kTextBits> by_text_;
};

}  // namespace mindtorch::torch_bridge
