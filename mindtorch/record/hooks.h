// The hooks that a host calls to record its events. All of them are noexcept and take no lock. While nothing is being recorded, each costs
// one load and one predicted branch.
//
//   void Dispatcher::call(Op& op, Stack& stack) {
//     record::OpScope scope(op.name_id, record::known(device), link);
//     if (scope.wants(record::kShapes)) { record::InputWriter inputs(scope); inputs.tensor(...); }
//     op.kernel(stack);
//   }
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

#include "mindtorch/base/export.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/names.h"
#include "mindtorch/record/slot.h"
#include "mindtorch/record/state.h"
#include "mindtorch/record/thread_log.h"

namespace mindtorch::record {

// Ticks of the session's clock when it is not the hardware counter.
MINDTORCH_EXPORT std::uint64_t clock_ticks_slow() noexcept;

inline std::uint64_t ticks_for(std::uint64_t state) noexcept { return (state & kInlineTicks) != 0 ? hardware_ticks() : clock_ticks_slow(); }

// Where an event ends.
enum class Ends : bool {
  kAnytime,  // also on another thread, or never
  kInCall,   // on this thread, before the call in which it began returns
};

// Captures the stack for a slot that was just opened. Called only if kStacks is set.
MINDTORCH_EXPORT void capture_stack(Slot* slot, Ends ends) noexcept;

// Opens a slot on this thread under `state`, which must not be 0. Returns null if that is refused, which is counted.
inline Slot* open_slot(std::uint64_t state, NameId name, EventKind kind, std::uint8_t flags, Device device, std::uint64_t link,
                       Ends ends = Ends::kAnytime) noexcept {
  ThreadLog* log = thread_log;
  Slot* slot = log->next.load(std::memory_order_relaxed);
  if (log->state != state || slot == log->limit) [[unlikely]]
    return open_slow(state, name, kind, flags, device, link);
  std::atomic_ref<std::uint64_t>(slot->end).store(0, std::memory_order_relaxed);  // a late reader of the block may look at it
  slot->name = name;
  slot->kind = kind;
  slot->flags = flags;
  slot->device = device;
  slot->link = link;
  slot->start = ticks_for(state);
  fetch_for_writing(slot + 4);  // two lines on
  log->next.store(slot + 1, std::memory_order_release);
  if ((state & kStacks) != 0) [[unlikely]]
    capture_stack(slot, ends);
  return slot;
}

// Returns true if this thread still records in the session of `state`. Otherwise the thread must no longer write to a slot that was opened
// under `state`. The session's Want bits may have changed in between; they are ignored.
inline bool is_current(std::uint64_t state) noexcept { return generation_of(thread_log->state) == generation_of(state); }

// Ends the event in a slot that this thread has opened under `state`; does nothing if that session is over and the thread has joined
// another.
inline void close_slot(Slot* slot, std::uint64_t state) noexcept {
  if (is_current(state)) [[likely]]
    store_end(*slot, ticks_for(state));
}

// The device of an op's tensors, if the host knows it.
struct OpDevice {
  Device device{};
  std::uint8_t flags = 0;  // trace::kKnownDevice if `device` means something
};
constexpr OpDevice known(Device device) { return {device, trace::kKnownDevice}; }

// An op call, a node evaluation or a runtime call, from construction to destruction, on one thread.
class OpScope {
 public:
  explicit OpScope(NameId name, OpDevice where = {}, std::uint64_t link = 0, EventKind kind = EventKind::kOp) noexcept {
    const std::uint64_t state = current_state();
    if (state == 0) [[likely]]
      return;
    slot_ = open_slot(state, name, kind, where.flags, where.device, link, Ends::kInCall);
    state_ = state;
  }
  // Always inlined, so that a scope stays in registers: a call on the exception path would force it into memory.
  [[gnu::always_inline]] ~OpScope() {
    if (slot_ != nullptr) [[unlikely]]
      close_slot(slot_, state_);
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

  bool recording() const noexcept { return slot_ != nullptr; }
  // True if this scope is recorded and the session asks for `bit`.
  bool wants(Want bit) const noexcept { return slot_ != nullptr && (state_ & bit) != 0; }
  // Sets the sequence number (or correlation) once it is known.
  void set_link(std::uint64_t link) noexcept {
    if (slot_ != nullptr && is_current(state_)) set_slot_link(*slot_, link);
  }
  Slot* slot() const noexcept { return slot_; }
  std::uint64_t state() const noexcept { return state_; }

 private:
  Slot* slot_ = nullptr;
  std::uint64_t state_ = 0;
};

// A scope that the user has named. It may be moved, nested, left open, and closed on another thread, which marks it as async.
class MINDTORCH_EXPORT NamedScope {
 public:
  NamedScope() = default;
  explicit NamedScope(std::string_view name, EventKind kind = EventKind::kScope) noexcept {
    const std::uint64_t state = current_state();
    if (state == 0) [[likely]]
      return;
    open(state, intern_cached(name), kind);
  }
  explicit NamedScope(NameId name, EventKind kind = EventKind::kScope) noexcept {
    const std::uint64_t state = current_state();
    if (state == 0) [[likely]]
      return;
    open(state, name, kind);
  }
  // A step of the profiled loop, named after its number (trace::step_name).
  static NamedScope step(std::int64_t number) noexcept {
    NamedScope scope;
    if (const std::uint64_t state = current_state(); state != 0) scope.open(state, 0, EventKind::kStep, trace::make_step_link(number));
    return scope;
  }
  // A call of a module, in sessions that want modules or stacks. Where only stacks are wanted, traces show it and no list of events does.
  static NamedScope module(NameId name) noexcept {
    NamedScope scope;
    if (const std::uint64_t state = current_state(); (state & kModuleCalls) != 0)
      scope.open(state, name, EventKind::kModule, 0, (state & kModules) != 0 ? 0 : trace::kTraceOnly);
    return scope;
  }
  ~NamedScope() { close(); }
  NamedScope(NamedScope&& other) noexcept { *this = std::move(other); }
  NamedScope& operator=(NamedScope&& other) noexcept {
    if (this != &other) {
      close();
      slot_ = std::exchange(other.slot_, nullptr);
      owner_ = other.owner_;
      state_ = other.state_;
    }
    return *this;
  }

  // Ends the event; further calls do nothing.
  void close() noexcept {
    if (slot_ == nullptr) [[likely]]
      return;
    if (thread_log == owner_ && is_current(state_)) [[likely]]
      store_end(*slot_, ticks_for(state_));
    else
      close_elsewhere();
    slot_ = nullptr;
  }
  bool recording() const noexcept { return slot_ != nullptr; }
  bool wants(Want bit) const noexcept { return slot_ != nullptr && (state_ & bit) != 0; }
  Slot* slot() const noexcept { return slot_; }
  std::uint64_t state() const noexcept { return state_; }

 private:
  void open(std::uint64_t state, NameId name, EventKind kind, std::uint64_t link = 0, std::uint8_t flags = 0) noexcept {
    slot_ = open_slot(state, name, kind, flags, Device{}, link);
    owner_ = thread_log;
    state_ = state;
  }
  void close_elsewhere() noexcept;

  Slot* slot_ = nullptr;
  ThreadLog* owner_ = nullptr;
  std::uint64_t state_ = 0;
};

// Records an instant on this thread.
MINDTORCH_EXPORT void record_instant(NameId name) noexcept;

// Records an interval that is already over, in ticks of the session's clock. Intervals should be recorded in order of their start on each
// thread; an interval that is not in order is sorted when the session stops.
MINDTORCH_EXPORT void record_interval(NameId name, EventKind kind, std::uint64_t start_ticks, std::uint64_t end_ticks,
                                      std::uint64_t link = 0) noexcept;

// Returns the time on the session's clock, for record_interval(), or 0 while nothing is being recorded.
MINDTORCH_EXPORT std::uint64_t now_ticks() noexcept;

// When an allocator has changed its totals, and the state of the session that wants to know; the state is 0 if none does.
struct MemoryMoment {
  std::uint64_t state = 0;
  std::uint64_t ticks = 0;
};

// Gives the changes of one allocator moments that increase in the order of the allocator's lock. A report must not be made under that lock,
// because it may wait for memory, and a thread that reports after it has let go of the lock may be overtaken by the thread that gets the
// same address next. Two readings of the counter are not enough either: they may be equal, and the read does not serialise.
class MemoryOrder {
 public:
  // Call it under the lock that orders the totals.
  MemoryMoment next() noexcept {
    const std::uint64_t state = current_state();
    if ((state & kMemory) == 0) [[likely]]
      return {};
    const std::uint64_t now = ticks_for(state);
    const bool follows = generation_of(last_.state) == generation_of(state) && now <= last_.ticks;
    return last_ = {state, follows ? last_.ticks + 1 : now};
  }

 private:
  MemoryMoment last_;
};

// Records an allocation (bytes > 0) or a free (bytes < 0) at the moment that MemoryOrder gave it. The totals are those of the device
// afterwards. Nothing is recorded if the session of that moment is over.
MINDTORCH_EXPORT void record_memory_slow(MemoryMoment when, Device device, const void* address, std::int64_t bytes,
                                         std::int64_t total_allocated, std::int64_t total_reserved) noexcept;
inline void record_memory(MemoryMoment when, Device device, const void* address, std::int64_t bytes, std::int64_t total_allocated,
                          std::int64_t total_reserved) noexcept {
  if (when.state != 0) [[unlikely]]
    record_memory_slow(when, device, address, bytes, total_allocated, total_reserved);
}
// The same at the moment of the call, for hosts whose allocator calls under its own lock.
inline void record_memory(Device device, const void* address, std::int64_t bytes, std::int64_t total_allocated,
                          std::int64_t total_reserved) noexcept {
  if (const std::uint64_t state = current_state(); (state & kMemory) != 0) [[unlikely]]
    record_memory_slow({state, ticks_for(state)}, device, address, bytes, total_allocated, total_reserved);
}

// Records the purpose of the memory at `address` from now on.
MINDTORCH_EXPORT void record_memory_category_slow(const void* address, trace::MemoryCategory category) noexcept;
inline void record_memory_category(const void* address, trace::MemoryCategory category) noexcept {
  if (wants(kMemory)) [[unlikely]]
    record_memory_category_slow(address, category);
}

// Adds a key and a value to an open scope of this thread. Call it as soon after opening the scope as possible. Does nothing if the slot is
// null.
MINDTORCH_EXPORT void add_attribute(Slot* slot, NameId key, std::int64_t value) noexcept;
MINDTORCH_EXPORT void add_attribute(Slot* slot, NameId key, double value) noexcept;
MINDTORCH_EXPORT void add_attribute(Slot* slot, NameId key, std::string_view text) noexcept;
MINDTORCH_EXPORT void add_json_attribute(Slot* slot, NameId key, std::string_view json) noexcept;

// Returns this thread's number (Track::number), for make_sequence_link(), or 0 while nothing is being recorded. Attaches the thread if it
// has never recorded.
MINDTORCH_EXPORT std::uint32_t thread_number() noexcept;

// Admits a thread that receives work to the session of the thread that handed the work over, also if the session is limited to its starting
// thread.
class MINDTORCH_EXPORT ThreadAdmission {
 public:
  // Called on the thread that hands the work over.
  static ThreadAdmission capture() noexcept;
  // Called on the thread that receives the work.
  void apply() const noexcept;

 private:
  std::uint64_t state_ = 0;
  bool admitted_ = false;
};

}  // namespace mindtorch::record
