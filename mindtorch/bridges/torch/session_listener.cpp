// The one listener.
#include "mindtorch/bridges/torch/session_listener.h"

#include <atomic>

namespace mindtorch::torch_bridge {
namespace {

std::atomic<SessionListener> listener_now{nullptr};

}  // namespace

void set_session_listener(SessionListener listener) noexcept { listener_now.store(listener, std::memory_order_release); }

void tell_listener(std::uint32_t wants) noexcept {
  if (const SessionListener listener = listener_now.load(std::memory_order_acquire)) listener(wants);
}

}  // namespace mindtorch::torch_bridge
