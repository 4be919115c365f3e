// Waiting for a vendor's call that cannot be interrupted.
#pragma once

#include <chrono>
#include <functional>

namespace mindtorch::sources {

// Runs `wait` on a thread of its own and returns true when it has ended. After `deadline` it returns false; `wait` then goes on in the
// background, so it must not use anything that may go away.
bool ends_within(std::chrono::milliseconds deadline, std::function<void()> wait);

}  // namespace mindtorch::sources
