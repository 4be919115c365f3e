// Efficiency: calls with a cost are found, their time is summed from the work that they launched, and both are compared with the peaks.
#include "mindtorch/analyze/efficiency/efficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "mindtorch/analyze/attribution.h"
#include "mindtorch/analyze/copy_bandwidth.h"
#include "mindtorch/analyze/efficiency/cost_model.h"
#include "mindtorch/analyze/efficiency/device_limits.h"
#include "mindtorch/analyze/efficiency/modelled_calls.h"
#include "mindtorch/analyze/iterations.h"
#include "mindtorch/analyze/step_finder.h"
#include "mindtorch/analyze/units.h"

namespace mindtorch::analyze {
namespace {

using trace::ComputeUnit;
using trace::EventKind;
using trace::ScalarType;

constexpr std::uint32_t kNoCall = 0xFFFFFFFF;

// The first of more than three steps warms up, and is not judged.
constexpr std::size_t kMostStepsWithAll = 3;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Kernels whose names tell that they multiply float32 on units for matrices.
bool uses_tf32(std::string_view kernel) {
  return contains(kernel, "tf32") || contains(kernel, "s1688") || contains(kernel, "nvjet") || contains(kernel, "fmha_cutlass");
}

// A copy to or from the memory of the host is limited by the bus.
bool crosses_bus(std::string_view copy) {
  return contains(copy, "HtoD") || contains(copy, "DtoH") || contains(copy, "HtoH") || contains(copy, "PtoP");
}

// One run of a call's work on a device: the call itself, or one replay of the graph that captured it.
struct Run {
  std::uint32_t call = kNoCall;
  EventIndex launch = kNoEvent;  // of the graph; kNoEvent for the call itself
  trace::Device device;
  std::int64_t time_ns = 0;
  std::uint32_t kernels = 0;
  EventIndex kernel = kNoEvent;  // the last one
  bool is_tf32 = false;
  bool is_on_bus = false;
};

// Empty if the type is not known. Only the model of products of eight bits knows sizes without a type.
std::optional<ComputeUnit> unit_of(const OpCost& cost, const Run& run, const trace::DevicePeaks& peaks) {
  const bool is_cpu = run.device.type == trace::DeviceType::kCpu;
  if (cost.dtype == ScalarType::kDouble) {
    const bool has_tensor_units = cost.is_product && !is_cpu && peaks.of(ComputeUnit::kFloat64Tensor) > 0;
    return has_tensor_units ? ComputeUnit::kFloat64Tensor : ComputeUnit::kFloat64;
  }
  if (!cost.is_product) return ComputeUnit::kFloat32;
  switch (cost.dtype) {
    case ScalarType::kBFloat16: return ComputeUnit::kBFloat16;
    case ScalarType::kHalf: return ComputeUnit::kFloat16;
    case ScalarType::kInt8:
    case ScalarType::kUint8: return ComputeUnit::kInt8;
    case ScalarType::kOther: return cost.has_bytes ? std::optional(ComputeUnit::kFloat8) : std::nullopt;
    default: return run.is_tf32 ? ComputeUnit::kTf32 : ComputeUnit::kFloat32;
  }
}

// A row while it is summed up.
struct Sum {
  WorkAtLimit row;
  double largest_bytes = 0;  // of one call
  bool is_product = false;
};

std::string explanation_of(const Sum& sum, const DeviceLimit& limit) {
  const Work& work = sum.row.work;
  if (!work.has_limit() || work.share_of_limit() <= 1) return "";
  if (work.is_bound_by_memory()) {
    if (sum.largest_bytes <= limit.peaks.cache_mbytes * 1e6)
      return fmt::format("what it reads and writes fits into the cache ({:.0f} MB), which is faster than the memory",
                         limit.peaks.cache_mbytes);
    return "the model counts more bytes than were moved, as where a part of an operand is used or still lies in the cache; or the "
           "bandwidth "
           "that is taken for the device is too low";
  }
  if (sum.row.unit == ComputeUnit::kFloat32 && sum.is_product && limit.device.type != trace::DeviceType::kCpu)
    return "the kernels may have used units for matrices, whose names do not tell; the peak of float32 is that without them";
  return fmt::format("the model counts more FLOPs than were computed, or the peak that is taken for {} ({:g} TFLOP/s) is too low",
                     compute_unit_name(*sum.row.unit), limit.peaks.of(*sum.row.unit));
}

class Finder {
 public:
  Finder(const Analysis& analysis, const KnownPeaks& known)
      : analysis_(analysis), recording_(analysis.recording()), known_(known), calls_(analysis), keys_(analysis.names()) {}

  Efficiency finish() {
    found_.has_shapes = !recording_.inputs.empty();
    find_steps();
    found_.is_on_device = std::ranges::any_of(recording_.events.kind, is_device_work);
    found_.is_on_device ? add_device_work() : add_host_work();
    for (const Run& run : runs_) add(run);
    take_rows(ops_, found_.ops);
    take_rows(kernels_, found_.kernels);
    take_rows(modules_, found_.modules);
    for (const auto& [key, row] : without_) found_.without_model.push_back(row);
    std::ranges::stable_sort(found_.without_model, std::ranges::greater{}, &WithoutModel::time_ns);
    judge_steps();
    return std::move(found_);
  }

 private:
  void find_steps() {
    iterations_ = find_iterations(analysis_, find_main_track(analysis_));
    for (const Step& step : iterations_.steps) found_.steps.push_back({.number = step.number, .duration_ns = step.duration_ns, .work = {}});
  }

  DeviceLimit& limit_of(trace::Device device) {
    const auto at = std::ranges::find(found_.devices, device, &DeviceLimit::device);
    if (at != found_.devices.end()) return *at;
    return found_.devices.emplace_back(device_limit(recording_, device, known_));
  }

  void add_without(std::string_view name, std::int64_t time_ns) {
    WithoutModel& row = without_[std::string(name)];
    row.name = name;
    ++row.calls;
    row.time_ns += time_ns;
  }

  std::string_view shown_name(EventIndex event) const {
    const EventNames::Key key = keys_.key(recording_.events.name[event]);
    return key == EventNames::kHidden ? recording_.name(event) : keys_.text(key);
  }

  // --- Work of devices ---

  void add_device_work() {
    const trace::EventColumns& events = recording_.events;
    std::map<std::pair<std::uint32_t, EventIndex>, std::size_t> run_of;
    for (EventIndex i = 0; i < events.size(); ++i) {
      if (!is_device_work(events.kind[i])) continue;
      limit_of(events.device[i]);
      found_.work_ns += events.duration_ns[i];
      const EventIndex host = analysis_.launches().host_of(i);
      const std::uint32_t call = host == kNoEvent ? kNoCall : calls_.around(host);
      if (call == kNoCall) {
        add_lone_activity(i, host);
        continue;
      }
      const EventIndex launch = analysis_.launches().launch_of(i);
      const EventIndex op = calls_.all()[call].event;
      const bool is_replayed = launch != kNoEvent && (launch < op || launch >= analysis_.tree().subtree_end(op));
      const auto [at, is_new] = run_of.try_emplace({call, is_replayed ? launch : kNoEvent}, runs_.size());
      if (is_new) {
        Run& made = runs_.emplace_back();
        made.call = call;
        made.launch = is_replayed ? launch : kNoEvent;
        made.device = events.device[i];
      }
      Run& run = runs_[at->second];
      run.time_ns += events.duration_ns[i];
      if (events.kind[i] == EventKind::kKernel) {
        ++run.kernels;
        run.kernel = i;
        run.is_tf32 = run.is_tf32 || uses_tf32(recording_.name(i));
      } else if (events.kind[i] == EventKind::kMemcpy) {
        run.is_on_bus = run.is_on_bus || crosses_bus(recording_.name(i));
      }
    }
  }

  // Of no call with a model. The driver says how much it copied or set inside of the device.
  void add_lone_activity(EventIndex activity, EventIndex host) {
    const trace::EventColumns& events = recording_.events;
    const bool is_copy = events.kind[activity] == EventKind::kMemcpy && contains(recording_.name(activity), "DtoD");
    const auto bytes = is_copy || events.kind[activity] == EventKind::kMemset
                           ? copied_bytes(recording_, recording_.attributes.find(activity))
                           : std::nullopt;
    if (!bytes || *bytes <= 0) return add_without(host == kNoEvent ? shown_name(activity) : shown_name(host), events.duration_ns[activity]);
    OpCost cost;
    cost.bytes = static_cast<double>(*bytes) * (is_copy ? 2 : 1);
    cost.has_bytes = true;
    Run run;
    run.device = events.device[activity];
    run.time_ns = events.duration_ns[activity];
    Sum& row = kernels_[{std::string(shown_name(activity)), run.device}];
    row.row.name = shown_name(activity);
    const Work work = add_to(row, cost, run);
    found_.total.add(work);
    if (const std::int64_t step = step_of_time(host == kNoEvent ? events.start_ns[activity] : events.start_ns[host]); step >= 0)
      found_.steps[static_cast<std::size_t>(step)].work.add(work);
  }

  // --- Work of the CPU ---

  void add_host_work() {
    const trace::EventColumns& events = recording_.events;
    for (EventIndex i = 0; i < events.size(); ++i) {
      if (events.kind[i] != EventKind::kOp || !analysis_.tree().is_node(i)) continue;
      const std::uint32_t call = calls_.around(i);
      if (call != kNoCall && calls_.all()[call].event != i) continue;
      const bool is_whole = call != kNoCall;
      const std::int64_t time = is_whole ? events.duration_ns[i] : analysis_.tree().self_ns(i);
      if (time <= 0) continue;
      found_.work_ns += time;
      if (is_whole) {
        runs_.push_back({.call = call, .device = {}, .time_ns = time});
      } else {
        add_without(shown_name(i), time);
      }
    }
    if (!runs_.empty()) limit_of({});
  }

  // --- Sums ---

  void add(const Run& run) {
    const ModelledCall& call = calls_.all()[run.call];
    if (run.is_on_bus) return add_without(shown_name(call.event), run.time_ns);
    const OpCost& cost = *call.cost;
    Sum& op = ops_[{fmt::format("{}\n{}", recording_.events.name[call.event], call.shapes), run.device}];
    if (op.row.name.empty()) {
      op.row.name = shown_name(call.event);
      op.row.shapes = shapes_text(input_shapes(recording_.inputs.find(call.event)));
    }
    Work work = add_to(op, cost, run);
    // What one kernel did is the kernel's; of several it is not known which did how much.
    if (run.kernels == 1) {
      Sum& kernel = kernels_[{std::string(shown_name(run.kernel)), run.device}];
      kernel.row.name = shown_name(run.kernel);
      add_to(kernel, cost, run);
    }
    if (call.is_recomputed) work.recomputed = work.flops;
    found_.total.add(work);
    if (call.module != 0) {
      Sum& module = modules_[{recording_.names[call.module], run.device}];
      module.row.name = recording_.names[call.module];
      add_to(module, cost, run);
    }
    const std::int64_t step = step_of_time(recording_.events.start_ns[run.launch != kNoEvent ? run.launch : call.event]);
    if (step < 0) return;
    StepAtLimit& of_step = found_.steps[static_cast<std::size_t>(step)];
    of_step.work.add(work);
    if (!cost.is_product || work.compute_ns <= 0) return;
    const double again = work.flops > 0 ? work.recomputed / work.flops : 0;
    of_step.model_peak_ns += work.compute_ns * (1 - again);
    again_ns_[static_cast<std::size_t>(step)] += work.compute_ns * again;
  }

  // Returns the work of this run.
  Work add_to(Sum& sum, const OpCost& cost, const Run& run) {
    const DeviceLimit& limit = limit_of(run.device);
    const std::optional<ComputeUnit> unit = unit_of(cost, run, limit.peaks);
    const double peak = unit ? limit.peaks.of(*unit) : 0, bandwidth = limit.peaks.tbytes;
    Work work;
    work.calls = 1;
    work.time_ns = run.time_ns;
    work.flops = cost.flops;
    work.recomputed = cost.recomputed;
    work.bytes = cost.bytes;
    // One TFLOP/s is 1,000 FLOPs in a nanosecond.
    if (peak > 0) work.compute_ns = cost.flops / peak / 1e3;
    if (bandwidth > 0 && cost.has_bytes) work.memory_ns = cost.bytes / bandwidth / 1e3;
    // What bounds a product first is the unit that computes it, and what bounds everything else is the memory.
    if (cost.is_product ? peak > 0 : work.memory_ns > 0) {
      work.limit_ns = std::max(work.compute_ns, work.memory_ns);
      work.limited_ns = run.time_ns;
    }
    sum.row.device = run.device;
    if (cost.flops > 0 && (!sum.row.unit || cost.is_product)) sum.row.unit = unit;
    sum.is_product = sum.is_product || cost.is_product;
    sum.largest_bytes = std::max(sum.largest_bytes, cost.bytes);
    sum.row.work.add(work);
    return work;
  }

  std::int64_t step_of_time(std::int64_t time_ns) {
    if (!finder_) finder_.emplace(std::span<const Step>(iterations_.steps));
    return finder_->at(time_ns);
  }

  using Rows = std::map<std::pair<std::string, trace::Device>, Sum>;

  void take_rows(Rows& rows, std::vector<WorkAtLimit>& into) {
    for (auto& [key, sum] : rows) {
      sum.row.explanation = explanation_of(sum, limit_of(sum.row.device));
      into.push_back(std::move(sum.row));
    }
    const auto order = [](const WorkAtLimit& row) {
      return std::pair(row.work.has_limit() ? row.work.above_limit_ns() : 0.0, static_cast<double>(row.work.time_ns));
    };
    std::ranges::stable_sort(into, [&](const WorkAtLimit& a, const WorkAtLimit& b) { return order(a) > order(b); });
  }

  void judge_steps() {
    const double devices = static_cast<double>(std::max<std::size_t>(1, found_.devices.size()));
    double model = 0, again = 0, time = 0;
    for (std::size_t k = 0; k < found_.steps.size(); ++k) {
      StepAtLimit& step = found_.steps[k];
      const double room = static_cast<double>(step.duration_ns) * devices;
      if (room <= 0) continue;
      step.mfu = step.model_peak_ns / room;
      step.hfu = (step.model_peak_ns + again_ns_[k]) / room;
      if (k == 0 && found_.steps.size() > kMostStepsWithAll) continue;
      model += step.model_peak_ns;
      again += again_ns_[k];
      time += room;
    }
    if (time <= 0 || model <= 0) return;
    found_.mfu = model / time;
    found_.hfu = (model + again) / time;
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  const KnownPeaks& known_;
  const ModelledCalls calls_;
  const EventNames& keys_;
  Efficiency found_;
  Iterations iterations_;
  std::optional<StepFinder<Step>> finder_;
  std::vector<Run> runs_;
  Rows ops_, kernels_, modules_;
  std::map<std::string, WithoutModel> without_;
  std::map<std::size_t, double> again_ns_;  // by step: at the peak, what was computed a second time
};

}  // namespace

void Work::add(const Work& other) {
  calls += other.calls;
  time_ns += other.time_ns;
  flops += other.flops;
  recomputed += other.recomputed;
  bytes += other.bytes;
  compute_ns += other.compute_ns;
  memory_ns += other.memory_ns;
  limit_ns += other.limit_ns;
  limited_ns += other.limited_ns;
}

std::string rate_text(double tera, std::string_view unit) {
  return tera >= 1 ? fmt::format("{:.3g} T{}", tera, unit) : fmt::format("{:.3g} G{}", 1e3 * tera, unit);
}

std::string Efficiency::summary() const {
  if (work_ns == 0) return "Efficiency: not known, because no ops and no device work were recorded.";
  if (!has_shapes) return "Efficiency: not known, because shapes were not recorded (record_shapes=True, mtprof run --shapes).";
  const std::string_view whose = is_on_device ? "device time" : "the time of ops";
  if (total.calls == 0) return fmt::format("Efficiency: not known, because none of {} has a cost model.", whose);
  std::string text = fmt::format("Efficiency: {:.0f} % of {} has a cost model: {}, {}", 100 * modelled_share(), whose,
                                 rate_text(total.tflops(), "FLOP/s"), rate_text(total.tbytes(), "B/s"));
  if (total.has_limit()) {
    text += fmt::format("; {:.0f} % of what the device can do, {} above the limit", 100 * total.share_of_limit(),
                        format_time(total.above_limit_ns() / 1e3));
  }
  if (mfu) text += fmt::format("; MFU {:.1f} %", 100 * *mfu);
  if (hfu && *hfu > *mfu * 1.001) text += fmt::format(", HFU {:.1f} %", 100 * *hfu);
  for (const DeviceLimit& device : devices) {
    if (!device.is_known) text += fmt::format("; {}", device.problem);
  }
  return text + ".";
}

Efficiency find_efficiency(const Analysis& analysis, const KnownPeaks& known) { return Finder(analysis, known).finish(); }

}  // namespace mindtorch::analyze
