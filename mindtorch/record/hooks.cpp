// The hooks that are too rare, or too heavy, to be inlined into hosts.
#include "mindtorch/record/hooks.h"

#include <bit>

#include "mindtorch/record/registry.h"
#include "mindtorch/record/segments.h"
#include "mindtorch/record/side_entries.h"
#include "mindtorch/record/thread_attach.h"

namespace mindtorch::record {
namespace {

// The log of this thread, null if nothing records or the thread is not admitted.
ThreadLog* side_log(std::uint64_t state) noexcept {
  if (state == 0) return nullptr;
  if (thread_log->state == state && thread_log->segment_begin != nullptr) [[likely]]
    return thread_log;
  Log* log = attached_log(state);
  return log != nullptr ? &log->hot : nullptr;
}

// Writes an entry that belongs to no event. It is counted, as it does not share the fate of an event when its segment is dropped.
template <class Entry>
void write_loose_entry(ThreadLog* log, const Entry& entry) noexcept {
  std::int64_t* at = log->side_next.load(std::memory_order_relaxed);
  if (log->side_limit - at <= static_cast<std::ptrdiff_t>(Entry::kWords)) [[unlikely]] {
    if (!make_room_for_loose_entry(*reinterpret_cast<Log*>(log))) return;
    at = reserve_side(log, Entry::kWords);
    if (at == nullptr) return;
  }
  fill_entry(log, at, entry, 0);
  std::atomic<std::uint64_t>& count = log->storage->loose_entries;
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void add_attribute_word(Slot* slot, NameId key, trace::Attribute::Type type, std::int64_t bits) noexcept {
  if (slot == nullptr) return;
  ThreadLog* log = thread_log;
  if (slot < log->segment_begin || slot >= log->limit) {
    // The segment the scope was opened in is full: side data cannot reach it any more.
    if (log->storage != nullptr) log->storage->side_refused.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  write_entry(log, AttributeEntry{key, type, bits}, static_cast<std::uint32_t>(slot - log->segment_begin));
}

}  // namespace

void NamedScope::close_elsewhere() noexcept { Registry::instance().close_async(slot_, state_, ticks_for(state_)); }

void record_interval(NameId name, EventKind kind, std::uint64_t start_ticks, std::uint64_t end_ticks, std::uint64_t link) noexcept {
  const std::uint64_t state = current_state();
  if (state == 0) return;
  Log* log = attached_log(state);
  if (log == nullptr) return;
  if (log->hot.next.load(std::memory_order_relaxed) == log->hot.limit && !new_segment(*log, log->cold.refused)) return;
  append_closed(log->hot, {start_ticks, end_ticks, name, kind, 0, Device{}, link});
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

void record_memory_slow(MemoryMoment when, Device device, const void* address, std::int64_t bytes, std::int64_t total_allocated,
                        std::int64_t total_reserved) noexcept {
  ThreadLog* log = side_log(when.state);
  if (log == nullptr) return;
  write_loose_entry(log,
                    MemoryEntry{when.ticks, reinterpret_cast<std::uintptr_t>(address), bytes, device, total_allocated, total_reserved});
}

void record_memory_category_slow(const void* address, trace::MemoryCategory category) noexcept {
  const std::uint64_t state = current_state();
  if (state == 0) return;
  const std::uint64_t now = ticks_for(state);  // before the thread is attached, which may take a while
  ThreadLog* log = side_log(state);
  if (log == nullptr) return;
  write_loose_entry(log, MemoryTagEntry{now, reinterpret_cast<std::uintptr_t>(address), category});
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

}  // namespace mindtorch::record
