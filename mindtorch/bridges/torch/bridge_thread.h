// What the bridge keeps for each thread that runs ops: the cache of names, recycled memory, the node being evaluated. Needs nothing of
// torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "mindtorch/bridges/torch/op_names.h"
#include "mindtorch/record/slot.h"

namespace mindtorch::torch_bridge {

class BridgeThread {
 public:
  // Null on a thread that is about to end, or out of memory.
  static BridgeThread* current() noexcept;

  // Memory for what lives as long as an op, up to kBlockBytes; on any thread, and given back on any thread. Throws std::bad_alloc.
  static void* take_block();
  static void give_block(void* block) noexcept;
  static constexpr std::size_t kBlockBytes = 64;

  std::uint64_t state = 0;  // the session this thread has joined
  OpNameCache names;
  record::Slot* evaluation = nullptr;  // opened by the latest event, if that was the evaluation of an autograd node
  std::uint64_t own_callbacks = 0;     // torch's handle of the callbacks that this thread alone has; 0: none

 private:
  friend struct BridgeThreadOwner;
  struct Block {
    Block* next;
  };
  static BridgeThread* make() noexcept;
  ~BridgeThread();

  Block* free_ = nullptr;
};

// Null before the thread's first op and after its end.
extern thread_local BridgeThread* bridge_thread __attribute__((tls_model("initial-exec")));

inline BridgeThread* BridgeThread::current() noexcept {
  BridgeThread* thread = bridge_thread;
  return thread != nullptr ? thread : make();
}

inline void* BridgeThread::take_block() {
  BridgeThread* thread = bridge_thread;
  if (thread == nullptr || thread->free_ == nullptr) [[unlikely]]
    return ::operator new(kBlockBytes);
  Block* block = thread->free_;
  thread->free_ = block->next;
  return block;
}

inline void BridgeThread::give_block(void* memory) noexcept {
  BridgeThread* thread = bridge_thread;
  if (thread == nullptr) [[unlikely]] {
    ::operator delete(memory);
    return;
  }
  thread->free_ = ::new (memory) Block{thread->free_};
}

}  // namespace mindtorch::torch_bridge
