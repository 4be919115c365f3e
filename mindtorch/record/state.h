// The state word, which every hook reads first: whether a session is recording, and which data it wants.
#pragma once

#include <atomic>
#include <cstdint>

#include "mindtorch/base/export.h"

namespace mindtorch::record {

// Hosts built against another layout of Slot, ThreadLog or the state word must not attach; see check_abi().
inline constexpr std::uint32_t kAbiVersion = 2;

// The low half of the state word. A host tests a bit before it does the work that the bit enables.
enum Want : std::uint32_t {
  kEvents = 1u << 0,       // ops, scopes, launches
  kInlineTicks = 1u << 1,  // the hardware counter is the clock; else Clock::ticks() is called
  kShapes = 1u << 2,       // arguments of ops: sizes, strides, dtypes, scalars
  kStacks = 1u << 3,       // call stacks of ops and scopes
  kMemory = 1u << 4,       // allocations and frees
  kModules = 1u << 5,      // calls of modules as scopes; stacks ask for them too, in traces only
  kOneThread = 1u << 6,    // only admitted threads record
  kOverloads = 1u << 7,    // which overload of an op was called, as its attribute "overload_name"
  kRanges = 1u << 8,       // ranges and marks that programs report with NVTX, as scopes and instants
};

inline constexpr std::uint32_t kModuleCalls = kModules | kStacks;  // either asks for calls of modules

// The state word is 0 while nothing is being recorded, and (generation << 32) | Want bits otherwise. Every session has a new generation.
// The word is read with relaxed order: it does no harm if a hook still reads the old word for a moment.
MINDTORCH_EXPORT extern std::atomic<std::uint64_t> state_word;

inline std::uint64_t current_state() noexcept { return state_word.load(std::memory_order_relaxed); }
inline bool wants(Want bit) noexcept { return (current_state() & bit) != 0; }
constexpr std::uint32_t generation_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }

// Throws Error if the caller was compiled with another kAbiVersion. Hosts that are separate binaries must call it once.
MINDTORCH_EXPORT void check_abi(std::uint32_t compiled_with);

}  // namespace mindtorch::record
