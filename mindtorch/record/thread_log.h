// ThreadLog: the memory that the hooks of one thread write to. It has a single writer and needs no lock. Rare operations are out of line,
// in thread_log.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "mindtorch/base/export.h"
#include "mindtorch/record/slot.h"
#include "mindtorch/record/state.h"

namespace mindtorch::record {

// Kinds of side entries. side_entries.h describes their content. An entry is a header word and its payload words.
enum class SideKind : std::uint8_t {
  kInputs = 1,     // arguments of an op: InputWriter
  kStack = 2,      // words of the stack provider
  kAttribute = 3,  // AttributeEntry
  kMemory = 4,     // MemoryEntry
  kMemoryTag = 5,  // MemoryTagEntry
  kSameStack = 6,  // nothing: the stack is that of the latest kStack entry of the segment
};

struct SideHeader {
  SideKind kind;
  std::uint32_t words;       // of the payload, below 2^24
  std::uint32_t slot_index;  // in its segment; 0 if the entry belongs to no event
};
constexpr std::int64_t pack_side_header(const SideHeader& header) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(header.kind) | (std::uint64_t{header.words} << 8) |
                                   (std::uint64_t{header.slot_index} << 32));
}
constexpr SideHeader unpack_side_header(std::int64_t word) {
  const auto bits = static_cast<std::uint64_t>(word);
  return {static_cast<SideKind>(bits & 0xFF), static_cast<std::uint32_t>((bits >> 8) & 0xFFFFFF), static_cast<std::uint32_t>(bits >> 32)};
}

struct LogStorage;  // segments, recycling, identity of the thread: thread_log.cpp

// The part of a log that hooks touch, inlined into hosts: see kAbiVersion.
struct alignas(128) ThreadLog {
  std::atomic<Slot*> next{nullptr};         // slots before it are published (release)
  Slot* limit = nullptr;                    // end of the current segment
  std::uint64_t state = ~std::uint64_t{0};  // the state word this log is attached for
  std::atomic<std::int64_t*> side_next{nullptr};
  std::int64_t* side_limit = nullptr;
  Slot* segment_begin = nullptr;
  LogStorage* storage = nullptr;
};

// This thread's log. Before the thread's first event it is a shared log that is never attached. The TLS model is initial-exec: either the
// library is loaded at start-up, or these few words come from the static TLS surplus.
MINDTORCH_EXPORT extern constinit thread_local ThreadLog* thread_log __attribute__((tls_model("initial-exec")));

// The rare, out-of-line cases: attaches the thread to the session or starts a new segment. Returns null and counts the reason if it
// refuses.
MINDTORCH_EXPORT Slot* open_slow(std::uint64_t state, NameId name, EventKind kind, std::uint8_t flags, Device device,
                                 std::uint64_t link) noexcept;

// Returns room for a header word and `words` payload words, or null if that is refused, which is counted. Commit the entry with
// commit_side().
MINDTORCH_EXPORT std::int64_t* reserve_side_slow(ThreadLog* log, std::uint32_t words) noexcept;

inline std::int64_t* reserve_side(ThreadLog* log, std::uint32_t words) noexcept {
  std::int64_t* at = log->side_next.load(std::memory_order_relaxed);
  if (log->side_limit - at > static_cast<std::ptrdiff_t>(words)) [[likely]]
    return at;
  return reserve_side_slow(log, words);
}

// Prefetches the cache line at `address` for a later event. The recorded program does so much work between two events that the line would
// not be in the cache, and the program's next atomic operation would have to wait for our stores.
inline void fetch_for_writing(const void* address) noexcept { __builtin_prefetch(address, 1); }

// Publishes the entry at `at`, whose payload `at[1 .. words]` has been written.
inline void commit_side(ThreadLog* log, std::int64_t* at, SideKind kind, std::uint32_t words, std::uint32_t slot_index) noexcept {
  at[0] = pack_side_header({kind, words, slot_index});
  std::int64_t* const next = at + 1 + words;
  log->side_next.store(next, std::memory_order_release);
  fetch_for_writing(next + 16);  // two and three lines on: most entries are no longer than two
  fetch_for_writing(next + 24);
}

}  // namespace mindtorch::record
