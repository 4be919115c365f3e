// Finds the op that the calling thread is executing.
#include "mindtorch/record/open_op.h"

#include <algorithm>
#include <atomic>

#include "mindtorch/record/state.h"
#include "mindtorch/record/thread_log.h"

namespace mindtorch::record {
namespace {

// An op that has made more calls than this since it began is not found.
constexpr std::ptrdiff_t kFarthest = 1024;

}  // namespace

trace::NameId innermost_open_name() noexcept {
  const std::uint64_t state = current_state();
  const ThreadLog* log = thread_log;
  if (state == 0 || log->state != state || log->segment_begin == nullptr) return 0;
  Slot* const end = log->next.load(std::memory_order_relaxed);
  Slot* const begin = end - std::min(kFarthest, end - log->segment_begin);
  for (Slot* slot = end; slot != begin;) {
    --slot;
    if (is_open(*slot) && slot->kind <= trace::EventKind::kScope) return slot->name;
  }
  return 0;
}

}  // namespace mindtorch::record
