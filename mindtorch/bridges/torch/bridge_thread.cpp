// Making and ending a thread's part of the bridge.
#include "mindtorch/bridges/torch/bridge_thread.h"

#include "mindtorch/base/thread_owned.h"

namespace mindtorch::torch_bridge {
namespace {

constinit BridgeThread no_thread;

// Ops that thread-local destructors run after it has ended are not recorded.
struct OwnedThread : BridgeThread {
  ~OwnedThread() { bridge_thread = &no_thread; }
};

}  // namespace

constinit thread_local BridgeThread* bridge_thread = &no_thread;

BridgeThread* BridgeThread::current() noexcept {
  BridgeThread* thread = ThreadOwned<OwnedThread>::get();
  if (thread != nullptr) bridge_thread = thread;
  return thread;
}

}  // namespace mindtorch::torch_bridge
