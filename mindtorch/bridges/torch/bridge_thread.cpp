// Making and ending a thread's part of the bridge.
#include "mindtorch/bridges/torch/bridge_thread.h"

#include <utility>

namespace mindtorch::torch_bridge {

constinit thread_local BridgeThread* bridge_thread = nullptr;

namespace {

constinit thread_local bool thread_is_ending = false;

}  // namespace

// Ends with the thread; ops that other thread-local destructors run after it are not recorded.
struct BridgeThreadOwner {
  BridgeThread* thread = nullptr;
  BridgeThreadOwner() {}
  ~BridgeThreadOwner() {
    thread_is_ending = true;
    bridge_thread = nullptr;
    delete thread;
  }
};

BridgeThread* BridgeThread::make() noexcept {
  if (thread_is_ending) return nullptr;
  thread_local BridgeThreadOwner owner;
  bridge_thread = owner.thread = new (std::nothrow) BridgeThread;
  return bridge_thread;
}

BridgeThread::~BridgeThread() {
  while (free_ != nullptr) ::operator delete(std::exchange(free_, free_->next));
}

}  // namespace mindtorch::torch_bridge
