// The log of one thread: where its hooks write. Single writer, no lock; everything rare happens out of line in thread_log.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "mindtorch/base/export.h"
#include "mindtorch/record/slot.h"
#include "mindtorch/record/state.h"

namespace mindtorch::record {

// Kinds of side entries; side_entries.h says what is in them. An entry is a header word and its payload words.
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

// This thread's log; a shared, never attached one before the thread's first event. initial-exec: the library is loaded at start-up or takes
// these few words from the static TLS surplus.
MINDTORCH_EXPORT extern constinit thread_local ThreadLog* thread_log __attribute__((tls_model("initial-exec")));

// Out of line, rare: attaches the thread to the session, starts a new segment, or refuses (null) and counts why.
MINDTORCH_EXPORT Slot* open_slow(std::uint64_t state, NameId name, EventKind kind, std::uint8_t flags, Device device,
                                 std::uint64_t link) noexcept;

// Room for `words` payload words after their header word, or null (refused and counted). Commit with commit_side().
MINDTORCH_EXPORT std::int64_t* reserve_side_slow(ThreadLog* log, std::uint32_t words) noexcept;

inline std::int64_t* reserve_side(ThreadLog* log, std::uint32_t words) noexcept {
  std::int64_t* at = log->side_next.load(std::memory_order_relaxed);
  if (log->side_limit - at > static_cast<std::ptrdiff_t>(words)) [[likely]]
    return at;
  return reserve_side_slow(log, words);
}

// Begins to bring the cache line at `address` closer, for an event to come. The program that is recorded does so much between two events
// that a line is not there by itself, and its next atomic operation would wait for our stores.
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
