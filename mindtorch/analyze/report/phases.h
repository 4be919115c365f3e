// Phases: what each moment of a step was spent on, on the host and on the devices.
//
// A host event has the phase that its name or kind says, else the phase of the event around it. A scope of the user says nothing, so time
// outside of ops is time of Python. The times of a step therefore add up to its duration, on the host and on the devices.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

enum class HostPhase : std::uint8_t { kForward, kBackward, kOptimizer, kData, kCopy, kCollective, kWait, kPython };
inline constexpr std::size_t kHostPhases = 8;
enum class DevicePhase : std::uint8_t { kCompute, kCopy, kCollective, kIdle };
inline constexpr std::size_t kDevicePhases = 4;

MINDTORCH_EXPORT std::string_view host_phase_name(HostPhase phase);      // "forward", ...
MINDTORCH_EXPORT std::string_view device_phase_name(DevicePhase phase);  // "compute", ...

struct StepPhases {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t events = 0;  // host events that start in it
  std::array<std::int64_t, kHostPhases> host{};
  std::array<std::int64_t, kDevicePhases> device{};  // zero without device work in the recording
  friend bool operator==(const StepPhases&, const StepPhases&) = default;
};

class MINDTORCH_EXPORT Phases {
 public:
  // O(events * log steps); one byte per event.
  // kStepsOnly leaves out the times of phases, and slices.
  enum class Times : std::uint8_t { kAll, kStepsOnly };
  explicit Phases(const Analysis& analysis, Times times = Times::kAll);

  // kPython for events that have no phase.
  HostPhase of(EventIndex event) const { return phase_of_[event]; }
  // False if the recording has no steps. There is then one entry, from the first event to the last.
  bool has_steps() const { return has_steps_; }
  bool has_device_work() const { return has_device_work_; }
  const std::vector<StepPhases>& steps() const { return steps_; }
  // Equal parts of the time of a recording without steps, 30 to 75 of them, numbered from 0; empty with steps. They show how a program
  // changes over time, and do not depend on what it does.
  const std::vector<StepPhases>& slices() const { return slices_; }
  // The index of the step in which a moment lies, or -1.
  std::int64_t step_at(std::int64_t time_ns) const;
  // The thread that the program's loop runs on.
  trace::TrackId main_track() const { return main_track_; }

 private:
  void classify();
  void find_steps();
  void cut_slices();
  void find_main_track();
  // Each fills in the phases of `parts`, which are sorted by start and do not overlap.
  void add_host_times(std::vector<StepPhases>& parts) const;
  void add_backward_of_other_threads(std::vector<StepPhases>& parts) const;
  void add_device_times(std::vector<StepPhases>& parts) const;

  const Analysis* analysis_;
  std::vector<HostPhase> phase_of_;
  std::vector<StepPhases> steps_;
  std::vector<StepPhases> slices_;
  trace::TrackId main_track_ = 0;
  bool has_steps_ = false;
  bool has_device_work_ = false;
};

// True for the name of a kernel or call that moves data between devices.
MINDTORCH_EXPORT bool is_collective_name(std::string_view name);

}  // namespace mindtorch::analyze
