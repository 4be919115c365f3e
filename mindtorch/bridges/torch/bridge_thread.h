// The state that the bridge keeps for each thread that runs ops: open ops, the cache of names, the node being evaluated. It does not use
// torch.
#pragma once

#include <cstdint>

#include "mindtorch/bridges/torch/op_names.h"
#include "mindtorch/bridges/torch/open_ops.h"
#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

struct BridgeThread {
  // Creates the state if it does not exist. Null on a thread that is about to end, or without memory.
  static BridgeThread* current() noexcept;

  std::uint64_t state = ~std::uint64_t{0};  // of the session that this thread has joined; never 0
  record::Slot* evaluation = nullptr;       // opened by the latest event, if that was the evaluation of an autograd node
  std::uint32_t operators_removed = 0;      // when `names` learnt its addresses
  std::uint64_t own_callbacks = 0;          // torch's handle of the callbacks that this thread alone has; 0: none
  OpenOps open_ops;                         // of the session `state`, or without a slot
  OpNameCache names;
};

// Before the thread's first op and after its end, it refers to a shared state that never joins a session.
extern constinit thread_local BridgeThread* bridge_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

}  // namespace mindtorch::torch_bridge
