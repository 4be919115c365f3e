// Who else is told when a session starts and stops: the Python half of the bridge, which has hooks of its own to set.
#pragma once

#include <cstdint>

namespace mindtorch::torch_bridge {

// Called with the Want bits when a session starts, with 0 when it stops, on the thread that starts or stops it.
using SessionListener = void (*)(std::uint32_t wants);

// One at a time; null removes it.
void set_session_listener(SessionListener listener) noexcept;
void tell_listener(std::uint32_t wants) noexcept;

}  // namespace mindtorch::torch_bridge
