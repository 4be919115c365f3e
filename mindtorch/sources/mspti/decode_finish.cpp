// The last step of decoding, when all buffers have arrived: links calls, markers and allocations, and relates the devices' clocks.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "mindtorch/record/device_mapping.h"
#include "mindtorch/record/launch_queue.h"
#include "mindtorch/sources/mspti/call_links.h"
#include "mindtorch/sources/mspti/decode.h"
#include "mindtorch/trace/launches.h"

namespace mindtorch::sources::mspti {

using record::BracketedSample;
using record::DeviceRecord;
using trace::DeviceType;
using trace::EventKind;

// Ranges of the host lie on the thread that began them, ranges of a device on the stream.
void Decoder::add_markers() {
  std::uint64_t without_end = 0;
  for (const auto& [id, marker] : markers_) {
    const std::uint32_t name = name_id(marker.name);
    const std::uint32_t row = *marker.domain != '\0' ? detail({batch_.text_attribute("domain", marker.domain)}) : 0;
    for (const Range* range : {&marker.host, &marker.device}) {
      if (range->start == 0) continue;
      const std::uint64_t end = marker.is_range ? range->end : range->start;
      if (end == 0) {
        ++without_end;
        continue;
      }
      if (range == &marker.device)
        add_work(EventKind::kDeviceScope, range->start, end, 0, range->place[0], range->place[1], name, row, false);
      else
        store_.store({.start = range->start,
                      .end = end,
                      .name = name,
                      .detail = row,
                      .lane = static_cast<std::int32_t>(range->place[1]),
                      .kind = marker.is_range ? EventKind::kScope : EventKind::kInstant,
                      .device = {DeviceType::kCpu, 0}});
    }
  }
  batch_.count_dropped(without_end, "marked ranges that had not ended");
}

// A record of memory becomes a detail of the call that allocated or released it. A record whose call is missing becomes an event of its
// own.
void Decoder::add_memory() {
  trace::LaunchIndex calls = store_.index_calls();
  for (const MemoryRecord& memory : memory_) {
    const bool is_release = memory.operation == kRelease;
    const std::uint64_t id = memory.correlation_id;  // a reference to a field of a packed record may be misaligned
    const std::uint32_t row =
        detail({batch_.attribute(is_release ? "released bytes" : "allocated bytes", static_cast<std::int64_t>(memory.bytes)),
                batch_.text_attribute("address", fmt::format("0x{:x}", std::uint64_t{memory.address}))});
    if (const std::uint32_t call = calls.find(id); call != trace::LaunchIndex::kNone) {
      batch_.records[call].detail = row;
      continue;
    }
    store_.store({.start = memory.start,
                  .end = memory.end,
                  .correlation = memory.correlation_id,
                  .name = batch_.name_id(is_release ? "aclrtFree" : "aclrtMalloc"),
                  .detail = row,
                  .lane = 0,
                  .kind = EventKind::kRuntime,
                  .device = {DeviceType::kNpu, static_cast<std::uint8_t>(device_index(memory.device_id))}});
  }
}

// By how much kernels of a device seem to start before the calls that launched them.
std::map<int, std::uint64_t> Decoder::earliness() const {
  trace::LaunchIndex calls = store_.index_calls();
  std::map<int, std::uint64_t> early;
  for (const DeviceRecord& record : batch_.records) {
    if (record.clock == 0 || record.correlation == 0) continue;
    const std::uint32_t call = calls.find(record.correlation);
    if (call == trace::LaunchIndex::kNone || !batch_.records[call].launches || batch_.records[call].start <= record.start) continue;
    std::uint64_t& most = early[record.clock - 1];
    most = std::max(most, batch_.records[call].start - record.start);
  }
  return early;
}

// MSPTI cannot be asked for a device's clock. Its device times are host times with an error, so each device has the samples of the host's
// clock, made uncertain by that error. If a kernel seems to start before its launch, the times of its device are moved.
void Decoder::add_clocks(const std::vector<BracketedSample>& samples, record::Clock& session) {
  batch_.clocks = {{.name = "mspti", .samples = samples}};
  const std::map<int, std::uint64_t> early = earliness();
  const int last_device = devices_.empty() ? -1 : *devices_.rbegin();
  for (int device = 0; device <= last_device; ++device) {
    const auto found = early.find(device);
    const std::uint64_t shift = found != early.end() ? found->second : 0;
    if (shift > 0) batch_.metadata.emplace_back(fmt::format("npu_{}_clock_shift_ns", device), fmt::format("{}", shift));
    const auto error = static_cast<std::uint64_t>(static_cast<double>(kDeviceTimeError + shift) / session.ns_per_tick());
    record::SourceClock clock{.name = fmt::format("mspti npu:{}", device)};
    for (BracketedSample sample : samples) {
      sample.device_ticks -= shift;
      sample.host_before -= std::min(error, sample.host_before);
      sample.host_after += error;
      clock.samples.push_back(sample);
    }
    batch_.clocks.push_back(std::move(clock));
  }
}

// A thread that launches for others has said for whom. LaunchLinks finds the op through the call that put the work into the queue.
void Decoder::link_queued_work(const std::vector<BracketedSample>& samples) {
  std::vector<record::QueuedSpan> spans = record::take_queued_spans();
  if (spans.empty()) return;
  std::ranges::sort(spans, {}, [](const record::QueuedSpan& span) { return std::pair(span.thread_id, span.begin); });
  record::TickMapping session;  // stays in ticks
  record::TickMapping to_session = record::map_source_clock({.name = "mspti", .samples = samples}, session);
  std::unordered_map<std::uint64_t, record::LaunchTicket> ticket_of;
  for (const DeviceRecord& call : batch_.records) {
    if (!trace::is_launch_kind(call.kind) || call.correlation == 0) continue;
    const auto time = static_cast<std::uint64_t>(to_session.to_ns(call.start + (call.end - call.start) / 2));
    const auto key = std::pair(static_cast<std::uint32_t>(call.lane), time);
    const auto after =
        std::ranges::upper_bound(spans, key, {}, [](const record::QueuedSpan& span) { return std::pair(span.thread_id, span.begin); });
    if (after == spans.begin()) continue;
    const record::QueuedSpan& span = *(after - 1);
    if (span.thread_id == key.first && time <= span.end) ticket_of[call.correlation] = span.ticket;
  }
  for (DeviceRecord& work : batch_.records) {
    if (!trace::is_device_kind(work.kind)) continue;
    const auto found = ticket_of.find(work.correlation);
    if (found == ticket_of.end()) continue;
    const auto stored = batch_.details.row(work.detail);
    std::vector<trace::Attribute> row(stored.begin(), stored.end());
    row.push_back(batch_.attribute(trace::kCaptureCorrelation, static_cast<std::int64_t>(found->second)));
    work.detail = batch_.details.add(row);
  }
}

record::DeviceBatch Decoder::finish(const std::vector<RecordStore::Window>& windows, const std::vector<BracketedSample>& samples,
                                    record::Clock& session) {
  std::unordered_set<std::uint64_t> ids_of_memory_calls;
  for (const MemoryRecord& memory : memory_) {
    const std::uint64_t id = memory.correlation_id;
    ids_of_memory_calls.insert(id);
  }
  for (const DeviceRecord& record : batch_.records) {
    if (record.kind == EventKind::kMemcpy || record.kind == EventKind::kMemset) ids_of_memory_calls.insert(record.correlation);
  }
  keep_ids_of_makers(batch_.records, ids_of_memory_calls);
  add_markers();
  add_memory();
  store_.drop_outside(windows);
  store_.count_losses();
  if (samples.empty()) {
    batch_.count_dropped(batch_.records.size(), "cannot be placed, because MSPTI's clock could not be read");
    batch_.records.clear();
  } else {
    link_queued_work(samples);
    add_clocks(samples, session);
  }
  return store_.take();
}

}  // namespace mindtorch::sources::mspti
