// The hooks that are too rare, or too heavy, to be inlined into hosts.
#include "mindtorch/record/hooks.h"

#include <algorithm>
#include <bit>

#include "mindtorch/base/error.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/session_clock.h"
#include "mindtorch/record/stack_provider.h"
#include "mindtorch/record/thread_attach.h"

namespace mindtorch::record {
namespace {

// Longest stack captured, in words of the provider.
constexpr std::uint32_t kMaxStackWords = 512;

std::atomic<Clock*> session_clock{nullptr};
std::atomic<StackProvider*> provider{nullptr};

// The log of this thread, null if nothing records or the thread is not admitted.
ThreadLog* side_log(std::uint64_t state) noexcept {
  if (state == 0) return nullptr;
  if (thread_log->state == state && thread_log->segment_begin != nullptr) [[likely]]
    return thread_log;
  Log* log = attached_log(state);
  return log != nullptr ? &log->hot : nullptr;
}

template <class... Words>
void write_side(ThreadLog* log, SideKind kind, std::uint32_t slot_index, Words... values) noexcept {
  constexpr std::uint32_t kWords = sizeof...(Words);
  std::int64_t* at = reserve_side(log, kWords);
  if (at == nullptr) return;
  std::int64_t* payload = at;
  ((*++payload = static_cast<std::int64_t>(values)), ...);
  commit_side(log, at, kind, kWords, slot_index);
}

// The latest stack that this thread has captured, if it is of an event that ends in the call in which it began: as long as it is open, ops
// called by it from the same frame need not look at the frames again.
struct LatestStack {
  std::uint64_t state = 0;
  Slot* slot = nullptr;
  std::uint64_t start = 0;
  StackProvider::Innermost innermost;

  bool is_of(const ThreadLog& log, const StackProvider::Innermost& now) const noexcept {
    return slot != nullptr && innermost == now && state == log.state && slot >= log.segment_begin && slot < log.limit &&
           slot->start == start && std::atomic_ref(slot->end).load(std::memory_order_relaxed) == 0;
  }
};
constinit thread_local LatestStack latest_stack __attribute__((tls_model("initial-exec")));

void add_attribute_word(Slot* slot, NameId key, trace::Attribute::Type type, std::int64_t bits) noexcept {
  if (slot == nullptr) return;
  ThreadLog* log = thread_log;
  if (slot < log->segment_begin || slot >= log->limit) {
    // The segment the scope was opened in is full: side data cannot reach it any more.
    if (log->storage != nullptr) log->storage->side_refused.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const auto index = static_cast<std::uint32_t>(slot - log->segment_begin);
  write_side(log, SideKind::kAttribute, index, static_cast<std::uint64_t>(key) | (static_cast<std::uint64_t>(type) << 32), bits);
}

}  // namespace

std::atomic<std::uint64_t> state_word{0};

void check_abi(std::uint32_t compiled_with) {
  if (compiled_with != kAbiVersion)
    throw_error("record.check_abi", "this host was compiled for version {} of the recording hooks, the library has version {}: rebuild it",
                compiled_with, kAbiVersion);
}

void set_session_clock(Clock* clock) noexcept { session_clock.store(clock, std::memory_order_release); }

std::uint64_t clock_ticks_slow() noexcept {
  Clock* clock = session_clock.load(std::memory_order_acquire);
  return clock != nullptr ? clock->ticks() : monotonic_clock().ticks();
}

void set_stack_provider(StackProvider* it) {
  if (current_state() != 0) throw_error("record.set_stack_provider", "a session is recording; stop it first");
  provider.store(it, std::memory_order_release);
}
StackProvider* stack_provider() { return provider.load(std::memory_order_acquire); }

void capture_stack(Slot* slot, Ends ends) noexcept {
  StackProvider* it = stack_provider();
  const bool wanted = slot->kind <= EventKind::kScope || slot->kind == EventKind::kModule;
  if (it == nullptr || !wanted) return;
  ThreadLog* log = thread_log;
  const auto index = static_cast<std::uint32_t>(slot - log->segment_begin);
  const StackProvider::Innermost innermost = it->innermost();
  if (latest_stack.is_of(*log, innermost)) {
    write_side(log, SideKind::kSameStack, index);
    return;
  }
  latest_stack = {};
  std::int64_t* at = reserve_side(log, kMaxStackWords);
  if (at == nullptr) return;
  const std::size_t words = it->capture(reinterpret_cast<std::uint64_t*>(at + 1), kMaxStackWords);
  if (words == 0) return;
  commit_side(log, at, SideKind::kStack, static_cast<std::uint32_t>(words), index);
  if (ends == Ends::kInCall && innermost.frame != nullptr) latest_stack = {log->state, slot, slot->start, innermost};
}

void NamedScope::close_elsewhere() noexcept {
  // If the session is over, or this thread has joined another one, there is nothing left to close.
  if (Log* log = attached_log(state_))
    write_side(&log->hot, SideKind::kLateEnd, 0, reinterpret_cast<std::uintptr_t>(slot_), start_, ticks_for(state_));
}

void record_interval(NameId name, EventKind kind, std::uint64_t start_ticks, std::uint64_t end_ticks, std::uint64_t link) noexcept {
  const std::uint64_t state = current_state();
  if (state == 0) return;
  Log* log = attached_log(state);
  if (log == nullptr) return;
  Slot* slot = log->hot.next.load(std::memory_order_relaxed);
  if (slot == log->hot.limit) {
    if (!new_segment(*log)) return;
    slot = log->hot.next.load(std::memory_order_relaxed);
  }
  *slot = Slot{start_ticks, end_ticks, name, kind, 0, Device{}, link};
  log->hot.next.store(slot + 1, std::memory_order_release);
}

void record_instant(NameId name) noexcept {
  const std::uint64_t state = current_state();
  if (state == 0) return;
  const std::uint64_t now = ticks_for(state);
  record_interval(name, EventKind::kInstant, now, now);
}

std::uint64_t now_ticks() noexcept {
  const std::uint64_t state = current_state();
  return state != 0 ? ticks_for(state) : 0;
}

void record_memory_slow(Device device, const void* address, std::int64_t bytes, std::int64_t total_allocated,
                        std::int64_t total_reserved) noexcept {
  const std::uint64_t state = current_state();
  ThreadLog* log = side_log(state);
  if (log == nullptr) return;
  write_side(log, SideKind::kMemory, 0, ticks_for(state), reinterpret_cast<std::uintptr_t>(address), bytes,
             static_cast<std::int64_t>(device.type) | (std::int64_t{device.index} << 8), total_allocated, total_reserved);
}

void record_memory_category_slow(const void* address, trace::MemoryCategory category) noexcept {
  const std::uint64_t state = current_state();
  ThreadLog* log = side_log(state);
  if (log == nullptr) return;
  write_side(log, SideKind::kMemoryTag, 0, ticks_for(state), reinterpret_cast<std::uintptr_t>(address),
             static_cast<std::int64_t>(category));
}

void add_attribute(Slot* slot, NameId key, std::int64_t value) noexcept {
  add_attribute_word(slot, key, trace::Attribute::Type::kInt, value);
}
void add_attribute(Slot* slot, NameId key, double value) noexcept {
  add_attribute_word(slot, key, trace::Attribute::Type::kDouble, std::bit_cast<std::int64_t>(value));
}
void add_attribute(Slot* slot, NameId key, std::string_view text) noexcept {
  if (slot != nullptr) add_attribute_word(slot, key, trace::Attribute::Type::kText, intern_cached(text));
}
void add_json_attribute(Slot* slot, NameId key, std::string_view json) noexcept {
  if (slot != nullptr) add_attribute_word(slot, key, trace::Attribute::Type::kJson, intern_cached(json));
}

std::uint32_t thread_number() noexcept {
  const std::uint64_t state = current_state();
  if (state == 0) return 0;
  if (thread_log->state == state) [[likely]]
    return thread_log->storage->thread.number;
  const Log* log = attached_log(state);
  return log != nullptr ? log->cold.thread.number : 0;
}

ThreadAdmission ThreadAdmission::capture() noexcept {
  ThreadAdmission admission;
  admission.state_ = current_state();
  if ((admission.state_ & kOneThread) != 0) admission.admitted_ = attached_log(admission.state_) != nullptr;
  return admission;
}

void ThreadAdmission::apply() const noexcept {
  if (!admitted_) return;
  attached_log(state_);  // makes sure there is a log to admit
  if (thread_log->storage != nullptr) thread_log->storage->admitted_generation = generation_of(state_);
}

InputWriter::Row InputWriter::moved(ThreadLog* log, Row row, std::size_t words) noexcept {
  if (row.begin == nullptr) return {};
  const auto written = static_cast<std::size_t>(row.at - row.begin);
  // A new chunk holds the longest entry there can be; asking for a longer one counts the row as refused.
  const bool fits = written + words <= kWordsPerSideChunk;
  std::int64_t* begin = reserve_side_slow(log, fits ? kMaxSideWords : kMaxSideWords + 1);
  if (begin == nullptr) return {};
  std::copy_n(row.begin, written, begin);
  return {begin, begin + written, log->side_limit};
}

}  // namespace mindtorch::record
