// RecordingBuilder: makes a Recording by hand or from a file of another tool. Events come in any order; finish() groups, sorts and checks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

struct EventDraft {
  std::string_view name;
  EventKind kind = EventKind::kOp;
  TrackId track = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t link = 0;
  Device device = {};
  std::uint8_t flags = 0;
};

class RecordingBuilder {
 public:
  using DraftId = std::uint32_t;  // order of add_event(); side data refers to it, finish() renumbers

  NameId intern(std::string_view text);
  TrackId add_thread(std::int64_t tid, std::string name = "", std::int64_t pid = 1);
  TrackId add_stream(Device device, std::int64_t stream, std::string name = "", std::int64_t pid = 1);
  DraftId add_event(const EventDraft& draft);
  void reserve(std::size_t events);

  void set_inputs(DraftId event, std::span<const Input> inputs);
  void set_stack(DraftId event, std::span<const Frame> innermost_first);
  void add_attribute(DraftId event, std::string_view key, std::int64_t value);
  void add_attribute(DraftId event, std::string_view key, double value);
  void add_attribute(DraftId event, std::string_view key, std::string_view text);
  void add_attribute(DraftId event, const Attribute& attribute);

  void add_memory(std::int64_t time_ns, TrackId track, Device device, std::uint64_t address, std::int64_t bytes, std::int64_t total_allocated,
                  std::int64_t total_reserved);
  void add_step(std::int64_t time_ns, std::int64_t step);

  // Everything else is set on the Recording itself.
  Recording& recording() { return recording_; }

  // Groups and sorts; the builder is empty afterwards. If `new_index` is given it receives the EventIndex of each DraftId.
  Recording finish(std::vector<EventIndex>* new_index = nullptr);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct StackHash {
    std::size_t operator()(const std::vector<std::uint32_t>& frames) const;
  };
  Recording recording_;
  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> name_ids_;
  std::vector<TrackId> track_of_draft_;
  std::vector<std::pair<DraftId, std::vector<std::int64_t>>> inputs_;
  std::vector<std::pair<DraftId, Attribute>> attributes_;
  std::vector<std::pair<DraftId, StackId>> stacks_;
  std::unordered_map<std::vector<std::uint32_t>, StackId, StackHash> stack_ids_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> frame_ids_;
  struct MemoryDraft {
    std::int64_t time_ns, bytes, total_allocated, total_reserved;
    std::uint64_t address;
    TrackId track;
    Device device;
  };
  std::vector<MemoryDraft> memory_;
};

}  // namespace mindtorch::trace
