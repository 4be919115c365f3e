// The ops that a thread has begun and not ended. It does not use torch.
#pragma once

#include <array>
#include <cstddef>

#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

// Ops end in the reverse of the order they began in, each under the address it began with.
class OpenOps {
 public:
  bool is_full() const noexcept { return last_ == kMost; }
  // Must not be called when it is full.
  void push(const void* op, record::Slot* slot) noexcept { ops_[++last_] = {op, slot}; }

  // The slot of the op if it is the latest one, else null.
  record::Slot* latest(const void* op) const noexcept { return ops_[last_].op == op ? ops_[last_].slot : nullptr; }

  // Removes the op and returns its slot, or null if the op was not open.
  record::Slot* pop(const void* op) noexcept {
    if (ops_[last_].op != op) [[unlikely]]
      return pop_inner(op);
    return ops_[last_--].slot;
  }

  // From now on, pop() returns null for the ops that are open now.
  void forget_slots() noexcept {
    for (std::size_t i = 1; i <= last_; ++i) ops_[i].slot = nullptr;
  }

 private:
  static constexpr std::size_t kMost = 127;
  struct OpenOp {
    const void* op = nullptr;
    record::Slot* slot = nullptr;
  };

  // Like pop(), for an op that is not the latest. Ops that began after it and never ended are forgotten.
  [[gnu::noinline]] record::Slot* pop_inner(const void* op) noexcept {
    for (std::size_t i = last_; i > 0; --i) {
      if (ops_[i].op != op) continue;
      last_ = i - 1;
      return ops_[i].slot;
    }
    return nullptr;
  }

  std::size_t last_ = 0;
  std::array<OpenOp, kMost + 1> ops_;  // the first entry is not an op, so that the latest always exists
};

}  // namespace mindtorch::torch_bridge
