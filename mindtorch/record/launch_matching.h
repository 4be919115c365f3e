// LaunchMatching: which launches have their work and which work has its call, for records that come in any order and in several batches.
// Internal to record.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "mindtorch/record/device_batch.h"

namespace mindtorch::record {

// Remembers three bits for each correlation that it has seen. Correlations that follow one another share a page, so that a launch takes
// less than a byte, and a session may hand over its records and forget them.
class LaunchMatching {
 public:
  LaunchMatching() = default;
  LaunchMatching(const LaunchMatching&) = delete;
  LaunchMatching& operator=(const LaunchMatching&) = delete;

  void add(const DeviceRecord& record);
  std::uint64_t launches_without_work() const;
  std::uint64_t work_without_call() const;

 private:
  static constexpr std::uint64_t kPerWord = 64, kWords = 8;
  using Bits = std::array<std::uint64_t, kWords>;
  struct Page {
    Bits called{};    // calls of any kind
    Bits launched{};  // calls that must have work
    Bits executed{};
  };
  static std::uint64_t count_missing(const Bits& of, const Bits& in);

  std::unordered_map<std::uint64_t, Page> pages_;  // by correlation / (kPerWord * kWords)
  std::uint64_t latest_number_ = 0;
  Page* latest_ = nullptr;  // records of one time have correlations nearby
};

}  // namespace mindtorch::record
