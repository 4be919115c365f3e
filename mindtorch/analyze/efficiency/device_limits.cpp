// The choice between peaks that were given, listed, computed and measured.
#include "mindtorch/analyze/efficiency/device_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "mindtorch/analyze/efficiency/device_peaks.h"
#include "mindtorch/base/text.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

using trace::DevicePeaks;

// Numbers that are known in `newer` replace those of `peaks`.
void replace(DevicePeaks& peaks, const DevicePeaks& newer) {
  for (std::size_t unit = 0; unit < trace::kComputeUnits; ++unit) {
    if (newer.tflops[unit] > 0) peaks.tflops[unit] = newer.tflops[unit];
  }
  if (newer.tbytes > 0) peaks.tbytes = newer.tbytes;
  if (newer.cache_mbytes > 0) peaks.cache_mbytes = newer.cache_mbytes;
  if (newer.clock_mhz > 0) peaks.clock_mhz = newer.clock_mhz;
  peaks.source = newer.source;
}

bool is_anything_known(const DevicePeaks& peaks) {
  return peaks.tbytes > 0 || std::ranges::any_of(peaks.tflops, [](double rate) { return rate > 0; });
}

// Those of the machine on which the recording was made; an entry of the CPU without a machine is for every one.
void find_cpu(const trace::Recording& recording, const KnownPeaks& known, DeviceLimit& limit) {
  limit.name = "CPU";
  const auto host = recording.metadata.find("host_name");
  bool knows_others = false;
  for (const DevicePeaks& each : known.devices) {
    const bool is_for_any = each.host.empty() && names_device(each.device, "CPU");
    const bool is_here = !each.host.empty() && host != recording.metadata.end() && host->second == json_quoted(each.host);
    if (is_for_any || is_here) replace(limit.peaks, each), limit.name = each.device;
    knows_others = knows_others || (!each.host.empty() && !is_here);
  }
  if (is_anything_known(limit.peaks)) return;
  limit.problem = "what this CPU can do has not been measured: run `mtprof peaks` once on the machine that recorded";
  if (knows_others)
    limit.problem = "the peaks that are known are those of another CPU than the one that recorded: run `mtprof peaks` there";
}

void find_accelerator(const trace::Recording& recording, const KnownPeaks& known, DeviceLimit& limit) {
  const auto properties = std::ranges::find(recording.devices, limit.device, &trace::DeviceProperties::device);
  const trace::DeviceProperties none{.device = limit.device, .name = {}, .numbers = {}};
  const trace::DeviceProperties& device = properties == recording.devices.end() ? none : *properties;
  limit.name = device.name.empty() ? trace::device_text(limit.device) : device.name;
  if (const auto listed = listed_peaks(device)) {
    limit.peaks = *listed;
  } else if (const auto computed = computed_peaks(device)) {
    limit.peaks = *computed;
  }
  for (const DevicePeaks& each : known.devices) {
    if (each.host.empty() && names_device(each.device, limit.name)) replace(limit.peaks, each);
  }
  if (!is_anything_known(limit.peaks))
    limit.problem = fmt::format("the peaks of {} are not known: give them with --peak or --peaks", limit.name);
}

// The mean clock between the first and the last work of the device.
double mean_clock(const trace::Recording& recording, trace::Device device) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  const trace::EventColumns& events = recording.events;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!is_device_work(events.kind[i]) || events.device[i] != device) continue;
    first = std::min(first, events.start_ns[i]);
    last = std::max(last, events.end_ns(i));
  }
  double sum = 0;
  std::int64_t samples = 0;
  for (const trace::CounterTrack& track : recording.counters) {
    if (track.device != device || track.name != "SM clock" || track.unit != "MHz") continue;
    for (std::size_t k = 0; k < track.size(); ++k) {
      if (track.times_ns[k] < first || track.times_ns[k] > last) continue;
      sum += track.values[k];
      ++samples;
    }
  }
  return samples > 0 ? sum / static_cast<double>(samples) : 0;
}

}  // namespace

DeviceLimit device_limit(const trace::Recording& recording, trace::Device device, const KnownPeaks& known) {
  DeviceLimit limit{.device = device, .name = {}, .peaks = {}, .problem = {}};
  const bool is_cpu = device.type == trace::DeviceType::kCpu;
  is_cpu ? find_cpu(recording, known, limit) : find_accelerator(recording, known, limit);
  for (const std::string& change : known.changes) set_peak(limit.peaks, change);
  limit.is_known = is_anything_known(limit.peaks);
  if (limit.is_known) limit.problem.clear();
  if (!is_cpu) limit.ran_at_mhz = mean_clock(recording, device);
  return limit;
}

}  // namespace mindtorch::analyze
