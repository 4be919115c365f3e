// The ops that a thread has begun and not ended. Needs nothing of torch.
#pragma once

#include <array>
#include <cstddef>

#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

// Ops end in the reverse of the order they began in, each under the address it began with.
class OpenOps {
 public:
  bool is_full() const noexcept { return last_ == kMost; }
  // Not when full.
  void push(const void* op, record::Slot* slot) noexcept { ops_[++last_] = {op, slot}; }

  // The slot of the op, which is open no longer; null if it was not open.
  record::Slot* pop(const void* op) noexcept {
    if (ops_[last_].op != op) [[unlikely]]
      return pop_inner(op);
    return ops_[last_--].slot;
  }

  // The ops that are open now give no slot when they end.
  void forget_slots() noexcept {
    for (std::size_t i = 1; i <= last_; ++i) ops_[i].slot = nullptr;
  }

 private:
  static constexpr std::size_t kMost = 127;
  struct OpenOp {
    const void* op = nullptr;
    record::Slot* slot = nullptr;
  };

  // As pop(), of an op that is not the latest. Ops that began after it and never ended are forgotten.
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
