// RecordingBuilder: makes a Recording by hand or from a file of another tool. Events come in any order; finish() groups, sorts and checks.
// Wrong arguments (a track, event or name that does not exist, a negative duration) throw InvalidArgument. Not thread safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/interning.h"
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

class MINDTORCH_EXPORT RecordingBuilder {
 public:
  using DraftId = std::uint32_t;  // order of add_event(); side data refers to it, finish() renumbers

  NameId intern(std::string_view text);
  TrackId add_thread(std::int64_t tid, std::string name = "", std::int64_t pid = 1);
  TrackId add_stream(Device device, std::int64_t stream, std::string name = "", std::int64_t pid = 1);
  DraftId add_event(const EventDraft& draft);
  void reserve(std::size_t events);

  // If an event gets several inputs or stacks, the last one is kept. All attributes are kept.
  void set_inputs(DraftId event, std::span<const Input> inputs);
  void set_stack(DraftId event, std::span<const Frame> innermost_first);
  void add_attribute(DraftId event, std::string_view key, std::int64_t value);
  void add_attribute(DraftId event, std::string_view key, double value);
  void add_attribute(DraftId event, std::string_view key, std::string_view text);
  void add_attribute(DraftId event, const Attribute& attribute);

  void add_memory(std::int64_t time_ns, TrackId track, Device device, std::uint64_t address, std::int64_t bytes,
                  std::int64_t total_allocated, std::int64_t total_reserved);
  // `innermost_first` is empty for a thread that ran no Python.
  void add_sample(std::int64_t time_ns, std::int64_t duration_ns, TrackId track, std::span<const Frame> innermost_first, ThreadState state);
  void add_step(std::int64_t time_ns, std::int64_t step);

  // All other data is set on the Recording itself.
  Recording& recording() { return recording_; }

  // Groups, sorts and checks the invariants; the builder is empty afterwards. If `new_index` is given it receives the EventIndex of each
  // DraftId.
  Recording finish(std::vector<EventIndex>* new_index = nullptr);

 private:
  void require(DraftId event, std::string_view where) const;

  Recording recording_;  // until finish(), events and side tables lie in the order they came and are numbered by DraftId
  std::vector<TrackId> track_of_draft_;
  std::uint32_t threads_ = 0;  // among the tracks
  NameInterner names_;
  StackInterner stacks_;
};

}  // namespace mindtorch::trace
