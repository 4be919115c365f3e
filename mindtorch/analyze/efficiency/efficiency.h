// Efficiency: how far the recorded work was from what its device can do at most.
//
// The limit of a call is the larger of two times: its FLOPs over the peak of the unit that computes them, and its bytes over the bandwidth
// of the memory. A call on a device takes the time of its kernels; a call on the CPU takes as long as the op. docs/efficiency.md has the
// rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/device_peaks.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// Peaks that are not in the table: from files, from options, and measured on this machine.
struct KnownPeaks {
  std::vector<trace::DevicePeaks> devices;  // by name; those with a host are of the CPU of that machine
  std::vector<std::string> changes;         // "bfloat16=800": for every device of the recording
};

// What a device can do at most, and how that is known.
struct DeviceLimit {
  trace::Device device;
  std::string name;
  trace::DevicePeaks peaks;
  bool is_known = false;
  std::string problem;    // if it is not: why, and what to do
  double ran_at_mhz = 0;  // mean clock that was recorded while the device worked; 0 if none was
  // The share of the listed clock at which the device ran; 1 if that is not known.
  double clock_share() const { return ran_at_mhz > 0 && peaks.clock_mhz > 0 ? ran_at_mhz / peaks.clock_mhz : 1; }
};

// Work of one kind. Sums of its calls.
struct Work {
  std::int64_t calls = 0;
  std::int64_t time_ns = 0;
  double flops = 0;
  double recomputed = 0;  // FLOPs that were computed a second time
  double bytes = 0;
  double compute_ns = 0;        // FLOPs at the peak; 0 if the peak is not known
  double memory_ns = 0;         // bytes at the bandwidth
  double limit_ns = 0;          // the larger one, of each call
  std::int64_t limited_ns = 0;  // of time_ns, what belongs to calls that have a limit

  bool has_limit() const { return limited_ns > 0 && limit_ns > 0; }
  bool is_bound_by_memory() const { return memory_ns > compute_ns; }
  double share_of_limit() const { return limited_ns > 0 ? limit_ns / static_cast<double>(limited_ns) : 0; }
  double above_limit_ns() const { return static_cast<double>(limited_ns) - limit_ns; }
  double tflops() const { return time_ns > 0 ? flops / static_cast<double>(time_ns) / 1e3 : 0; }
  double tbytes() const { return time_ns > 0 ? bytes / static_cast<double>(time_ns) / 1e3 : 0; }
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  void add(const Work& other);
};

struct WorkAtLimit {
  std::string name;
  std::string shapes;  // of an op
  trace::Device device;
  std::optional<trace::ComputeUnit> unit;  // that its FLOPs are compared with
  Work work;
  std::string explanation;  // where the work is faster than its limit
};

struct StepAtLimit {
  std::int64_t number = 0;
  std::int64_t duration_ns = 0;
  Work work;
  double model_peak_ns = 0;  // FLOPs of the model's products at the peak, without what was computed again
  double mfu = 0;            // 0 to 1, of all devices with modelled work
  double hfu = 0;
};

struct WithoutModel {
  std::string name;  // of the op that launched the work, or ran on the CPU; of a kernel that none launched
  std::int64_t calls = 0;
  std::int64_t time_ns = 0;
};

struct Efficiency {
  std::vector<DeviceLimit> devices;  // with work
  std::vector<WorkAtLimit> ops;      // by op and shapes, most time above the limit first
  std::vector<WorkAtLimit> kernels;  // that are an op's only kernel, and copies inside of a device
  std::vector<WorkAtLimit> modules;  // the innermost module around the op, or around its forward op
  std::vector<StepAtLimit> steps;
  std::vector<WithoutModel> without_model;  // most time first
  Work total;
  std::int64_t work_ns = 0;   // all work, with and without a model
  bool is_on_device = false;  // the work is that of devices, not of the CPU
  bool has_shapes = false;
  std::optional<double> mfu, hfu;  // over all steps; empty without steps, products or peaks

  double modelled_share() const { return work_ns > 0 ? static_cast<double>(total.time_ns) / static_cast<double>(work_ns) : 0; }
  // One line for people: what is known, or why nothing is.
  MINDTORCH_EXPORT std::string summary() const;
};

// "518 TFLOP/s", "5.58 GFLOP/s".
MINDTORCH_EXPORT std::string rate_text(double tera, std::string_view unit);

// O(events + words of arguments).
MINDTORCH_EXPORT Efficiency find_efficiency(const Analysis& analysis, const KnownPeaks& known = {});

}  // namespace mindtorch::analyze
