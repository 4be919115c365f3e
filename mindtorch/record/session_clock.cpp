// The clock that hooks read when it is not the hardware counter.
#include "mindtorch/record/session_clock.h"

#include <atomic>

#include "mindtorch/record/hooks.h"

namespace mindtorch::record {
namespace {

std::atomic<Clock*> session_clock{nullptr};

}  // namespace

void set_session_clock(Clock* clock) noexcept { session_clock.store(clock, std::memory_order_release); }

std::uint64_t clock_ticks_slow() noexcept {
  Clock* clock = session_clock.load(std::memory_order_acquire);
  return clock != nullptr ? clock->ticks() : monotonic_clock().ticks();
}

}  // namespace mindtorch::record
