// Which records belong to a recording: calls by their times, device work by its call.
#include "mindtorch/sources/record_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mindtorch::sources {
namespace {

using record::DeviceRecord;
using Window = RecordStore::Window;

}  // namespace

bool RecordStore::is_inside(const std::vector<Window>& windows, const DeviceRecord& record, std::uint64_t time) const {
  return std::ranges::any_of(
      windows, [&](const Window& window) { return time >= on_clock_of(record, window.begin) && time <= on_clock_of(record, window.end); });
}

// A launch that is under way when recording ends does not belong to the recording, because its kernel may or may not be there.
bool RecordStore::is_call_inside(const std::vector<Window>& windows, const DeviceRecord& call) const {
  return is_inside(windows, call, call.start) && (!call.launches || is_inside(windows, call, call.end));
}

void RecordStore::make_set(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void RecordStore::store(const DeviceRecord& record) {
  if (record.correlation != 0 && record.correlation <= forgotten_correlation_) {
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
    if (trace::is_launch_kind(record.kind) && record.end < on_clock_of(record, time))
      forgotten_correlation_ = std::max(forgotten_correlation_, record.correlation);
  }
  batch_.overwritten += erase_samples([time](std::uint64_t sample) { return sample < time.vendor; });
  batch_.overwritten += std::erase_if(batch_.records, [&](const DeviceRecord& record) {
    return record.correlation != 0 ? record.correlation <= forgotten_correlation_ : record.end < on_clock_of(record, time);
  });
}

RecordStore::Calls RecordStore::find_calls(const std::vector<Window>& windows) const {
  Calls calls = written_calls_;
  for (const DeviceRecord& record : batch_.records) {
    if (!trace::is_launch_kind(record.kind) || record.correlation == 0) continue;
    if (!is_call_inside(windows, record)) {
      calls.outside.insert(record.correlation);
      continue;
    }
    calls.first = std::min(calls.first, record.correlation);
    calls.last = std::max(calls.last, record.correlation);
  }
  calls.last = std::max(calls.last, last_refused_call_);
  return calls;
}

bool RecordStore::lacks_calls(const std::vector<Window>& windows) const {
  if (over_budget_ > 0) return false;  // a missing call may have been refused
  const Calls calls = find_calls(windows);
  std::vector<std::uint64_t> called, executed;
  for (const DeviceRecord& record : batch_.records) {
    if (trace::is_launch_kind(record.kind))
      called.push_back(record.correlation);
    else if (record.correlation != 0 && calls.has_launched(record.correlation) &&
             (executed.empty() || executed.back() != record.correlation))
      executed.push_back(record.correlation);
  }
  make_set(called);
  make_set(executed);
  return !std::ranges::includes(called, executed);
}

bool RecordStore::lacks_work(const std::vector<Window>& windows) const {
  if (over_budget_ > 0) return false;
  std::vector<std::uint64_t> launched, executed = without_time_;
  executed.insert(executed.end(), unfinished_.begin(), unfinished_.end());
  for (const DeviceRecord& record : batch_.records) {
    if (record.launches && is_call_inside(windows, record)) launched.push_back(record.correlation);
    if (trace::is_device_kind(record.kind)) executed.push_back(record.correlation);
  }
  make_set(launched);
  make_set(executed);
  return !std::ranges::includes(executed, launched);
}

// A kernel belongs to the recording if its launch does. The call of a kernel may not be there because it was under way when recording began
// or ended; correlations count up, so that it lies before the first or after the last call of the recording.
void RecordStore::drop_outside(const std::vector<Window>& windows, const Calls& calls) {
  std::erase_if(batch_.records, [&](const DeviceRecord& record) {
    // The runtime's call and the driver's inside it share a correlation, and their fate.
    if (trace::is_launch_kind(record.kind)) return !is_call_inside(windows, record) || calls.outside.contains(record.correlation);
    if (record.correlation == 0) return !is_inside(windows, record, record.start);
    return !calls.has_launched(record.correlation);
  });
  erase_samples([&](std::uint64_t time) {
    return std::ranges::none_of(windows, [time](const Window& each) { return time >= each.begin.vendor && time <= each.end.vendor; });
  });
}

void RecordStore::drop_outside(const std::vector<Window>& windows) {
  const Calls calls = find_calls(windows);
  drop_outside(windows, calls);
  for (std::vector<std::uint64_t>* unplaced : {&without_time_, &unfinished_})
    std::erase_if(*unplaced, [&](std::uint64_t correlation) { return !calls.has_launched(correlation); });
}

void RecordStore::write_before(Moment time, const std::vector<Window>& windows, const std::function<void(record::DeviceBatch&)>& write) {
  const Calls calls = find_calls(windows);
  std::unordered_set<std::uint64_t> later_calls;
  for (const DeviceRecord& record : batch_.records)
    if (trace::is_launch_kind(record.kind) && record.end >= on_clock_of(record, time)) later_calls.insert(record.correlation);
  // Work waits for its call: only the call tells whether it belongs to the recording.
  const auto is_settled = [&](const DeviceRecord& record) {
    if (record.end >= on_clock_of(record, time)) return false;
    if (trace::is_launch_kind(record.kind) || record.correlation == 0) return true;
    return record.correlation <= calls.last && !later_calls.contains(record.correlation);
  };
  const auto later = std::stable_partition(batch_.records.begin(), batch_.records.end(), is_settled);
  std::vector<DeviceRecord> kept(later, batch_.records.end());
  batch_.records.erase(later, batch_.records.end());
  written_calls_ = find_calls(windows);
  drop_outside(windows, written_calls_);
  complete_records();
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
