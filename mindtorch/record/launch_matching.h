// LaunchMatching: which launches have their work and which work has its call, for records that come in any order and in several batches.
// Internal to record and sources.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "mindtorch/record/device_batch.h"

namespace mindtorch::record {

// Remembers three bits for each correlation that it has seen. Correlations that follow one another share a page, so that a launch takes
// less than a byte. A session that writes its records as they come calls forget_settled(), so that it may run forever.
class LaunchMatching {
 public:
  LaunchMatching() = default;
  LaunchMatching(const LaunchMatching&) = delete;
  LaunchMatching& operator=(const LaunchMatching&) = delete;

  void add(const DeviceRecord& record);
  // `launches`: the call must have work.
  void add_call(std::uint64_t correlation, bool launches);
  void add_work(std::uint64_t correlation);
  std::uint64_t launches_without_work() const;
  std::uint64_t work_without_call() const;

  // Drops what is known about old correlations of which nothing is missing. Records that come for them later count as matched. If very many
  // old correlations lack something, the oldest ones are counted for good.
  void forget_settled();
  std::size_t pages() const { return pages_.size(); }
  // A page is old when so many pages follow, and so many old ones may lack something.
  static constexpr std::uint64_t kRecentPages = 256;
  static constexpr std::size_t kMostOldPages = 4096;

 private:
  static constexpr std::uint64_t kPerWord = 64, kWords = 8;
  using Bits = std::array<std::uint64_t, kWords>;
  struct Page {
    Bits called{};    // calls of any kind
    Bits launched{};  // calls that must have work
    Bits executed{};
  };
  // Remembers a bit of a correlation; nothing if the correlation is 0 or settled.
  void remember(std::uint64_t correlation, Bits Page::*what);
  static std::uint64_t count_missing(const Bits& of, const Bits& in);
  void count_for_good(const Page& page);

  std::map<std::uint64_t, Page> pages_;              // by correlation / (kPerWord * kWords)
  std::uint64_t first_recent_ = 0;                   // older pages that are not there are settled
  std::uint64_t lost_launches_ = 0, lost_work_ = 0;  // of pages that were counted for good
  std::uint64_t latest_number_ = 0;
  Page* latest_ = nullptr;  // records of one time have correlations nearby
};

}  // namespace mindtorch::record
