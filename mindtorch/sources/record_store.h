// RecordStore: the records that a source has decoded so far, within a budget, and which of them belong to the recording.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/record/device_batch.h"
#include "mindtorch/record/kept_calls.h"
#include "mindtorch/trace/launches.h"

namespace mindtorch::sources {

// A moment on the clock of the vendor's library and, for sources that time calls themselves, on that of the session.
struct Moment {
  std::uint64_t vendor = 0;
  std::uint64_t session = 0;
};
inline constexpr Moment kForever{.vendor = ~std::uint64_t{0}, .session = ~std::uint64_t{0}};

// One thread at a time. A decoder has a store, adds what it reads, and asks it for the batch at the end. Correlations count up over the
// life of the process, and a piece of device work has the correlation of the call that caused it. What lies inside the windows is kept:
// calls that began there, and the device work they caused.
class RecordStore {
 public:
  // A stretch of time in which the source collects.
  struct Window {
    Moment begin;
    Moment end = kForever;
  };
  static constexpr std::uint8_t kNoClock = 0xFF;

  // `session_clock`: the index of the session's clock among those of the batch, if records have it.
  explicit RecordStore(std::int64_t record_bytes, std::uint8_t session_clock = kNoClock)
      : most_bytes_(record_bytes), session_clock_(session_clock) {}
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  // What has been stored. A decoder may add names, details and clocks, and change records in their places; only the store adds records.
  record::DeviceBatch& batch() { return batch_; }
  const record::DeviceBatch& batch() const { return batch_; }
  // The batch, at the end.
  record::DeviceBatch take() { return std::move(batch_); }

  void store(const record::DeviceRecord& record);
  // The same for device work, unless its times are missing: such work is counted.
  void store_work(const record::DeviceRecord& work);
  void count_unknown() { ++unknown_; }
  void drop_outside(const std::vector<Window>& windows);
  // The calls that are stored; values are indices of records.
  trace::LaunchIndex index_calls() const;
  // Counts everything that the store has left out. Call after drop_outside().
  void count_losses();

  // keep_last: drops calls that ended before `time`, together with the work that they launched, and earlier samples of counters.
  void forget_before(Moment time);
  void count_dropped(std::uint64_t count, std::string_view why) { batch_.count_dropped(count, why); }
  // Reports that work was still running after this time.
  void note_deadline(std::chrono::milliseconds deadline) { deadline_ = deadline; }

  // Records and samples of counters.
  std::size_t size() const { return batch_.records.size() + samples_; }
  // A sample of a counter (DeviceBatch::counter_id()).
  void store_sample(std::uint32_t counter, std::uint64_t time, double value);
  std::uint32_t counter_id(std::string_view name, std::string_view unit, trace::Device device) {
    return batch_.counter_id(name, unit, device);
  }
  // spill: hands the records that ended before `time` to `write`, which completes them and takes them out of the batch, without those
  // outside of the windows.
  // All calls that ended before `time` must have come.
  void write_before(Moment time, const std::vector<Window>& windows, const std::function<void(record::DeviceBatch&)>& write);
  // True if device work of the windows is known whose call is not: the call may still be under way.
  bool lacks_calls(const std::vector<Window>& windows) const;
  // True if a launch of the windows is known whose device work is not: it may still be on its way.
  bool lacks_work(const std::vector<Window>& windows) const;

 private:
  record::KeptCalls find_calls(const std::vector<Window>& windows) const;
  void drop_outside(const std::vector<Window>& windows, const record::KeptCalls& calls);
  // A moment on the clock that a record has.
  std::uint64_t on_clock_of(const record::DeviceRecord& record, Moment time) const {
    return record.clock == session_clock_ ? time.session : time.vendor;
  }
  bool is_inside(const std::vector<Window>& windows, const record::DeviceRecord& record, std::uint64_t time) const;
  bool is_call_inside(const std::vector<Window>& windows, const record::DeviceRecord& call) const;
  template <class IsUnwanted>
  std::size_t erase_samples(IsUnwanted&& is_unwanted);
  bool is_over_budget(std::size_t more_bytes) const {
    return static_cast<std::int64_t>(batch_.records.size() * sizeof(record::DeviceRecord) + samples_ * kSampleBytes + more_bytes) >
           most_bytes_;
  }

  static constexpr std::size_t kSampleBytes = sizeof(std::uint64_t) + sizeof(double);

  record::DeviceBatch batch_;
  const std::int64_t most_bytes_;
  const std::uint8_t session_clock_;
  std::size_t samples_ = 0;                                 // in the counters of the batch
  record::KeptCalls written_calls_;                         // spill: those of the records that are in the file
  record::KeptCalls ring_{record::KeptCalls::Ends::kOpen};  // keep_last: what has not been forgotten
  std::uint64_t over_budget_ = 0;
  std::uint64_t last_refused_call_ = 0;      // its kernels may be there
  std::vector<std::uint64_t> without_time_;  // correlations of device records that cannot be placed
  std::vector<std::uint64_t> unfinished_;
  std::uint64_t unknown_ = 0;
  std::uint64_t unplaced_samples_ = 0;
  std::chrono::milliseconds deadline_{0};
};

}  // namespace mindtorch::sources
