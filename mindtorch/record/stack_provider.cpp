// Stacks of events: the provider, and the side entry that hooks write when an event opens.
#include "mindtorch/record/stack_provider.h"

#include <atomic>

#include "mindtorch/base/error.h"
#include "mindtorch/record/hooks.h"

namespace mindtorch::record {
namespace {

// Longest stack captured, in words of the provider.
constexpr std::uint32_t kMaxStackWords = 512;

std::atomic<StackProvider*> provider{nullptr};

// The latest stack that this thread has captured, if it is of an event that ends in the call in which it began. While that event is open,
// ops that are called from the same frame have the same stack, and the frames need not be read again.
struct LatestStack {
  std::uint64_t state = 0;
  Slot* slot = nullptr;
  std::uint64_t start = 0;
  StackProvider::Innermost innermost;

  bool is_of(const ThreadLog& log, const StackProvider::Innermost& now) const noexcept {
    return slot != nullptr && innermost == now && state == log.state && slot >= log.segment_begin && slot < log.limit &&
           slot->start == start && is_open(*slot);
  }
};
constinit thread_local LatestStack latest_stack __attribute__((tls_model("initial-exec")));

}  // namespace

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
    if (std::int64_t* at = reserve_side(log, 0)) commit_side(log, at, SideKind::kSameStack, 0, index);
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

}  // namespace mindtorch::record
