// Who else is told when a session starts and stops: the Python half of the bridge, which sets hooks of its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace mindtorch::torch_bridge {

// Called with the Want bits when a session starts, and with 0 when it stops, on the thread that starts or stops it.
using SessionListener = void (*)(std::uint32_t wants);

// The only listener, or null.
inline std::atomic<SessionListener> session_listener{nullptr};

inline void set_session_listener(SessionListener listener) noexcept { session_listener.store(listener, std::memory_order_release); }

inline void tell_listener(std::uint32_t wants) noexcept {
  if (const SessionListener listener = session_listener.load(std::memory_order_acquire)) listener(wants);
}

}  // namespace mindtorch::torch_bridge
