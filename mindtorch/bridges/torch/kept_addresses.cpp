// One ring of weak references that all threads fill without a lock, and for each thread a small cache of what it put there.
#include "mindtorch/bridges/torch/kept_addresses.h"

#include <c10/util/intrusive_ptr.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mindtorch/base/thread_owned.h"

namespace mindtorch::torch_bridge {
namespace {

namespace weak_reference = c10::raw::weak_intrusive_ptr;

// Some 10 MB of objects. Without a bound, a recording that keeps only the last steps would grow for as long as it runs.
constexpr std::size_t kMostKept = 32768;

// A tensor is in the ring once for each thread that keeps it, and possibly more than once: a reference each time.
constinit std::array<std::atomic<c10::TensorImpl*>, kMostKept> ring{};
constinit std::atomic<std::uint64_t> next_place{kMostKept};

// Tensors that this thread put into the ring at place `since` or later. They are all there until kMostKept places after `since` were given
// away. Its memory is the thread's own, because libraries that are loaded at run time share little room for thread-local data.
struct Recent {
  std::uint64_t since = 0;
  std::array<const c10::TensorImpl*, 64> tensors{};
};

}  // namespace

void keep_address(c10::TensorImpl& tensor) noexcept {
  Recent* const cache = ThreadOwned<Recent>::get();
  if (cache == nullptr) return;  // the thread is about to end, or there is no memory
  Recent& recent = *cache;
  const std::uint64_t now = next_place.load(std::memory_order_relaxed);
  if (now - recent.since >= kMostKept) recent = {.since = now};
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(&tensor);
  const c10::TensorImpl*& known = recent.tensors[(address >> 6) % recent.tensors.size()];
  if (known == &tensor) return;
  known = &tensor;
  weak_reference::incref(&tensor);
  const std::uint64_t place = next_place.fetch_add(1, std::memory_order_relaxed);
  c10::TensorImpl* const given_up = ring[place % kMostKept].exchange(&tensor, std::memory_order_acq_rel);
  if (given_up != nullptr) weak_reference::decref(given_up);
}

void release_addresses() noexcept {
  for (std::atomic<c10::TensorImpl*>& place : ring)
    if (c10::TensorImpl* const tensor = place.exchange(nullptr, std::memory_order_acq_rel)) weak_reference::decref(tensor);
  // Whatever the threads' caches hold is out of date now, also what was put into the ring during the loop.
  next_place.fetch_add(kMostKept, std::memory_order_relaxed);
}

}  // namespace mindtorch::torch_bridge
