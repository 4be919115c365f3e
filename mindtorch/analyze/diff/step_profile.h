// StepProfile: the cost of each kind of work in each step of a run. Two runs are compared in this form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/diff/argument_use.h"
#include "mindtorch/analyze/diff/step_parts.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct StepProfileOptions {
  bool by_shape = false;   // one row for each set of input shapes
  bool by_module = false;  // one row for each module around the op
};

// Identifies the same work in two runs.
struct WorkKey {
  std::string name;
  trace::DeviceType timeline = trace::DeviceType::kCpu;  // a kernel lies on its device's timeline
  std::optional<trace::DeviceType> op_device;            // where the op's tensors live, if the host knows
  std::string shapes;                                    // empty: not asked for, or not recorded
  std::string module;
  friend auto operator<=>(const WorkKey&, const WorkKey&) = default;
};

// One value per step in each vector. Times are nanoseconds.
struct WorkRow {
  WorkKey key;
  std::string parent;  // name of the node around its first call; empty at top level
  std::vector<double> calls;
  std::vector<double> time;      // self time: on the host for host work, on the device for device work
  std::vector<double> launched;  // host work: time of the device work that it launched itself
  std::vector<double> memory;    // bytes allocated less bytes freed by the work itself
  ArgumentUse arguments;         // of its calls in steps
};

struct DevicePeak {
  trace::Device device;
  std::int64_t bytes = 0;
};

struct StepProfile {
  bool has_steps = false;           // false: nothing repeats, and the whole recording counts as one step
  std::string unit = "step";        // what a step is called
  std::vector<double> step_time;    // per step
  std::vector<double> device_time;  // device work launched in each step
  std::vector<WorkRow> rows;        // sorted by key
  std::vector<StepPart> parts;      // sorted by key; they add up to step_time
  std::vector<DevicePeak> peaks;    // of devices with memory reports
};

// O(events * log steps).
MINDTORCH_EXPORT StepProfile step_profile(const Analysis& analysis, const StepProfileOptions& options = {});

}  // namespace mindtorch::analyze
