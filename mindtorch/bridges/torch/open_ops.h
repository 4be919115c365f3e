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

  // Those open now give no slot when they end.
  void forget_slots() noexcept;

 private:
  static constexpr std::size_t kMost = 127;
  struct OpenOp {
    const void* op = nullptr;
    record::Slot* slot = nullptr;
  };

  // Ops inside it that never ended go with it.
  record::Slot* pop_inner(const void* op) noexcept;

  std::size_t last_ = 0;
  std::array<OpenOp, kMost + 1> ops_;  // the first is none
};

}  // namespace mindtorch::torch_bridge
