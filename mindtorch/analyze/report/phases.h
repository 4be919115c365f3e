// Phases: what each step was spent on, on the host and on the devices.
//
// The host's times are those of the thread that the program's loop runs on (attribution.h); they add up to the duration of the step, and so
// do the device's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/attribution.h"
#include "mindtorch/analyze/causes.h"
#include "mindtorch/analyze/iterations.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

enum class DevicePhase : std::uint8_t { kCompute, kCopy, kCollective, kIdle };
inline constexpr std::size_t kDevicePhases = 4;

MINDTORCH_EXPORT std::string_view device_phase_name(DevicePhase phase);  // "kernels", ...

struct StepPhases {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t events = 0;  // host events that start in it
  std::array<std::int64_t, kCauses> host{};
  std::array<std::int64_t, kDevicePhases> device{};  // zero without device work in the recording
  std::uint32_t kind = 0;                            // index into Phases::kinds()

  std::int64_t end_ns() const { return start_ns + duration_ns; }
  friend bool operator==(const StepPhases&, const StepPhases&) = default;
};

// Steps that are alike: the usual ones, the first one, those that wait for a checkpoint or run longer for another reason.
struct StepKind {
  std::string name;  // "usual", "first", "longer: data loading", "decode"
  std::size_t count = 0;
  std::int64_t mean_ns = 0;
  std::array<std::int64_t, kCauses> host{};  // means
  std::size_t typical = 0;                   // index of the step whose times are nearest to the means
};

// A thread that waits for work, or is not known to do anything.
constexpr bool is_without_work(Cause cause) { return cause == Cause::kUnknown || cause == Cause::kRequests || cause == Cause::kThread; }

// A moment of a device belongs to kernels if one runs, else to copies, else to collectives.
struct DeviceSpan {
  std::int64_t start_ns, end_ns;
  EventIndex event;
  DevicePhase phase;
};

// The name of a thread without its numbers: threads of a pool share it.
std::string pool_name(std::string_view thread_name);

class MINDTORCH_EXPORT Phases {
 public:
  // O((events + samples) * log steps).
  // kStepsOnly leaves out the times of phases, slices, kinds, and what only repeats without being a step.
  enum class Times : std::uint8_t { kAll, kStepsOnly };
  explicit Phases(const Analysis& analysis, Times times = Times::kAll);

  // kUnknown for events that say nothing about themselves.
  Cause of(EventIndex event) const { return causes().of(event); }
  const EventCauses& causes() const { return attribution_ ? attribution_->causes() : *causes_; }
  const Attribution& attribution() const { return *attribution_; }  // only with kAll

  // False if the recording has no steps and nothing repeats. There is then one entry, from the first event to the last.
  bool has_steps() const { return origin_ != Iterations::Origin::kNone; }
  Iterations::Origin origin() const { return origin_; }
  const std::string& unit() const { return unit_; }  // what a step is called
  bool has_device_work() const { return has_device_work_; }
  const std::vector<StepPhases>& steps() const { return steps_; }
  // The largest kind first. Empty without steps.
  const std::vector<StepKind>& kinds() const { return kinds_; }
  // Equal parts of the time of a recording without steps, 30 to 75 of them, numbered from 0; empty with steps. They show how a program
  // changes over time, and do not depend on what it does.
  const std::vector<StepPhases>& slices() const { return slices_; }
  // In order of time, without overlaps. Empty without device work.
  const std::vector<DeviceSpan>& device() const { return device_; }
  // The index of the step in which a moment lies, or -1.
  std::int64_t step_at(std::int64_t time_ns) const;
  // The thread that the program's loop runs on.
  trace::TrackId main_track() const { return main_track_; }
  // The threads whose time is judged: the main thread, or, if nothing repeats on it and it has less to do than the threads of a pool,
  // those.
  const std::vector<trace::TrackId>& judged_tracks() const { return judged_tracks_; }

 private:
  void take_steps(Iterations found);
  void take_whole_recording();
  void cut_slices();
  void choose_judged_tracks();
  // Each fills in the phases of `parts`, which are sorted by start and do not overlap.
  void add_host_times(std::vector<StepPhases>& parts) const;
  void add_device_times(std::vector<StepPhases>& parts) const;
  void find_device_spans();
  void find_kinds(const std::vector<std::string>& stages);

  const Analysis* analysis_;
  std::shared_ptr<const EventCauses> causes_;
  std::shared_ptr<const Attribution> attribution_;
  std::vector<StepPhases> steps_;
  std::vector<StepPhases> slices_;
  std::vector<StepKind> kinds_;
  std::vector<DeviceSpan> device_;
  trace::TrackId main_track_ = 0;
  std::vector<trace::TrackId> judged_tracks_;
  Iterations::Origin origin_ = Iterations::Origin::kNone;
  std::string unit_ = "step";
  bool has_device_work_ = false;
};

}  // namespace mindtorch::analyze
