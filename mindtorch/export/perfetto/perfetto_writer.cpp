// Puts a Perfetto trace together: clocks, tracks, one packet sequence per row, counters, and one event about the recording itself.
#include "mindtorch/export/perfetto/perfetto_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "mindtorch/export/flows.h"
#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/perfetto/event_packets.h"
#include "mindtorch/export/perfetto/fields.h"
#include "mindtorch/export/perfetto/sample_packets.h"
#include "mindtorch/export/perfetto/sequence.h"
#include "mindtorch/export/perfetto/tracks.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::exporter {
namespace perfetto {
namespace {

// Perfetto's timeline is BOOTTIME. We write Unix time as BOOTTIME, so that traces of many hosts are aligned by their wall clocks.
void append_clocks(Output& out, std::int64_t zero_ns) {
  std::string fields;
  {
    protozero::pbf_writer packet(fields);
    protozero::pbf_writer snapshot(packet, trace_packet::kClockSnapshot);
    for (const std::uint32_t clock : {clock_snapshot::kBoottime, clock_snapshot::kRealtime}) {
      protozero::pbf_writer entry(snapshot, clock_snapshot::kClocks);
      entry.add_uint32(clock_snapshot::kClockId, clock);
      entry.add_uint64(clock_snapshot::kTimestamp, static_cast<std::uint64_t>(zero_ns));
    }
  }
  append_packet(out, fields);
}

// Time that no event precedes; packets count from it.
std::int64_t first_time_ns(const trace::Recording& recording) {
  std::int64_t first = recording.clock.start_ns;
  for (const trace::Track& track : recording.tracks) {
    if (track.event_count > 0) first = std::min(first, recording.events.start_ns[track.first_event]);
  }
  for (const trace::CounterTrack& counter : recording.counters)
    if (counter.size() > 0) first = std::min(first, counter.times_ns[0]);
  return recording.memory.size() > 0 ? std::min(first, recording.memory.time_ns[0]) : first;
}

// What was asked for, what was lost and how good the clocks are, as one moment at the start.
void append_about(const trace::Recording& recording, Sequence sequence, std::int64_t zero_ns) {
  std::uint64_t key = 0;
  const auto annotate = [&](const std::string& name, std::string_view text) { sequence.annotate(++key, name, text); };
  sequence.begin_event(track_event::kInstant);
  sequence.set_name(1, "recording");
  annotate("trace_id", recording.trace_id);
  for (const auto& [name, json] : recording.metadata) annotate(name, json);
  for (const trace::Loss& loss : recording.losses) {
    annotate(fmt::format("lost ({})", trace::loss_reason_name(loss.reason)), fmt::format("{} {} {}", loss.count, loss.where, loss.detail));
  }
  for (const trace::ClockDomain& clock : recording.clock.domains) {
    annotate("clock " + clock.name, fmt::format("error at most {} ns, {} samples", clock.error_bound_ns, clock.samples));
  }
  sequence.end_event(recording.clock.start_ns - zero_ns);
}

}  // namespace
}  // namespace perfetto

void write_perfetto_trace(const trace::Recording& recording, const std::string& path) {
  using namespace perfetto;
  Output out(path);
  const Layout layout = make_layout(recording);
  const Uuids uuids(recording);
  const std::int64_t first = first_time_ns(recording);
  const std::int64_t zero = recording.clock.base_unix_ns + first;
  append_clocks(out, zero);
  append_track_descriptors(out, recording, layout, uuids);
  std::uint32_t sequence_id = 0;
  const auto sequence_of = [&](std::uint64_t uuid) { return Sequence(out, ++sequence_id, uuid, zero); };
  if (!layout.processes.empty()) append_about(recording, sequence_of(uuids(Uuids::Of::kProcess, 0)), first);
  const analyze::Analysis analysis(recording);
  EventPackets events(analysis, layout, uuids, first);
  for (std::uint32_t r = 0; r < layout.rows.size(); ++r) {
    Sequence sequence = sequence_of(uuids(Uuids::Of::kRow, r));
    events.append_row(sequence, r);
  }
  const std::vector<trace::Device> devices = counted_devices(recording);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    Sequence allocated = sequence_of(uuids(Uuids::Of::kAllocated, d));
    events.append_counter(allocated, devices[d], recording.memory.total_allocated);
    Sequence reserved = sequence_of(uuids(Uuids::Of::kReserved, d));
    events.append_counter(reserved, devices[d], recording.memory.total_reserved);
  }
  for (std::size_t c = 0; c < recording.counters.size(); ++c) {
    Sequence sequence = sequence_of(uuids(Uuids::Of::kCounter, c));
    events.append_counter(sequence, recording.counters[c]);
  }
  append_samples(out, ++sequence_id, recording, layout);
  out.commit();
}

}  // namespace mindtorch::exporter
