// Recordings made by hand for the tests of analyze.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {

inline constexpr trace::Device kNpu0{trace::DeviceType::kNpu, 0};

// A builder with one thread (track 0) and, when asked for, one NPU stream.
class Maker {
 public:
  using Id = trace::RecordingBuilder::DraftId;

  Maker() : thread_(builder_.add_thread(100)) {}

  Id op(std::string_view name, std::int64_t start, std::int64_t duration, trace::EventKind kind = trace::EventKind::kOp,
        std::uint64_t link = 0) {
    return add({.name = name, .kind = kind, .track = thread_, .start_ns = start, .duration_ns = duration, .link = link});
  }
  Id step(std::int64_t number, std::int64_t start, std::int64_t duration) {
    return op(trace::step_name(number), start, duration, trace::EventKind::kStep, trace::make_step_link(number));
  }
  Id scope(std::string_view name, std::int64_t start, std::int64_t duration) { return op(name, start, duration, trace::EventKind::kScope); }
  Id launch(std::int64_t start, std::int64_t duration, std::uint64_t correlation) {
    return op("aclrtLaunchKernel", start, duration, trace::EventKind::kRuntime, correlation);
  }
  Id kernel(std::string_view name, std::int64_t start, std::int64_t duration, std::uint64_t correlation,
            trace::EventKind kind = trace::EventKind::kKernel) {
    if (!has_stream_) stream_ = builder_.add_stream(kNpu0, 7);
    has_stream_ = true;
    return add(
        {.name = name, .kind = kind, .track = stream_, .start_ns = start, .duration_ns = duration, .link = correlation, .device = kNpu0});
  }
  Id add(const trace::EventDraft& draft) { return builder_.add_event(draft); }
  void memory(std::int64_t time, std::int64_t bytes, trace::Device device = {}, std::uint64_t address = 0x1000) {
    total_ += bytes;
    builder_.add_memory(time, thread_, device, address, bytes, total_, total_);
  }
  void shapes(Id event, const std::vector<std::vector<std::int64_t>>& tensors) {
    std::vector<trace::Input> inputs;
    for (const auto& sizes : tensors)
      inputs.push_back({.kind = trace::Input::Kind::kTensor, .dtype = trace::ScalarType::kFloat, .sizes = sizes});
    builder_.set_inputs(event, inputs);
  }
  // Frames "file:line:function" innermost first.
  struct Place {
    std::string_view file;
    int line;
    std::string_view function;
  };
  void stack(Id event, const std::vector<Place>& innermost_first) {
    std::vector<trace::Frame> frames;
    for (const Place& place : innermost_first) frames.push_back({builder_.intern(place.file), builder_.intern(place.function), place.line});
    builder_.set_stack(event, frames);
  }

  trace::RecordingBuilder& builder() { return builder_; }
  trace::TrackId thread() const { return thread_; }
  // new_index()[id] is the EventIndex of a draft.
  trace::Recording finish() { return builder_.finish(&new_index_); }
  const std::vector<trace::EventIndex>& new_index() const { return new_index_; }

 private:
  trace::RecordingBuilder builder_;
  trace::TrackId thread_;
  trace::TrackId stream_ = 0;
  bool has_stream_ = false;
  std::int64_t total_ = 0;
  std::vector<trace::EventIndex> new_index_;
};

// Any intervals: ties, zero durations, partial overlaps, several threads, few names so that calls of one name nest. Times are multiples of
// `grain`.
inline trace::Recording random_recording(std::uint32_t seed, int events, int threads = 3, std::int64_t span = 60, std::int64_t grain = 1) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n)); };
  static constexpr std::array<std::string_view, 6> kNames = {"aten::a",       "aten::b",        "c",
                                                             "aten::is_leaf", "ProfilerStep#1", "ProfilerStep#2"};
  trace::RecordingBuilder builder;
  for (int t = 0; t < threads; ++t) builder.add_thread(100 + t);
  for (int i = 0; i < events; ++i) {
    trace::EventDraft draft{.name = kNames[static_cast<std::size_t>(below(kNames.size()))],
                            .track = static_cast<trace::TrackId>(below(threads))};
    draft.kind = static_cast<trace::EventKind>(below(8));
    draft.start_ns = below(span) * grain;
    draft.duration_ns = below(4) == 0 ? 0 : below(span / 2) * grain;
    if (below(12) == 0) draft.flags = trace::kAsync;
    builder.add_event(draft);
  }
  return builder.finish();
}

}  // namespace mindtorch::analyze
