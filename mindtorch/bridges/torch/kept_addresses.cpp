// A bounded set of weak references, and for each thread a small cache of those that it knows to be in the set.
#include "mindtorch/bridges/torch/kept_addresses.h"

#include <c10/util/intrusive_ptr.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace mindtorch::torch_bridge {
namespace {

struct Kept;
Kept& kept();

// Some 10 MB of objects. Without a bound, a recording that keeps only the last steps would grow for as long as it runs.
constexpr std::size_t kMostKept = 32768;

struct Kept {
  std::mutex mutex;
  std::unordered_set<c10::TensorImpl*> tensors;
  std::deque<c10::TensorImpl*> oldest_first;
};
Kept& kept() {
  static Kept& it = []() -> Kept& {
    // A child must not find the lock taken by a thread that it does not have.
    ::pthread_atfork([] { kept().mutex.lock(); }, [] { kept().mutex.unlock(); }, [] { kept().mutex.unlock(); });
    return *new Kept;  // never destroyed: threads may record while the process ends
  }();
  return it;
}

// Increases with each release. A cache that was filled before is out of date.
std::atomic<std::uint64_t> releases{1};

struct Recent {
  std::uint64_t releases = 0;
  std::array<const c10::TensorImpl*, 64> tensors;
};
constinit thread_local Recent recent{};

}  // namespace

void keep_address(c10::TensorImpl& tensor) noexcept try {
  const std::uint64_t now = releases.load(std::memory_order_acquire);
  if (std::exchange(recent.releases, now) != now) recent.tensors.fill(nullptr);
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(&tensor);
  const c10::TensorImpl*& place = recent.tensors[(address >> 6) % recent.tensors.size()];
  if (place == &tensor) return;
  c10::TensorImpl* given_up = nullptr;
  {
    const std::lock_guard lock(kept().mutex);
    if (kept().tensors.contains(&tensor)) {
      place = &tensor;
      return;
    }
    kept().tensors.insert(&tensor);
    c10::raw::weak_intrusive_ptr::incref(&tensor);
    kept().oldest_first.push_back(&tensor);
    if (kept().tensors.size() > kMostKept) {
      given_up = kept().oldest_first.front();
      kept().oldest_first.pop_front();
      kept().tensors.erase(given_up);
    }
  }
  place = &tensor;
  if (given_up != nullptr) c10::raw::weak_intrusive_ptr::decref(given_up);
} catch (...) {
  // Out of memory: two tensors may come to have one address.
}

void release_addresses() noexcept {
  std::unordered_set<c10::TensorImpl*> released;
  {
    const std::lock_guard lock(kept().mutex);
    released.swap(kept().tensors);
    kept().oldest_first = {};
    releases.fetch_add(1, std::memory_order_release);
  }
  for (c10::TensorImpl* tensor : released) c10::raw::weak_intrusive_ptr::decref(tensor);
}

}  // namespace mindtorch::torch_bridge
