// Matching of launches and their work.
#include "mindtorch/record/launch_matching.h"

#include <bit>

#include "mindtorch/trace/event.h"

namespace mindtorch::record {

void LaunchMatching::add(const DeviceRecord& record) {
  if (record.correlation == 0) return;
  const std::uint64_t number = record.correlation / (kPerWord * kWords);
  if (latest_ == nullptr || number != latest_number_) {
    latest_ = &pages_[number];
    latest_number_ = number;
  }
  const std::size_t word = record.correlation / kPerWord % kWords;
  const std::uint64_t bit = std::uint64_t{1} << (record.correlation % kPerWord);
  (trace::is_device_kind(record.kind) ? latest_->executed : latest_->called)[word] |= bit;
  if (record.launches) latest_->launched[word] |= bit;
}

std::uint64_t LaunchMatching::count_missing(const Bits& of, const Bits& in) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kWords; ++i) count += static_cast<std::uint64_t>(std::popcount(of[i] & ~in[i]));
  return count;
}

std::uint64_t LaunchMatching::launches_without_work() const {
  std::uint64_t count = 0;
  for (const auto& [number, page] : pages_) count += count_missing(page.launched, page.executed);
  return count;
}

std::uint64_t LaunchMatching::work_without_call() const {
  std::uint64_t count = 0;
  for (const auto& [number, page] : pages_) count += count_missing(page.executed, page.called);
  return count;
}

}  // namespace mindtorch::record
