// Rules: what the rules for findings share. findings.cpp has those about the host, device_rules.cpp those about devices, copy_rules.cpp the
// one about copies that are undone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/report/findings.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {

inline constexpr double kWorthTelling = 0.05;  // of the time of a step

std::string time_text(std::int64_t ns);
std::string share_text(double share);

// Each rule looks at times that were measured, and has a threshold below which it says nothing.
class Rules {
 public:
  Rules(const Analysis& analysis, const Phases& phases, const WorkTables& tables);

  std::vector<Finding> finish();

 private:
  std::optional<Finding> waiting_for_data() const;
  std::optional<Finding> unfused_optimizer() const;
  std::optional<Finding> zeroed_gradients() const;
  std::optional<Finding> unneeded_copies() const;
  std::optional<Finding> uneven_steps() const;
  std::optional<Finding> time_between_steps() const;
  std::optional<Finding> python_between_ops() const;

  std::optional<Finding> synchronising_calls() const;
  std::optional<Finding> pageable_copies() const;
  std::optional<Finding> float32_matmuls() const;
  std::optional<Finding> tiny_kernels() const;
  std::optional<Finding> idle_device() const;
  std::optional<Finding> device_allocations() const;

  std::int64_t median_host(HostPhase phase) const;
  std::int64_t median_device(DevicePhase phase) const;
  double share_of_step(std::int64_t ns) const { return static_cast<double>(ns) / static_cast<double>(step_ns_); }
  double per_step(std::int64_t value) const { return static_cast<double>(value) / static_cast<double>(phases_.steps().size()); }

  // Ops of a phase, most time first.
  std::vector<std::string> ops_of(HostPhase phase, std::size_t limit) const;
  Finding finding(std::string_view id, std::string title, std::int64_t cost) const;

  // How many ops and source lines a finding lists.
  struct Listed {
    std::size_t ops, lines;
  };
  // A finding about a phase that takes a share of each step that is worth telling. `where` completes the sentence of its evidence.
  std::optional<Finding> phase_finding(std::string_view id, std::string title, HostPhase phase, std::string_view where,
                                       Listed listed) const;
  std::string what_grew(const StepPhases& step) const;

  const Analysis& analysis_;
  const Phases& phases_;
  const WorkTables& tables_;
  std::vector<StepPhases> steps_;  // without the first one
  std::int64_t step_ns_ = 1;       // median
  std::int64_t step_sum_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace mindtorch::analyze
