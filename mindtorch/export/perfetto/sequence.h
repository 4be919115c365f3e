// One packet sequence of a Perfetto trace: the events of one row, each text written once, times as differences to the packet before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/export/output.h"

namespace mindtorch::exporter::perfetto {

// Appends one packet, given the encoded fields of TracePacket.
void append_packet(Output& out, std::string_view fields);

// The texts of one kind that a sequence has already defined.
class Interned {
 public:
  // True the first time an id is seen.
  bool add(std::uint64_t id) {
    if (id >= seen_.size()) seen_.resize(id + id / 2 + 64);
    const bool is_new = !seen_[id];
    seen_[id] = true;
    return is_new;
  }

 private:
  std::vector<bool> seen_;
};

class Sequence {
 public:
  // `id` is unique in the file and not 0. All events lie on the track `track_uuid`; `zero_ns` is the Unix time of timeline zero.
  Sequence(Output& out, std::uint32_t id, std::uint64_t track_uuid, std::int64_t zero_ns);

  // An event is begin_event(), then what it has, then end_event(). Times must not decrease.
  void begin_event(std::uint32_t type);
  void set_name(std::uint64_t id, std::string_view text);
  void set_category(std::uint64_t id, std::string_view text);
  void set_counter(std::int64_t value);
  void set_counter(double value);
  void add_flow(std::uint64_t id);
  void add_terminating_flow(std::uint64_t id);
  // Keys are interned by their id.
  void annotate(std::uint64_t key_id, std::string_view key, std::int64_t value);
  void annotate(std::uint64_t key_id, std::string_view key, double value);
  void annotate(std::uint64_t key_id, std::string_view key, bool value);
  void annotate(std::uint64_t key_id, std::string_view key, std::string_view text);
  // A text that the caller has numbered is interned whatever its length.
  void annotate_numbered(std::uint64_t key_id, std::string_view key, std::uint64_t number, std::string_view text);
  void end_event(std::int64_t time_ns);

 private:
  void define(std::uint32_t field, std::uint64_t id, std::string_view text);
  // Opens an annotation in `annotation_` with its key.
  void begin_annotation(std::uint64_t key_id, std::string_view key);
  void end_annotation();

  Output& out_;
  std::uint32_t id_;
  std::int64_t last_ns_ = 0;
  Interned names_, categories_, keys_, numbered_;
  std::unordered_map<std::string, std::uint64_t> texts_;  // even ids; numbered texts have odd ones
  std::string event_, interned_, annotation_, packet_;
};

}  // namespace mindtorch::exporter::perfetto
