// Advice to the kernel about memory that is about to be filled.
#include "mindtorch/base/large_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace mindtorch {

void prefer_large_pages(void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  constexpr std::size_t kWorthwhile = 4 * kPage;
  if (bytes < kWorthwhile) return;
  // Only whole large pages: what lies around them may belong to others.
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(begin) + kPage - 1) & ~(kPage - 1);
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(begin) + bytes) & ~(kPage - 1);
  ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // advice: a refusal changes nothing
}

}  // namespace mindtorch
