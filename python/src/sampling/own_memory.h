// Reads the memory of this process at addresses that may mean nothing any more: then a call says so, and nothing faults.
#pragma once

#include <cstddef>
#include <span>

#include "python/src/capture/interpreter_memory.h"

namespace mindtorch::python {

// Copies `bytes` bytes from an address. False if not all of them can be read. Any thread; takes a microsecond.
bool read_memory(Address from, void* to, std::size_t bytes) noexcept;

// Copies several parts at once: as close to one moment as it gets. False if any of them cannot be read.
struct MemoryPart {
  Address from = 0;
  void* to = nullptr;
  std::size_t bytes = 0;
};
inline constexpr std::size_t kMostParts = 128;
bool read_parts(std::span<const MemoryPart> parts) noexcept;

template <class T>
bool read_value(Address from, T& to) noexcept {
  return read_memory(from, &to, sizeof to);
}

// Whether the system lets a process read its memory like this.
bool can_read_memory() noexcept;

}  // namespace mindtorch::python
