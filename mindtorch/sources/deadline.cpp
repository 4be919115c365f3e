// Waiting for a vendor's call that cannot be interrupted.
#include "mindtorch/sources/deadline.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace mindtorch::sources {

bool ends_within(std::chrono::milliseconds deadline, std::function<void()> wait) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool has_ended = false;
  };
  const auto state = std::make_shared<State>();  // the thread may outlive this call
  try {
    std::thread([state, wait = std::move(wait)] {
      try {
        wait();
      } catch (const std::exception&) {
        return;  // the wait has not ended
      }
      std::lock_guard lock(state->mutex);
      state->has_ended = true;
      state->changed.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    return false;  // without a thread, the wait might last for ever
  }
  std::unique_lock lock(state->mutex);
  return state->changed.wait_for(lock, deadline, [&] { return state->has_ended; });
}

}  // namespace mindtorch::sources
