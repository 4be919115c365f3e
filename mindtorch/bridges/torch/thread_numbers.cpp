// The latest threads by torch's id; each entry is one word, so that readers need no lock.
#include "mindtorch/bridges/torch/thread_numbers.h"

#include <array>
#include <atomic>

namespace mindtorch::torch_bridge {
namespace {

// Torch counts threads from 1: as long as there are no more than this, each has an entry of its own.
constexpr std::size_t kThreads = 4096;
constexpr int kNumberBits = 24;  // as in trace::make_sequence_link

std::array<std::atomic<std::uint64_t>, kThreads> entries{};  // (torch id << kNumberBits) | number

}  // namespace

void note_thread_number(std::uint64_t torch_id, std::uint32_t number) noexcept {
  entries[torch_id % kThreads].store((torch_id << kNumberBits) | number, std::memory_order_release);
}

std::uint32_t thread_number_of(std::uint64_t torch_id) noexcept {
  const std::uint64_t entry = entries[torch_id % kThreads].load(std::memory_order_acquire);
  return entry >> kNumberBits == torch_id ? static_cast<std::uint32_t>(entry & ((std::uint64_t{1} << kNumberBits) - 1)) : 0;
}

}  // namespace mindtorch::torch_bridge
