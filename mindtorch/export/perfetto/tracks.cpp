// Track descriptors.
#include "mindtorch/export/perfetto/tracks.h"

#include <fmt/core.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "mindtorch/base/text.h"
#include "mindtorch/export/perfetto/fields.h"
#include "mindtorch/export/perfetto/sequence.h"

namespace mindtorch::exporter::perfetto {
namespace {

using protozero::pbf_writer;

// SplitMix64's finaliser: spreads numbers that lie close together.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Appends one descriptor whose fields `fill` adds.
template <class Fill>
void append_descriptor(Output& out, std::uint64_t uuid, Fill fill) {
  std::string fields;
  {
    pbf_writer packet(fields);
    pbf_writer descriptor(packet, trace_packet::kTrackDescriptor);
    descriptor.add_uint64(track_descriptor::kUuid, uuid);
    fill(descriptor);
  }
  append_packet(out, fields);
}

// The process a device is shown in: the one whose threads use it, else its own.
std::uint32_t host_process(const Layout& layout, const trace::Recording& recording, std::int64_t pid) {
  for (const Row& row : layout.rows) {
    const trace::Track& track = recording.tracks[row.track];
    if (track.kind == trace::Track::Kind::kThread && track.pid == pid) return row.process;
  }
  return 0;
}

void append_processes(Output& out, const trace::Recording& recording, const Layout& layout, const Uuids& uuids) {
  std::vector<std::int64_t> pid_of_device(layout.processes.size());
  for (const Row& row : layout.rows) pid_of_device[row.process] = recording.tracks[row.track].pid;
  for (std::uint32_t p = 0; p < layout.processes.size(); ++p) {
    const Process& process = layout.processes[p];
    append_descriptor(out, uuids(Uuids::Of::kProcess, p), [&](pbf_writer& descriptor) {
      const std::uint32_t host = host_process(layout, recording, pid_of_device[p]);
      if (process.is_device && host != p) {
        descriptor.add_string(track_descriptor::kName, process.name);
        descriptor.add_uint64(track_descriptor::kParentUuid, uuids(Uuids::Of::kProcess, host));
        descriptor.add_enum(track_descriptor::kChildOrdering, track_descriptor::kExplicitOrder);
      } else {
        pbf_writer fields(descriptor, track_descriptor::kProcess);
        fields.add_int32(track_descriptor::kProcessPid, static_cast<std::int32_t>(process.pid));
        fields.add_string(track_descriptor::kProcessName, process.name);
      }
    });
  }
}

void append_row(Output& out, const trace::Recording& recording, const Layout& layout, const Uuids& uuids, std::uint32_t r) {
  const Row& row = layout.rows[r];
  const trace::Track& track = recording.tracks[row.track];
  append_descriptor(out, uuids(Uuids::Of::kRow, r), [&](pbf_writer& descriptor) {
    if (track.kind == trace::Track::Kind::kThread && row.lane == 0) {
      pbf_writer fields(descriptor, track_descriptor::kThread);
      fields.add_int32(track_descriptor::kThreadPid, static_cast<std::int32_t>(layout.processes[row.process].pid));
      fields.add_int64(track_descriptor::kThreadTid, row.tid);
      fields.add_string(track_descriptor::kThreadName, valid_utf8(track.name.empty() ? row.name : track.name));
      return;
    }
    const bool of_thread = track.kind == trace::Track::Kind::kThread;
    descriptor.add_string(track_descriptor::kName, valid_utf8(row.name));
    descriptor.add_uint64(track_descriptor::kParentUuid,
                          of_thread ? uuids(Uuids::Of::kRow, row.track) : uuids(Uuids::Of::kProcess, row.process));
    descriptor.add_int32(track_descriptor::kSiblingOrderRank, static_cast<std::int32_t>(row.track * 64 + std::min(row.lane, 63U)));
    descriptor.add_enum(track_descriptor::kSiblingMergeBehavior, track_descriptor::kNeverMerge);
  });
}

void append_measured_counters(Output& out, const trace::Recording& recording, const Layout& layout, const Uuids& uuids) {
  for (std::size_t c = 0; c < recording.counters.size(); ++c) {
    const trace::CounterTrack& counter = recording.counters[c];
    append_descriptor(out, uuids(Uuids::Of::kCounter, c), [&](pbf_writer& descriptor) {
      const auto process = static_cast<std::uint64_t>(&layout.process_of(counter.device) - layout.processes.data());
      descriptor.add_string(track_descriptor::kName, valid_utf8(counter.name));
      descriptor.add_uint64(track_descriptor::kParentUuid, uuids(Uuids::Of::kProcess, process));
      pbf_writer fields(descriptor, track_descriptor::kCounter);
      fields.add_string(track_descriptor::kCounterUnitName, valid_utf8(counter.unit));
    });
  }
}

void append_memory_counters(Output& out, const trace::Recording& recording, const Uuids& uuids) {
  const std::vector<trace::Device> devices = counted_devices(recording);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& [of, what] : {std::pair(Uuids::Of::kAllocated, "allocated"), std::pair(Uuids::Of::kReserved, "reserved")}) {
      append_descriptor(out, uuids(of, d), [&, what = what](pbf_writer& descriptor) {
        const std::string_view type = trace::device_type_name(devices[d].type);
        const bool cpu = devices[d].type == trace::DeviceType::kCpu;
        descriptor.add_string(track_descriptor::kName,
                              cpu ? fmt::format("{} memory {}", type, what) : fmt::format("{} {} memory {}", type, devices[d].index, what));
        descriptor.add_uint64(track_descriptor::kParentUuid, uuids(Uuids::Of::kProcess, 0));
        pbf_writer fields(descriptor, track_descriptor::kCounter);
        fields.add_enum(track_descriptor::kCounterUnit, track_descriptor::kUnitBytes);
      });
    }
  }
}

}  // namespace

Uuids::Uuids(const trace::Recording& recording)
    : seed_(mix(std::hash<std::string>{}(recording.trace_id) ^ static_cast<std::uint64_t>(recording.clock.base_unix_ns))) {}

std::uint64_t Uuids::operator()(Of what, std::uint64_t number) const {
  return mix(seed_ + mix(number * 8 + static_cast<std::uint64_t>(what) + 1)) | 1;  // 0 is not a track
}

std::vector<trace::Device> counted_devices(const trace::Recording& recording) {
  std::vector<trace::Device> devices(recording.memory.device.begin(), recording.memory.device.end());
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

void append_track_descriptors(Output& out, const trace::Recording& recording, const Layout& layout, const Uuids& uuids) {
  append_processes(out, recording, layout, uuids);
  for (std::uint32_t r = 0; r < layout.rows.size(); ++r) append_row(out, recording, layout, uuids, r);
  append_memory_counters(out, recording, uuids);
  append_measured_counters(out, recording, layout, uuids);
}

}  // namespace mindtorch::exporter::perfetto
