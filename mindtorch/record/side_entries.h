// The layouts of side entries with a fixed size, each with its writer and its reader. InputWriter writes the arguments of ops, which
// trace/inputs.h decodes; stacks are opaque words of their provider. Internal to record.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "mindtorch/record/thread_log.h"

namespace mindtorch::record {

// A key and a value of an event.
struct AttributeEntry {
  static constexpr SideKind kKind = SideKind::kAttribute;
  static constexpr std::size_t kWords = 2;
  NameId key = 0;
  trace::Attribute::Type type{};
  std::int64_t bits = 0;  // as trace::Attribute::bits; the id of a text is the process's

  std::array<std::int64_t, kWords> pack() const noexcept {
    return {static_cast<std::int64_t>(std::uint64_t{key} | (static_cast<std::uint64_t>(type) << 32)), bits};
  }
  static AttributeEntry unpack(std::span<const std::int64_t> words) noexcept {
    return {static_cast<NameId>(words[0]), static_cast<trace::Attribute::Type>(words[0] >> 32), words[1]};
  }
};

// An allocation or a free. It belongs to no event.
struct MemoryEntry {
  static constexpr SideKind kKind = SideKind::kMemory;
  static constexpr std::size_t kWords = 6;
  std::uint64_t ticks = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  Device device;
  std::int64_t total_allocated = 0;
  std::int64_t total_reserved = 0;

  std::array<std::int64_t, kWords> pack() const noexcept {
    return {static_cast<std::int64_t>(ticks),
            static_cast<std::int64_t>(address),
            bytes,
            static_cast<std::int64_t>(device.type) | (std::int64_t{device.index} << 8),
            total_allocated,
            total_reserved};
  }
  static MemoryEntry unpack(std::span<const std::int64_t> words) noexcept {
    return {static_cast<std::uint64_t>(words[0]),
            static_cast<std::uint64_t>(words[1]),
            words[2],
            {static_cast<DeviceType>(words[3] & 0xFF), static_cast<std::uint8_t>(words[3] >> 8)},
            words[4],
            words[5]};
  }
};

// The purpose of the memory at an address. It belongs to no event.
struct MemoryTagEntry {
  static constexpr SideKind kKind = SideKind::kMemoryTag;
  static constexpr std::size_t kWords = 3;
  std::uint64_t ticks = 0;
  std::uint64_t address = 0;
  trace::MemoryCategory category{};

  std::array<std::int64_t, kWords> pack() const noexcept {
    return {static_cast<std::int64_t>(ticks), static_cast<std::int64_t>(address), static_cast<std::int64_t>(category)};
  }
  static MemoryTagEntry unpack(std::span<const std::int64_t> words) noexcept {
    return {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1]), static_cast<trace::MemoryCategory>(words[2])};
  }
};

// Writes an entry of the event at `slot_index`; false if it was refused, which is counted.
template <class Entry>
bool write_entry(ThreadLog* log, const Entry& entry, std::uint32_t slot_index) noexcept {
  std::int64_t* at = reserve_side(log, Entry::kWords);
  if (at == nullptr) return false;
  const auto words = entry.pack();
  for (std::size_t i = 0; i < Entry::kWords; ++i) at[1 + i] = words[i];
  commit_side(log, at, Entry::kKind, Entry::kWords, slot_index);
  return true;
}

}  // namespace mindtorch::record
