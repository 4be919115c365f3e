// Which records belong to a recording: calls by their times, device work by its call.
#include "mindtorch/sources/record_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "mindtorch/record/launch_matching.h"

namespace mindtorch::sources {

using record::DeviceRecord;
using record::KeptCalls;

bool RecordStore::is_inside(const std::vector<Window>& windows, const DeviceRecord& record, std::uint64_t time) const {
  return std::ranges::any_of(
      windows, [&](const Window& window) { return time >= on_clock_of(record, window.begin) && time <= on_clock_of(record, window.end); });
}

// A launch that is under way when recording ends does not belong to the recording, because its kernel may or may not be there.
bool RecordStore::is_call_inside(const std::vector<Window>& windows, const DeviceRecord& call) const {
  return is_inside(windows, call, call.start) && (!call.launches || is_inside(windows, call, call.end));
}

void RecordStore::store(const DeviceRecord& record) {
  if (!ring_.keeps(record, true)) {
    ++batch_.overwritten;
  } else if (is_over_budget(sizeof(record))) {
    ++over_budget_;
    if (trace::is_launch_kind(record.kind)) last_refused_call_ = std::max(last_refused_call_, record.correlation);
  } else {
    batch_.records.push_back(record);
  }
}

void RecordStore::store_work(const DeviceRecord& work) {
  if (work.start == 0 || work.end < work.start)
    (work.start != 0 ? unfinished_ : without_time_).push_back(work.correlation);
  else
    store(work);
}

void RecordStore::store_sample(std::uint32_t counter, std::uint64_t time, double value) {
  if (time == 0 || !std::isfinite(value)) {
    ++unplaced_samples_;
  } else if (is_over_budget(kSampleBytes)) {
    ++over_budget_;
  } else {
    batch_.counters[counter].ticks.push_back(time);
    batch_.counters[counter].values.push_back(value);
    ++samples_;
  }
}

// Erases the samples at unwanted times and returns how many there were.
template <class IsUnwanted>
std::size_t RecordStore::erase_samples(IsUnwanted&& is_unwanted) {
  const std::size_t before = samples_;
  for (record::CounterSeries& series : batch_.counters) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < series.ticks.size(); ++i) {
      if (is_unwanted(series.ticks[i])) continue;
      series.ticks[kept] = series.ticks[i];
      series.values[kept++] = series.values[i];
    }
    samples_ -= series.ticks.size() - kept;
    series.ticks.resize(kept);
    series.values.resize(kept);
  }
  return before - samples_;
}

void RecordStore::forget_before(Moment time) {
  // All calls up to the last one that ended too early are dropped, together with the work that they launched, so that no call is separated
  // from its work.
  for (const DeviceRecord& record : batch_.records) {
    if (trace::is_launch_kind(record.kind) && record.end < on_clock_of(record, time)) ring_.drop_up_to(record.correlation);
  }
  batch_.overwritten += erase_samples([time](std::uint64_t sample) { return sample < time.vendor; });
  batch_.overwritten += std::erase_if(batch_.records, [&](const DeviceRecord& record) {
    return !ring_.keeps(record, record.correlation != 0 || record.end >= on_clock_of(record, time));
  });
}

KeptCalls RecordStore::find_calls(const std::vector<Window>& windows) const {
  KeptCalls calls = written_calls_;
  for (const DeviceRecord& record : batch_.records) {
    if (trace::is_launch_kind(record.kind)) calls.add(record, is_call_inside(windows, record));
  }
  calls.reach(last_refused_call_);
  return calls;
}

trace::LaunchIndex RecordStore::index_calls() const {
  std::vector<trace::LaunchIndex::Launch> calls;
  for (std::uint32_t i = 0; i < batch_.records.size(); ++i) {
    const DeviceRecord& record = batch_.records[i];
    if (trace::is_launch_kind(record.kind) && record.correlation != 0) calls.push_back({record.correlation, i});
  }
  return trace::LaunchIndex(std::move(calls));
}

bool RecordStore::lacks_calls(const std::vector<Window>& windows) const {
  if (over_budget_ > 0) return false;  // a missing call may have been refused
  const KeptCalls calls = find_calls(windows);
  record::LaunchMatching matching;
  for (const DeviceRecord& record : batch_.records) {
    if (trace::is_launch_kind(record.kind))
      matching.add_call(record.correlation, false);
    else if (record.correlation != 0 && calls.keeps(record, false))
      matching.add_work(record.correlation);
  }
  return matching.work_without_call() > 0;
}

bool RecordStore::lacks_work(const std::vector<Window>& windows) const {
  if (over_budget_ > 0) return false;
  record::LaunchMatching matching;
  for (const std::vector<std::uint64_t>* unplaced : {&without_time_, &unfinished_})
    for (const std::uint64_t correlation : *unplaced) matching.add_work(correlation);
  for (const DeviceRecord& record : batch_.records) {
    if (record.launches && is_call_inside(windows, record)) matching.add_call(record.correlation, true);
    if (trace::is_device_kind(record.kind)) matching.add_work(record.correlation);
  }
  return matching.launches_without_work() > 0;
}

void RecordStore::drop_outside(const std::vector<Window>& windows, const KeptCalls& calls) {
  std::erase_if(batch_.records, [&](const DeviceRecord& record) {
    const bool is_call = trace::is_launch_kind(record.kind);
    return !calls.keeps(record, is_call ? is_call_inside(windows, record) : is_inside(windows, record, record.start));
  });
  erase_samples([&](std::uint64_t time) {
    return std::ranges::none_of(windows, [time](const Window& each) { return time >= each.begin.vendor && time <= each.end.vendor; });
  });
}

void RecordStore::drop_outside(const std::vector<Window>& windows) {
  const KeptCalls calls = find_calls(windows);
  drop_outside(windows, calls);
  const auto is_outside = [&](std::uint64_t correlation) {
    return !calls.keeps({.correlation = correlation, .kind = trace::EventKind::kKernel}, false);
  };
  std::erase_if(without_time_, is_outside);
  std::erase_if(unfinished_, is_outside);
}

void RecordStore::write_before(Moment time, const std::vector<Window>& windows, const std::function<void(record::DeviceBatch&)>& write) {
  const KeptCalls calls = find_calls(windows);
  std::unordered_set<std::uint64_t> later_calls;
  for (const DeviceRecord& record : batch_.records)
    if (trace::is_launch_kind(record.kind) && record.end >= on_clock_of(record, time)) later_calls.insert(record.correlation);
  // Work waits for its call: only the call tells whether it belongs to the recording.
  const auto is_settled = [&](const DeviceRecord& record) {
    if (record.end >= on_clock_of(record, time)) return false;
    if (trace::is_launch_kind(record.kind) || record.correlation == 0) return true;
    return record.correlation <= calls.last() && !later_calls.contains(record.correlation);
  };
  const auto later = std::stable_partition(batch_.records.begin(), batch_.records.end(), is_settled);
  std::vector<DeviceRecord> kept(later, batch_.records.end());
  batch_.records.erase(later, batch_.records.end());
  written_calls_ = find_calls(windows);
  drop_outside(windows, written_calls_);
  write(batch_);
  samples_ = batch_.sample_count();
  batch_.records = std::move(kept);
}

void RecordStore::count_losses() {
  batch_.count_dropped(over_budget_, "over the byte budget of the recording");
  batch_.count_dropped(without_time_.size(), "came without a time");
  batch_.count_dropped(unplaced_samples_, "samples of counters without a time or a value");
  batch_.count_dropped(unfinished_.size(), "still running when the recording stopped");
  if (deadline_.count() > 0)
    batch_.dropped_detail += fmt::format("{}the device was still busy after {} ms, so kernels that ended later are missing",
                                         batch_.dropped_detail.empty() ? "" : ", ", deadline_.count());
  batch_.count_dropped(unknown_, "of an unknown kind");
}

}  // namespace mindtorch::sources
