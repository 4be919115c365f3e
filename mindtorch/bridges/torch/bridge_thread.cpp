// Making and ending a thread's part of the bridge.
#include "mindtorch/bridges/torch/bridge_thread.h"

#include <memory>
#include <new>

namespace mindtorch::torch_bridge {

namespace {

constinit BridgeThread nobody;
constinit thread_local bool thread_is_ending = false;

// Ends with the thread; ops that other thread-local destructors run after it are not recorded.
struct Owner {
  std::unique_ptr<BridgeThread> thread;
  ~Owner() {
    thread_is_ending = true;
    bridge_thread = &nobody;
  }
};

}  // namespace

constinit thread_local BridgeThread* bridge_thread = &nobody;

BridgeThread* BridgeThread::current() noexcept {
  if (bridge_thread != &nobody) return bridge_thread;
  if (thread_is_ending) return nullptr;
  thread_local Owner owner;
  owner.thread.reset(new (std::nothrow) BridgeThread);
  if (owner.thread != nullptr) bridge_thread = owner.thread.get();
  return owner.thread.get();
}

}  // namespace mindtorch::torch_bridge
