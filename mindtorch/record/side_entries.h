// The layouts of side entries with a fixed size, each with its writer and its reader. InputWriter writes the arguments of ops, which
// trace/inputs.h decodes; stacks are opaque words of their provider. Internal to record.
#pragma once

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

  void pack(std::int64_t* words) const noexcept {
    words[0] = static_cast<std::int64_t>(std::uint64_t{key} | (static_cast<std::uint64_t>(type) << 32));
    words[1] = bits;
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

  void pack(std::int64_t* words) const noexcept {
    words[0] = static_cast<std::int64_t>(ticks);
    words[1] = static_cast<std::int64_t>(address);
    words[2] = bytes;
    words[3] = static_cast<std::int64_t>(device.type) | (std::int64_t{device.index} << 8);
    words[4] = total_allocated;
    words[5] = total_reserved;
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

  void pack(std::int64_t* words) const noexcept {
    words[0] = static_cast<std::int64_t>(ticks);
    words[1] = static_cast<std::int64_t>(address);
    words[2] = static_cast<std::int64_t>(category);
  }
  static MemoryTagEntry unpack(std::span<const std::int64_t> words) noexcept {
    return {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1]), static_cast<trace::MemoryCategory>(words[2])};
  }
};

// The time of an entry that belongs to no event. It is the first word of each kind of them.
inline std::uint64_t ticks_of_loose_entry(std::span<const std::int64_t> words) noexcept { return static_cast<std::uint64_t>(words[0]); }

// Writes an entry to room that reserve_side() has given.
template <class Entry>
void fill_entry(ThreadLog* log, std::int64_t* at, const Entry& entry, std::uint32_t slot_index) noexcept {
  entry.pack(at + 1);  // in place: a copy through the stack would wait for its stores
  commit_side(log, at, Entry::kKind, Entry::kWords, slot_index);
}

// Writes an entry of the event at `slot_index`; false if it was refused, which is counted.
template <class Entry>
bool write_entry(ThreadLog* log, const Entry& entry, std::uint32_t slot_index) noexcept {
  std::int64_t* const at = reserve_side(log, Entry::kWords);
  if (at != nullptr) fill_entry(log, at, entry, slot_index);
  return at != nullptr;
}

}  // namespace mindtorch::record
