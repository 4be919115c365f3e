// DataFlow: one pass over the events and reports of each thread collects what calls touched, then calls are put in order of time and
// versions are counted.
#include "mindtorch/analyze/data_flow.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>

#include "mindtorch/analyze/mutable_arguments.h"
#include "mindtorch/analyze/tensor_ids.h"
#include "mindtorch/analyze/tensor_memory.h"

namespace mindtorch::analyze {

using trace::EventKind;
using trace::MemoryCategory;

class FlowReader {
 public:
  FlowReader(const Analysis& analysis, DataFlow& flow)
      : analysis_(analysis), recording_(analysis.recording()), ids_(recording_), tensors_(recording_, ids_), flow_(flow) {}

  void read() {
    std::vector<std::vector<std::size_t>> reports(recording_.tracks.size());
    for (std::size_t r = 0; r < recording_.memory.size(); ++r) reports[recording_.memory.track[r]].push_back(r);
    for (std::size_t t = 0; t < recording_.tracks.size(); ++t) read_track(recording_.tracks[t], reports[t]);
    for (const UnreportedRelease& release : ids_.unreported_releases())
      flow_.allocations_[static_cast<std::size_t>(release.allocation)].freed_ns = release.before_ns;
    std::ranges::stable_sort(flow_.calls_, {}, &FlowCall::start_ns);
    for (FlowCall& call : flow_.calls_) make_edges(call);
    for (FlowAllocation& allocation : flow_.allocations_) {
      allocation.first_slot = flow_.slots_;
      flow_.slots_ += allocation.last_version + 1;
    }
  }

 private:
  // Unclear: an autograd node, or an op without a schema, took it.
  enum class Touch : std::uint8_t { kTaken, kUnclear, kWritten, kMade, kFreed };
  struct Touched {
    std::uint32_t allocation;
    Touch touch;
  };

  void read_track(const trace::Track& track, const std::vector<std::size_t>& reports) {
    call_end_ns_ = std::numeric_limits<std::int64_t>::min();
    track_begin_ = track.first_event;
    EventIndex next = track.first_event;
    const EventIndex end = track.first_event + track.event_count;
    for (const std::size_t report : reports) {
      while (next < end && recording_.events.start_ns[next] <= recording_.memory.time_ns[report]) add_event(next++);
      add_report(report);
    }
    while (next < end) add_event(next++);
  }

  FlowAllocation& allocation_of(const TensorNumbers& numbers, trace::Device device) {
    const auto number = static_cast<std::size_t>(numbers.allocation);
    if (number >= flow_.allocations_.size()) flow_.allocations_.resize(number + 1);
    flow_.allocations_[number].tensor = numbers.tensor;
    flow_.allocations_[number].device = device;
    return flow_.allocations_[number];
  }

  // The edges of a call are first counted as touches.
  void open_call(std::int64_t start_ns, bool is_backward) { flow_.calls_.push_back({start_ns, is_backward, touched_.size(), 0}); }
  void touch(const TensorNumbers& numbers, Touch touch) {
    if (numbers.tensor < 0) return;  // what holds no tensor takes no part
    touched_.push_back({static_cast<std::uint32_t>(numbers.allocation), touch});
    ++flow_.calls_.back().edge_count;
  }

  void add_event(EventIndex event) {
    const EventKind kind = recording_.events.kind[event];
    const bool has_row = tensors_.read(event);
    for (const SeenTensor& seen : tensors_.tensors()) {
      FlowAllocation& allocation = allocation_of(seen.numbers, seen.device);
      if (!is_reported(allocation)) allocation.bytes = std::max(allocation.bytes, seen.bytes);
      if (seen.owned_as != MemoryCategory::kUnknown) own(seen, seen.owned_as);
    }
    if ((kind != EventKind::kOp && kind != EventKind::kBackward) || (recording_.events.flags[event] & trace::kAsync) != 0) return;
    const std::string_view name = recording_.name(event);
    // torch finds no schema for a call that takes a tensor without storage: what it calls are calls of their own.
    const bool has_schema = kind == EventKind::kOp && has_row && !tensors_.has_tensor_without_storage() && is_schema_name(name);
    if (recording_.events.start_ns[event] >= call_end_ns_) {
      const bool is_backward = kind == EventKind::kBackward && !name.starts_with("autograd::engine::evaluate_function");
      if (!is_backward && !has_schema) return;
      open_call(recording_.events.start_ns[event], is_backward);
      call_end_ns_ = recording_.events.end_ns(event);
    }
    touch_arguments(event, has_schema);
    find_kept_gradient(event);
  }

  void touch_arguments(EventIndex event, bool has_schema) {
    const OpCall call{recording_.name(event), has_schema ? analysis_.overload_name(event) : std::string_view(), tensors_.arguments()};
    for (const SeenTensor& seen : tensors_.tensors())
      touch(seen.numbers, !has_schema ? Touch::kUnclear : writes_argument(call, seen.argument) ? Touch::kWritten : Touch::kTaken);
  }

  // Autograd keeps a first gradient by detaching it, and adds others to it: then that op is the first in its node.
  void find_kept_gradient(EventIndex event) {
    if (event == track_begin_ || recording_.events.kind[event - 1] != EventKind::kBackward || tensors_.tensors().empty()) return;
    const std::string_view name = recording_.name(event);
    if (name != "aten::detach" && name != "aten::add_") return;
    if (recording_.name(event - 1) != "torch::autograd::AccumulateGrad") return;
    if (recording_.events.start_ns[event] >= recording_.events.end_ns(event - 1)) return;
    const SeenTensor& first = tensors_.tensors().front();
    if (first.argument == 0) own(first, MemoryCategory::kGradient);
  }

  void own(const SeenTensor& seen, MemoryCategory category) {
    if (seen.numbers.tensor < 0) return;
    flow_.owned_.push_back({static_cast<std::uint32_t>(seen.numbers.allocation), category});
    flow_.allocations_[static_cast<std::size_t>(seen.numbers.allocation)].is_used = true;
  }

  void add_report(std::size_t report) {
    const std::int64_t time = recording_.memory.time_ns[report], bytes = recording_.memory.bytes[report];
    if (bytes == 0) return;
    const TensorNumbers numbers = ids_.of_report(report);
    FlowAllocation& allocation = allocation_of(numbers, recording_.memory.device[report]);
    (bytes > 0 ? allocation.made_ns : allocation.freed_ns) = time;
    allocation.bytes = std::abs(bytes);
    if (time >= call_end_ns_) open_call(time, false);
    touch(numbers, bytes > 0 ? Touch::kMade : Touch::kFreed);
  }

  static bool is_reported(const FlowAllocation& allocation) { return allocation.made_ns || allocation.freed_ns; }

  void make_edges(FlowCall& call) {
    const auto touched = std::span(touched_).subspan(call.first_edge, call.edge_count);
    std::ranges::sort(touched, {}, &Touched::allocation);
    call.first_edge = flow_.edges_.size();
    for (std::size_t i = 0; i < touched.size();) {
      const std::uint32_t number = touched[i].allocation;
      std::array<bool, 5> was{};
      for (; i < touched.size() && touched[i].allocation == number; ++i) was[static_cast<std::size_t>(touched[i].touch)] = true;
      const auto has = [&](Touch t) { return was[static_cast<std::size_t>(t)]; };
      FlowAllocation& allocation = flow_.allocations_[number];
      allocation.is_used = true;
      // What no schema tells about is taken to be written.
      const bool is_written = !has(Touch::kFreed) && (has(Touch::kWritten) || (has(Touch::kUnclear) && !has(Touch::kTaken)));
      flow_.edges_.push_back({number, allocation.last_version, has(Touch::kMade), is_written, has(Touch::kFreed)});
      if (is_written && !has(Touch::kMade)) ++allocation.last_version;
    }
    call.edge_count = flow_.edges_.size() - call.first_edge;
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  const TensorIds ids_;
  TensorReader tensors_;
  DataFlow& flow_;
  std::vector<Touched> touched_;
  EventIndex track_begin_ = 0;
  std::int64_t call_end_ns_ = 0;  // of the call that is open
};

DataFlow::DataFlow(const Analysis& analysis) { FlowReader(analysis, *this).read(); }

bool DataFlow::has_tensors() const {
  return std::ranges::any_of(allocations_, [](const FlowAllocation& allocation) { return allocation.tensor >= 0; });
}

}  // namespace mindtorch::analyze
