// Matching of launches and their work.
#include "mindtorch/record/launch_matching.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "mindtorch/trace/event.h"

namespace mindtorch::record {

void LaunchMatching::add(const DeviceRecord& record) {
  if (record.kind == trace::EventKind::kSync) return;  // waits and marks are not work
  if (trace::is_device_kind(record.kind))
    add_work(record.correlation);
  else
    add_call(record.correlation, record.launches);
}

void LaunchMatching::add_call(std::uint64_t correlation, bool launches) {
  remember(correlation, &Page::called);
  if (launches) remember(correlation, &Page::launched);
}

void LaunchMatching::add_work(std::uint64_t correlation) { remember(correlation, &Page::executed); }

void LaunchMatching::remember(std::uint64_t correlation, Bits Page::*what) {
  if (correlation == 0) return;
  const std::uint64_t number = correlation / (kPerWord * kWords);
  if (latest_ == nullptr || number != latest_number_) {
    if (number < first_recent_ && !pages_.contains(number)) return;
    latest_ = &pages_[number];
    latest_number_ = number;
  }
  (latest_->*what)[correlation / kPerWord % kWords] |= std::uint64_t{1} << (correlation % kPerWord);
}

std::uint64_t LaunchMatching::count_missing(const Bits& of, const Bits& in) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kWords; ++i) count += static_cast<std::uint64_t>(std::popcount(of[i] & ~in[i]));
  return count;
}

std::uint64_t LaunchMatching::launches_without_work() const {
  std::uint64_t count = lost_launches_;
  for (const auto& [number, page] : pages_) count += count_missing(page.launched, page.executed);
  return count;
}

std::uint64_t LaunchMatching::work_without_call() const {
  std::uint64_t count = lost_work_;
  for (const auto& [number, page] : pages_) count += count_missing(page.executed, page.called);
  return count;
}

void LaunchMatching::count_for_good(const Page& page) {
  lost_launches_ += count_missing(page.launched, page.executed);
  lost_work_ += count_missing(page.executed, page.called);
}

void LaunchMatching::forget_settled() {
  if (pages_.empty()) return;
  latest_ = nullptr;
  const std::uint64_t newest = pages_.rbegin()->first;
  first_recent_ = std::max(first_recent_, newest - std::min(newest, kRecentPages));
  const auto recent = pages_.lower_bound(first_recent_);
  std::size_t old = 0;
  for (auto at = pages_.begin(); at != recent;) {
    const Page& page = at->second;
    const bool is_settled = count_missing(page.launched, page.executed) == 0 && count_missing(page.executed, page.called) == 0;
    old += is_settled ? 0 : 1;
    at = is_settled ? pages_.erase(at) : std::next(at);
  }
  for (; old > kMostOldPages; --old) {
    count_for_good(pages_.begin()->second);
    pages_.erase(pages_.begin());
  }
}

}  // namespace mindtorch::record
