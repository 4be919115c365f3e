// StepGraph: what decides how long the steps of a recording take, as nodes that wait for each other.
//
// Threads run their work in the order that was recorded. Work on a device begins after the call that launched it and after the work before
// it on its stream. A call that synchronises, a copy that blocks, a thread that waits for autograd and a loop that waits for the workers of
// a loader go on when that is done. docs/what_if.md describes the method and its limits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/ledger.h"
#include "mindtorch/analyze/report/phases.h"

namespace mindtorch::analyze {

// A change is about classes of time: whoever makes a graph says which class each stretch of time has, and a replay gives each class a
// factor.
using TimeClass = std::uint32_t;

// What a changed program could do beside its steps instead of in them.
enum class Beside : std::uint8_t { kCollectives, kCopies, kLoading };
inline constexpr std::size_t kBesides = 3;

struct HostTime {
  const Segment& segment;
  bool is_between_steps, is_usual, is_glue;
};

struct DeviceTime {
  EventIndex work;
  EventIndex launch;  // the call
  DevicePhase phase;
};

// Each is asked once for each segment and each piece of work.
struct TimeClasses {
  std::function<TimeClass(const HostTime&)> of_host;
  std::function<TimeClass(const DeviceTime&)> of_device;
};

class StepGraph {
 public:
  enum class Kind : std::uint8_t {
    kHost,    // work of a thread, or time in which it is not known to wait for anything that was recorded
    kWait,    // a thread waits for other nodes
    kDevice,  // work on a stream
    kBatch,   // what the workers of a loader need for a batch
  };
  static constexpr std::int32_t kNoNode = -1;

  // Nodes follow those that they wait for. Times are relative to the start of the window.
  struct Node {
    std::int64_t duration_ns = 0;   // kHost: the sum of its terms; kWait: what it takes if nothing has to be waited for
    std::int64_t gap_ns = 0;        // to the node before
    std::int64_t floor_ns = 0;      // the node does not begin (kWait: does not end) before this time
    std::int32_t before = kNoNode;  // on the same thread or stream
    std::uint32_t first_term = 0, term_count = 0;
    std::uint32_t first_edge = 0, edge_count = 0;
    TimeClass time_class = 0;  // of kHost: its terms have classes
    Kind kind = Kind::kHost;
    std::optional<Beside> beside;  // kWait: the call waits for a copy of its own
    bool is_of_main_thread = false;
  };
  struct Term {
    std::int64_t ns;
    TimeClass time_class;
    std::optional<Beside> beside;
  };
  struct Edge {
    std::int64_t lag_ns;  // from the end of the other node
    std::int32_t node;
  };
  // Steps that follow each other without a gap in the recording.
  struct Window {
    std::int32_t first_node = 0, end_node = 0;
    std::int64_t recorded_ns = 0;     // of the main thread, or of the device if that goes on for longer
    std::int64_t device_base_ns = 0;  // when the device was done with what had been launched before
  };

  // O(segments + device work * log). Without nodes, problem() says why.
  StepGraph(const Analysis& analysis, const Phases& phases, const Ledger& ledger, const TimeClasses& classes);

  // Why steps cannot be predicted from this recording; empty if they can.
  const std::string& problem() const { return problem_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Term> terms_of(const Node& node) const { return {terms_.data() + node.first_term, node.term_count}; }
  std::span<const Edge> edges_of(const Node& node) const { return {edges_.data() + node.first_edge, node.edge_count}; }
  std::span<const Window> windows() const { return windows_; }
  std::size_t steps() const { return steps_; }
  bool has(Beside what) const { return has_[static_cast<std::size_t>(what)]; }
  // Of a step, as it was recorded.
  std::int64_t step_ns() const;
  // How long the device idles in a step for a reason that was not recorded.
  std::int64_t unexplained_ns() const { return unexplained_ns_ / static_cast<std::int64_t>(steps_); }

 private:
  class Builder;

  std::vector<Node> nodes_;
  std::vector<Term> terms_;
  std::vector<Edge> edges_;
  std::vector<Window> windows_;
  std::array<bool, kBesides> has_{};
  std::size_t steps_ = 1;
  std::int64_t unexplained_ns_ = 0;
  std::string problem_;
};

}  // namespace mindtorch::analyze
