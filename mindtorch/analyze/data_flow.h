// DataFlow: which allocations the calls of a PyTorch program took, wrote, made and freed, as torch's memory profiler has it.
//
// A call is an outermost op that has a schema, or an autograd node, with all that happened in it; an allocation or a release outside of
// them is a call of its own. Each call that writes an allocation which it did not make itself gives it a new version.
// Needs the identities of tensors (trace/tensor_identity.h), and memory reports.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::analyze {

// What a call did to one allocation.
struct FlowEdge {
  std::uint32_t allocation = 0;  // TensorNumbers::allocation
  std::uint32_t version = 0;     // before the call
  bool is_made = false;
  bool is_written = false;  // and not freed
  bool is_freed = false;
  bool is_taken() const { return !is_made; }
  // True if the call leaves a version that was not there before, new_version().
  bool has_new_version() const { return !is_freed && (is_made || is_written); }
  std::uint32_t new_version() const { return is_made ? 0 : version + 1; }
  friend bool operator==(const FlowEdge&, const FlowEdge&) = default;
};

struct FlowCall {
  std::int64_t start_ns = 0;
  bool is_backward = false;  // an autograd node
  std::size_t first_edge = 0;
  std::size_t edge_count = 0;
};

struct FlowAllocation {
  std::int64_t tensor = -1;  // TensorNumbers::tensor
  trace::Device device;
  std::int64_t bytes = 0;                // as reported, or as much of it as was seen
  std::optional<std::int64_t> made_ns;   // unset if it was there before the recording
  std::optional<std::int64_t> freed_ns;  // if no release was reported: when the address was allocated again
  bool is_used = false;                  // by a call, a module or an optimizer
  std::uint32_t last_version = 0;
  std::size_t first_slot = 0;
};

// A tensor of a module or an optimizer, or a gradient that autograd keeps.
struct Ownership {
  std::uint32_t allocation = 0;
  trace::MemoryCategory category = trace::MemoryCategory::kUnknown;
};

class DataFlow {
 public:
  // O(n log n) in the number of events, tensors among arguments and memory reports.
  explicit DataFlow(const Analysis& analysis);

  // False if the recording does not identify tensors.
  bool has_tensors() const;
  const std::vector<FlowCall>& calls() const { return calls_; }  // in order of time
  std::span<const FlowEdge> edges(const FlowCall& call) const { return std::span(edges_).subspan(call.first_edge, call.edge_count); }
  const std::vector<FlowAllocation>& allocations() const { return allocations_; }  // by number; that of 0 is not used
  const std::vector<Ownership>& owned() const { return owned_; }

  // Versions of allocations are numbered in one row: the number of one of them, and how many there are.
  std::size_t slot(std::uint32_t allocation, std::uint32_t version) const { return allocations_[allocation].first_slot + version; }
  std::size_t slots() const { return slots_; }

 private:
  friend class FlowReader;
  std::vector<FlowCall> calls_;
  std::vector<FlowEdge> edges_;
  std::vector<FlowAllocation> allocations_;
  std::vector<Ownership> owned_;
  std::size_t slots_ = 0;
};

}  // namespace mindtorch::analyze
