// What is rare about open ops.
#include "mindtorch/bridges/torch/open_ops.h"

namespace mindtorch::torch_bridge {

record::Slot* OpenOps::pop_inner(const void* op) noexcept {
  for (std::size_t i = last_; i > 0; --i) {
    if (ops_[i].op != op) continue;
    last_ = i - 1;
    return ops_[i].slot;
  }
  return nullptr;
}

void OpenOps::forget_slots() noexcept {
  for (std::size_t i = 1; i <= last_; ++i) ops_[i].slot = nullptr;
}

}  // namespace mindtorch::torch_bridge
