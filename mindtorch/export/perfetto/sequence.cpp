// Encodes packets with protozero.
#include "mindtorch/export/perfetto/sequence.h"

#include <cstring>
#include <protozero/pbf_writer.hpp>

#include "mindtorch/base/text.h"
#include "mindtorch/export/perfetto/fields.h"

namespace mindtorch::exporter::perfetto {
namespace {

using protozero::pbf_writer;

constexpr std::size_t kLongestInternedText = 512;  // longer ones seldom come twice

void add_clock(pbf_writer& snapshot, std::uint32_t clock, std::uint64_t timestamp, bool incremental = false) {
  pbf_writer fields(snapshot, clock_snapshot::kClocks);
  fields.add_uint32(clock_snapshot::kClockId, clock);
  fields.add_uint64(clock_snapshot::kTimestamp, timestamp);
  if (incremental) fields.add_bool(clock_snapshot::kIsIncremental, true);
}

}  // namespace

void append_packet(Output& out, std::string_view fields) {
  constexpr char kTag = trace_file::kPacket << 3 | static_cast<char>(protozero::pbf_wire_type::length_delimited);
  char* at = out.reserve(1 + protozero::max_varint_length + fields.size());
  *at++ = kTag;
  at += protozero::add_varint_to_buffer(at, fields.size());
  std::memcpy(at, fields.data(), fields.size());
  out.advance(at + fields.size());
}

Sequence::Sequence(Output& out, std::uint32_t id, std::uint64_t track_uuid, std::int64_t zero_ns) : out_(out), id_(id) {
  pbf_writer packet(packet_);
  packet.add_uint32(trace_packet::kSequenceId, id_);
  packet.add_uint32(trace_packet::kSequenceFlags, trace_packet::kStateCleared | trace_packet::kNeedsState);
  {
    pbf_writer snapshot(packet, trace_packet::kClockSnapshot);
    add_clock(snapshot, clock_snapshot::kBoottime, static_cast<std::uint64_t>(zero_ns));
    add_clock(snapshot, clock_snapshot::kSequenceClock, 0, true);
  }
  {
    pbf_writer defaults(packet, trace_packet::kDefaults);
    defaults.add_uint32(packet_defaults::kTimestampClockId, clock_snapshot::kSequenceClock);
    pbf_writer events(defaults, packet_defaults::kTrackEventDefaults);
    events.add_uint64(track_event::kTrackUuid, track_uuid);
  }
  append_packet(out_, packet_);
}

void Sequence::begin_event(std::uint32_t type) {
  event_.clear();
  interned_.clear();
  pbf_writer(event_).add_uint32(track_event::kType, type);
}

void Sequence::set_name(std::uint64_t id, std::string_view text) {
  if (names_.add(id)) define(interned_data::kEventNames, id, text);
  pbf_writer(event_).add_uint64(track_event::kNameId, id);
}

void Sequence::set_category(std::uint64_t id, std::string_view text) {
  if (categories_.add(id)) define(interned_data::kCategories, id, text);
  pbf_writer(event_).add_uint64(track_event::kCategoryIds, id);
}

void Sequence::set_counter(std::int64_t value) { pbf_writer(event_).add_int64(track_event::kCounterValue, value); }
void Sequence::set_counter(double value) { pbf_writer(event_).add_double(track_event::kDoubleCounterValue, value); }
void Sequence::add_flow(std::uint64_t id) { pbf_writer(event_).add_fixed64(track_event::kFlowIds, id); }
void Sequence::add_terminating_flow(std::uint64_t id) { pbf_writer(event_).add_fixed64(track_event::kTerminatingFlowIds, id); }

void Sequence::annotate(std::uint64_t key_id, std::string_view key, std::int64_t value) {
  begin_annotation(key_id, key);
  pbf_writer(annotation_).add_int64(debug_annotation::kInt, value);
  end_annotation();
}

void Sequence::annotate(std::uint64_t key_id, std::string_view key, double value) {
  begin_annotation(key_id, key);
  pbf_writer(annotation_).add_double(debug_annotation::kDouble, value);
  end_annotation();
}

void Sequence::annotate(std::uint64_t key_id, std::string_view key, bool value) {
  begin_annotation(key_id, key);
  pbf_writer(annotation_).add_bool(debug_annotation::kBool, value);
  end_annotation();
}

void Sequence::annotate(std::uint64_t key_id, std::string_view key, std::string_view text) {
  begin_annotation(key_id, key);
  if (text.size() > kLongestInternedText) {
    pbf_writer(annotation_).add_string(debug_annotation::kString, valid_utf8(text));
  } else {
    const auto [at, is_new] = texts_.try_emplace(std::string(text), 2 * texts_.size() + 2);
    if (is_new) define(interned_data::kAnnotationStrings, at->second, text);
    pbf_writer(annotation_).add_uint64(debug_annotation::kStringId, at->second);
  }
  end_annotation();
}

void Sequence::annotate_numbered(std::uint64_t key_id, std::string_view key, std::uint64_t number, std::string_view text) {
  begin_annotation(key_id, key);
  const std::uint64_t id = 2 * number + 1;
  if (numbered_.add(number)) define(interned_data::kAnnotationStrings, id, text);
  pbf_writer(annotation_).add_uint64(debug_annotation::kStringId, id);
  end_annotation();
}

void Sequence::end_event(std::int64_t time_ns) {
  packet_.clear();
  pbf_writer packet(packet_);
  packet.add_uint64(trace_packet::kTimestamp, static_cast<std::uint64_t>(time_ns - last_ns_));
  packet.add_uint32(trace_packet::kSequenceId, id_);
  packet.add_uint32(trace_packet::kSequenceFlags, trace_packet::kNeedsState);
  if (!interned_.empty()) packet.add_message(trace_packet::kInternedData, interned_);
  packet.add_message(trace_packet::kTrackEvent, event_);
  last_ns_ = time_ns;
  append_packet(out_, packet_);
}

void Sequence::define(std::uint32_t field, std::uint64_t id, std::string_view text) {
  pbf_writer data(interned_);
  pbf_writer entry(data, field);
  entry.add_uint64(interned_data::kId, id);
  entry.add_string(interned_data::kText, valid_utf8(text));
}

void Sequence::begin_annotation(std::uint64_t key_id, std::string_view key) {
  if (keys_.add(key_id)) define(interned_data::kAnnotationNames, key_id, key);
  annotation_.clear();
  pbf_writer(annotation_).add_uint64(debug_annotation::kNameId, key_id);
}

void Sequence::end_annotation() { pbf_writer(event_).add_message(track_event::kDebugAnnotations, annotation_); }

}  // namespace mindtorch::exporter::perfetto
