// The record of one event while recording goes on: 32 bytes, written by its own thread alone.
#pragma once

#include <cstdint>

#include "mindtorch/trace/event.h"

namespace mindtorch::record {

using trace::Device;
using trace::DeviceType;
using trace::EventKind;
using trace::NameId;

struct Slot {
  std::uint64_t start;  // ticks
  std::uint64_t end;    // ticks; 0 while the scope is open
  NameId name;
  EventKind kind;
  std::uint8_t flags;  // trace::EventFlag
  Device device;
  std::uint64_t link;  // see trace::make_sequence_link
};
static_assert(sizeof(Slot) == 32, "two slots share a cache line; hosts are compiled against this layout");

}  // namespace mindtorch::record
