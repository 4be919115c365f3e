// Slot: the 32 bytes that one event takes while it is being recorded, and the rules by which threads share them.
#pragma once

#include <atomic>
#include <cstdint>

#include "mindtorch/trace/event.h"

namespace mindtorch::record {

using trace::Device;
using trace::DeviceType;
using trace::EventKind;
using trace::NameId;

struct Slot {
  std::uint64_t start;  // ticks
  std::uint64_t end;    // ticks; 0 while the scope is open: end_of()
  NameId name;          // 0 for a step that its number names
  EventKind kind;
  std::uint8_t flags;  // trace::EventFlag: flags_of()
  Device device;
  std::uint64_t link;  // see trace::make_sequence_link: link_of()
};
static_assert(sizeof(Slot) == 32, "two slots share a cache line; hosts are compiled against this layout");

// The thread that opened a slot writes it and publishes it. Three fields may change afterwards, while another thread (stop(), the spill)
// reads them: all access to these goes through the functions below. A reader that sees the end also sees the flags that were set before it.
inline std::uint64_t end_of(const Slot& slot) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<Slot&>(slot).end).load(std::memory_order_acquire);
}
inline bool is_open(const Slot& slot) noexcept { return end_of(slot) == 0; }
inline void store_end(Slot& slot, std::uint64_t ticks) noexcept {
  std::atomic_ref<std::uint64_t>(slot.end).store(ticks, std::memory_order_release);
}
inline std::uint64_t link_of(const Slot& slot) noexcept {
  return std::atomic_ref<std::uint64_t>(const_cast<Slot&>(slot).link).load(std::memory_order_relaxed);
}
inline void set_slot_link(Slot& slot, std::uint64_t link) noexcept {
  std::atomic_ref<std::uint64_t>(slot.link).store(link, std::memory_order_relaxed);
}
inline std::uint8_t flags_of(const Slot& slot) noexcept {
  return std::atomic_ref<std::uint8_t>(const_cast<Slot&>(slot).flags).load(std::memory_order_relaxed);
}
inline void add_slot_flag(Slot& slot, std::uint8_t flag) noexcept {
  std::atomic_ref<std::uint8_t>(slot.flags).fetch_or(flag, std::memory_order_relaxed);
}

}  // namespace mindtorch::record
