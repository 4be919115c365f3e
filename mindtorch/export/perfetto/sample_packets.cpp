// Texts, frames and callstacks are interned when a sample needs them first.
#include "mindtorch/export/perfetto/sample_packets.h"

#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/frame_labels.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/looks.h"
#include "mindtorch/export/perfetto/fields.h"
#include "mindtorch/export/perfetto/sequence.h"

namespace mindtorch::exporter::perfetto {
namespace {

using protozero::pbf_writer;
using trace::ThreadState;

constexpr std::uint64_t kPython = 1;  // the only mapping, and its path

class SampleSequence {
 public:
  SampleSequence(Output& out, std::uint32_t id, const trace::Recording& recording) : out_(out), id_(id), recording_(recording) {
    pbf_writer packet(packet_);
    packet.add_uint32(trace_packet::kSequenceId, id_);
    packet.add_uint32(trace_packet::kSequenceFlags, trace_packet::kStateCleared);
    pbf_writer interned(packet, trace_packet::kInternedData);
    add_text(interned, interned_data::kMappingPaths, kPython, "Python");
    pbf_writer mapping(interned, interned_data::kMappings);
    mapping.add_uint64(interned_data::kId, kPython);
    mapping.add_uint64(mapping_fields::kPathIds, kPython);
  }

  void begin() { append_packet(out_, packet_); }

  void add(const Look& look, std::int64_t pid, std::int64_t tid) {
    const std::uint64_t stack = callstack(look);
    packet_.clear();
    {
      pbf_writer packet(packet_);
      packet.add_uint32(trace_packet::kSequenceId, id_);
      packet.add_uint32(trace_packet::kSequenceFlags, trace_packet::kNeedsState);
      packet.add_uint64(trace_packet::kTimestamp, static_cast<std::uint64_t>(recording_.clock.base_unix_ns + look.time_ns));
      if (!interned_.empty()) packet.add_message(trace_packet::kInternedData, interned_);
      pbf_writer sample(packet, trace_packet::kPerfSample);
      sample.add_uint32(perf_sample::kCpu, 0);
      sample.add_uint32(perf_sample::kPid, static_cast<std::uint32_t>(pid));
      sample.add_uint32(perf_sample::kTid, static_cast<std::uint32_t>(tid));
      sample.add_uint64(perf_sample::kCallstackId, stack);
      sample.add_enum(perf_sample::kCpuMode, perf_sample::kUserMode);
    }
    append_packet(out_, packet_);
  }

 private:
  static void add_text(pbf_writer& into, Field field, std::uint64_t id, std::string_view text) {
    pbf_writer entry(into, field);
    entry.add_uint64(interned_data::kId, id);
    entry.add_bytes(interned_data::kText, valid_utf8(text));
  }

  // Leaves in `interned_` what the packet has to define.
  std::uint64_t callstack(const Look& look) {
    interned_.clear();
    const std::uint64_t id = std::uint64_t{look.stack} * trace::kThreadStates + static_cast<std::uint64_t>(look.state) + 1;
    if (!callstacks_.add(id)) return id;
    pbf_writer interned(interned_);
    const std::span<const std::uint32_t> frames = recording_.stacks.frames_of(look.stack);
    std::vector<std::uint64_t> frame_ids;  // the outermost call first
    for (std::size_t k = frames.size(); k-- > 0;) frame_ids.push_back(frame(interned, frames[k]));
    if (!state_frame(look.state).empty()) frame_ids.push_back(state(interned, look.state));
    pbf_writer fields(interned, interned_data::kCallstacks);
    fields.add_uint64(interned_data::kId, id);
    for (const std::uint64_t frame_id : frame_ids) fields.add_uint64(callstack_fields::kFrameIds, frame_id);
    return id;
  }

  std::uint64_t frame(pbf_writer& interned, std::uint32_t number) {
    const std::uint64_t id = kFirstFrame + number;
    const trace::Frame& frame = recording_.stacks.frames[number];
    if (frames_.add(id)) {
      const std::uint64_t path = std::uint64_t{frame.file} + 1;
      if (paths_.add(path)) add_text(interned, interned_data::kSourcePaths, path, recording_.names[frame.file]);
      add_frame(interned, id, analyze::frame_label(recording_, frame), path, frame.line);
    }
    return id;
  }

  std::uint64_t state(pbf_writer& interned, ThreadState state) {
    const std::uint64_t id = static_cast<std::uint64_t>(state) + 1;
    if (frames_.add(id)) add_frame(interned, id, state_frame(state), 0, 0);
    return id;
  }

  static void add_frame(pbf_writer& interned, std::uint64_t id, std::string_view function, std::uint64_t path, std::int32_t line) {
    add_text(interned, interned_data::kFunctionNames, id, function);
    pbf_writer fields(interned, interned_data::kFrames);
    fields.add_uint64(interned_data::kId, id);
    fields.add_uint64(frame_fields::kFunctionId, id);
    fields.add_uint64(frame_fields::kMappingId, kPython);
    if (path != 0) fields.add_uint64(frame_fields::kSourcePathId, path);
    if (line > 0) fields.add_uint32(frame_fields::kLine, static_cast<std::uint32_t>(line));
  }

  static constexpr std::uint64_t kFirstFrame = trace::kThreadStates + 1;  // those of states come before

  Output& out_;
  const std::uint32_t id_;
  const trace::Recording& recording_;
  Interned callstacks_, frames_, paths_;
  std::string packet_, interned_;
};

}  // namespace

void append_samples(Output& out, std::uint32_t sequence_id, const trace::Recording& recording, const Layout& layout) {
  if (recording.samples.size() == 0) return;
  SampleSequence sequence(out, sequence_id, recording);
  sequence.begin();
  const std::vector<std::vector<Look>> looks = looks_of(recording);
  for (trace::TrackId track = 0; track < looks.size(); ++track) {
    const Row& row = layout.rows[track];
    for (const Look& look : looks[track]) sequence.add(look, layout.processes[row.process].pid, row.tid);
  }
}

}  // namespace mindtorch::exporter::perfetto
