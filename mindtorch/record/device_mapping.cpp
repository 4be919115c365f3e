// Puts the records of sources on the timeline of the host.
#include "mindtorch/record/device_mapping.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

#include "mindtorch/base/error.h"
#include "mindtorch/record/kept_calls.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::record {
namespace {

// Samples whose bracket is far wider than the best ones were interrupted. They would make the mapping worse.
constexpr std::int64_t kWorthKeeping = 4;

// `tick_ns`: how long one value of the device's clock is shown. A sample and a record with the same value may be that far apart.
ClockAnchor to_anchor(const BracketedSample& sample, TickMapping& session, std::int64_t tick_ns) {
  const std::int64_t before = session.to_ns(sample.host_before);
  const std::int64_t after = session.to_ns(sample.host_after);
  return {sample.device_ticks, before + (after - before) / 2, (after - before + 1) / 2 + session.error_bound_ns() + tick_ns};
}

// Keeps the first and last sample (they span the recording) and the narrow ones between.
std::vector<ClockAnchor> anchors_of(const SourceClock& clock, TickMapping& session) {
  const auto tick_ns = static_cast<std::int64_t>(std::ceil(1.0 / clock.nominal_ticks_per_ns));
  std::vector<ClockAnchor> all;
  for (const BracketedSample& sample : clock.samples) all.push_back(to_anchor(sample, session, tick_ns));
  std::sort(all.begin(), all.end(), [](const ClockAnchor& a, const ClockAnchor& b) { return a.ticks < b.ticks; });
  std::int64_t best = all.front().uncertainty_ns;
  for (const ClockAnchor& anchor : all) best = std::min(best, anchor.uncertainty_ns);
  std::vector<ClockAnchor> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool edge = i == 0 || i + 1 == all.size();
    if (!edge && all[i].uncertainty_ns > kWorthKeeping * best) continue;
    if (!kept.empty() && all[i].ticks == kept.back().ticks) continue;
    kept.push_back(all[i]);
  }
  return kept;
}

// Finds or makes the track of a stream or of a launching thread.
class Tracks {
 public:
  Tracks(trace::Recording& recording, const DeviceBatch& batch) : recording_(recording), batch_(batch) {
    for (trace::TrackId id = 0; id < recording.tracks.size(); ++id) {
      const trace::Track& track = recording.tracks[id];
      if (track.kind == trace::Track::Kind::kThread)
        threads_[track.id] = id;
      else
        streams_[{track.device, track.id}] = id;
    }
  }
  trace::TrackId of(const DeviceRecord& record) {
    return trace::is_device_kind(record.kind) ? stream(record.device, record.lane) : thread(record.lane);
  }
  trace::TrackId thread(std::int32_t tid) {
    const auto [found, is_new] = threads_.try_emplace(tid, static_cast<trace::TrackId>(recording_.tracks.size()));
    if (is_new) {
      const auto known = batch_.threads.find(tid);
      trace::Track track;
      track.pid = known != batch_.threads.end() && known->second.pid != 0 ? known->second.pid : ::getpid();
      track.id = tid;
      track.first_event = static_cast<trace::EventIndex>(recording_.events.size());
      if (known != batch_.threads.end()) track.name = known->second.name;
      recording_.tracks.push_back(std::move(track));
    }
    return found->second;
  }

 private:
  trace::TrackId stream(trace::Device device, std::int64_t stream) {
    const auto [found, is_new] = streams_.try_emplace({device, stream}, static_cast<trace::TrackId>(recording_.tracks.size()));
    if (is_new) {
      trace::Track track;
      track.kind = trace::Track::Kind::kStream;
      track.device = device;
      track.pid = ::getpid();
      track.id = stream;
      track.name = fmt::format("stream {}", stream);
      recording_.tracks.push_back(std::move(track));
    }
    return found->second;
  }
  trace::Recording& recording_;
  const DeviceBatch& batch_;
  std::map<std::int64_t, trace::TrackId> threads_;
  std::map<std::pair<trace::Device, std::int64_t>, trace::TrackId> streams_;
};

// keep_last: which records of a batch are older than what was asked to be kept.
class OldRecords {
 public:
  // Nothing is old if the window has no start.
  OldRecords(const DeviceBatch& batch, std::vector<TickMapping>& mappings, TickMapping& session, std::uint64_t window_start) {
    if (window_start == 0) return;
    const std::int64_t window_ns = session.to_ns(window_start);
    const auto is_inside = [&](const DeviceRecord& record) { return mappings.at(record.clock).to_ns(record.start) >= window_ns; };
    KeptCalls calls(KeptCalls::Ends::kOpen);
    for (const DeviceRecord& record : batch.records) {
      if (trace::is_launch_kind(record.kind)) calls.add(record, is_inside(record));
    }
    is_old_.resize(batch.records.size());
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      is_old_[i] = !calls.keeps(batch.records[i], is_inside(batch.records[i]));
      count_ += is_old_[i] ? 1 : 0;
    }
  }
  bool has(std::size_t i) const { return !is_old_.empty() && is_old_[i]; }
  std::size_t count() const { return count_; }

 private:
  std::vector<bool> is_old_;
  std::size_t count_ = 0;
};

std::vector<TickMapping> map_clocks(const DeviceBatch& batch, TickMapping& session) {
  std::vector<TickMapping> mappings;
  for (const SourceClock& clock : batch.clocks) mappings.push_back(map_source_clock(clock, session));
  return mappings;
}

// The names and details of a batch with the ids of a recording.
class BatchIds {
 public:
  BatchIds(const DeviceBatch& batch, IdMaps& ids) : batch_(batch) {
    names_.reserve(batch.names.size());
    for (const std::string& text : batch.names) names_.push_back(ids.name(text));
  }
  trace::NameId name(std::uint32_t id) const { return names_[id]; }
  // The shared row of `into` that holds a detail. It is added when it is first asked for.
  std::uint32_t row(std::uint32_t detail, trace::SharedTable<trace::Attribute>& into) {
    if (rows_.empty()) rows_.assign(batch_.details.size(), kNoRow);
    if (rows_[detail] == kNoRow) {
      row_.clear();
      for (trace::Attribute attribute : batch_.details.row(detail)) {
        trace::map_names(attribute, [&](trace::NameId id) { return names_[id]; });
        row_.push_back(attribute);
      }
      rows_[detail] = into.add_shared_row(row_);
    }
    return rows_[detail];
  }

 private:
  const DeviceBatch& batch_;
  static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

  std::vector<trace::NameId> names_;
  std::vector<std::uint32_t> rows_;    // by detail
  std::vector<trace::Attribute> row_;  // the one at hand; kept for its capacity
};

// A source that was asked several times has the same clocks each time.
void add_domain(const trace::ClockDomain& domain, std::vector<trace::ClockDomain>& domains) {
  const auto known = std::ranges::find(domains, domain.name, &trace::ClockDomain::name);
  if (known == domains.end()) {
    domains.push_back(domain);
    return;
  }
  known->error_bound_ns = std::max(known->error_bound_ns, domain.error_bound_ns);
  known->samples += domain.samples;
}

}  // namespace

TickMapping map_source_clock(const SourceClock& clock, TickMapping& session) {
  if (clock.is_session_clock) return session;
  if (clock.samples.empty()) throw_error<InvalidArgument>("record.stop", "the clock '{}' of a source gave no sample", clock.name);
  std::vector<ClockAnchor> anchors = anchors_of(clock, session);
  if (anchors.size() < 2) return TickMapping(anchors.front(), 1.0 / clock.nominal_ticks_per_ns);
  return TickMapping(std::move(anchors));
}

std::size_t add_device_records(const DeviceBatch& batch, TickMapping& session, std::uint64_t window_start, IdMaps& ids,
                               trace::Recording& out, std::vector<trace::TrackId>& track_of_event, LaunchMatching& matching) {
  std::vector<TickMapping> mappings = map_clocks(batch, session);
  Tracks tracks(out, batch);
  BatchIds batch_ids(batch, ids);
  const OldRecords old(batch, mappings, session, window_start);
  trace::EventColumns& columns = out.events;
  std::size_t row = columns.size();
  columns.resize(row + batch.records.size() - old.count());
  for (std::size_t i = 0; i < batch.records.size(); ++i) {
    if (old.has(i)) continue;
    const DeviceRecord& record = batch.records[i];
    TickMapping& mapping = mappings.at(record.clock);
    const std::int64_t start_ns = mapping.to_ns(record.start);
    columns.set(row, {.start_ns = start_ns,
                      .duration_ns = std::max<std::int64_t>(0, mapping.to_ns(record.end) - start_ns),
                      .name = batch_ids.name(record.name),
                      .link = record.correlation,
                      .device = record.device,
                      .kind = record.kind,
                      .flags = trace::is_device_kind(record.kind) ? std::uint8_t{trace::kKnownDevice} : std::uint8_t{0}});
    track_of_event.push_back(tracks.of(record));
    if (record.detail != 0) out.attributes.share(static_cast<trace::EventIndex>(row), batch_ids.row(record.detail, out.attributes));
    matching.add(record);
    ++row;
  }
  return old.count();
}

std::size_t add_counters(const DeviceBatch& batch, TickMapping& session, std::uint64_t window_start, trace::Recording& out) {
  if (batch.counters.empty()) return 0;
  std::vector<TickMapping> mappings = map_clocks(batch, session);
  std::size_t left_out = 0;
  for (const CounterSeries& series : batch.counters) {
    trace::CounterTrack& counter = trace::find_or_add_counter(out.counters, series.name, series.unit, series.device);
    TickMapping& mapping = mappings.at(series.clock);
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      const std::int64_t time_ns = mapping.to_ns(series.ticks[i]);
      if (window_start != 0 && time_ns < session.to_ns(window_start)) {
        ++left_out;
        continue;
      }
      counter.times_ns.push_back(time_ns);
      counter.values.push_back(series.values[i]);
    }
    trace::order_samples(counter);
  }
  return left_out;
}

std::size_t add_thread_samples(const DeviceBatch& batch, TickMapping& session, std::uint64_t window_start, IdMaps& ids,
                               trace::Recording& out) {
  if (batch.samples.empty()) return 0;
  Tracks tracks(out, batch);
  BatchIds batch_ids(batch, ids);
  std::vector<std::optional<trace::StackId>> stacks(batch.stacks().size());
  std::vector<trace::Frame> frames;
  const auto stack_of = [&](trace::StackId id) {
    if (stacks[id]) return *stacks[id];
    frames.clear();
    for (const std::uint32_t number : batch.stacks().frames_of(id)) {
      const trace::Frame& frame = batch.stacks().frames[number];
      frames.push_back({batch_ids.name(frame.file), batch_ids.name(frame.function), frame.line});
    }
    return *(stacks[id] = ids.stack(std::span<const trace::Frame>(frames)));
  };
  std::size_t left_out = 0;
  for (const ThreadSample& sample : batch.samples) {
    if (sample.end <= window_start) {
      ++left_out;
      continue;
    }
    const std::int64_t start_ns = session.to_ns(std::max(sample.start, window_start));
    out.samples.push_back({.time_ns = start_ns,
                           .duration_ns = std::max<std::int64_t>(0, session.to_ns(sample.end) - start_ns),
                           .track = tracks.thread(sample.thread),
                           .stack = stack_of(sample.stack),
                           .state = sample.state});
  }
  trace::order_samples(out.samples);
  return left_out;
}

void add_source_facts(const DeviceBatch& batch, std::string_view source_name, TickMapping& session, const LaunchMatching& matching,
                      std::uint64_t left_out, trace::Recording& out) {
  for (const SourceClock& clock : batch.clocks) {
    if (clock.is_session_clock) continue;
    const TickMapping mapping = map_source_clock(clock, session);
    add_domain({clock.name, 1e9 / mapping.ns_per_tick(), mapping.error_bound_ns(), clock.samples.size()}, out.clock.domains);
  }
  for (const auto& [key, json] : batch.metadata) out.metadata[key] = json;
  for (const trace::DeviceProperties& device : batch.devices) {
    std::erase_if(out.devices, [&](const trace::DeviceProperties& known) { return known.device == device.device; });
    out.devices.push_back(device);
  }
  const auto add = [&](trace::LossReason reason, std::uint64_t count, std::string detail) {
    if (count > 0) out.losses.push_back({reason, count, std::string(source_name), std::move(detail)});
  };
  add(trace::LossReason::kDeviceDropped, batch.dropped, batch.dropped_detail);
  add(trace::LossReason::kOverwritten, batch.overwritten + left_out, "older than what was asked to be kept");
  add(trace::LossReason::kNoDeviceRecord, matching.launches_without_work(), "launches whose device record never came");
  add(trace::LossReason::kNoLaunch, matching.work_without_call(), "device records whose launch was not seen");
}

void add_device_batch(const DeviceBatch& batch, std::string_view source_name, TickMapping& session, std::uint64_t window_start, IdMaps& ids,
                      trace::Recording& out, std::vector<trace::TrackId>& track_of_event) {
  LaunchMatching matching;
  const std::size_t left_out = add_device_records(batch, session, window_start, ids, out, track_of_event, matching) +
                               add_counters(batch, session, window_start, out) + add_thread_samples(batch, session, window_start, ids, out);
  add_source_facts(batch, source_name, session, matching, left_out, out);
}

}  // namespace mindtorch::record
