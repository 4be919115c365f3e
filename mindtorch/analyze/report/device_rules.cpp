// The rules about devices and the work on them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mindtorch/analyze/report/code_tables.h"
#include "mindtorch/analyze/report/rules.h"
#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

bool is_pageable_copy(std::string_view name) { return contains(name, "Pageable"); }

// The device idles while the host launches work or runs Python.
bool is_idle_while_launching(const Cell& cell) {
  return !cell.is_on_device() && (is_op_cause(cell.cause) || cell.cause == Cause::kCopy || cell.cause == Cause::kPython ||
                                  cell.cause == Cause::kUnknown || cell.cause == Cause::kNative);
}

double kernels_per_step(const Judge& judge) {
  const auto& kinds = judge.analysis.recording().events.kind;
  return judge.count_per_step([&](EventIndex i) { return kinds[i] == EventKind::kKernel; });
}

}  // namespace

std::optional<Finding> synchronising_calls(const Judge& judge) {
  if (!judge.phases.has_device_work()) return std::nullopt;  // without a device nothing has to be waited for
  // While the host waits for a busy device, nothing is lost; but the host could have launched ahead for as long as it waits, and the device
  // would not idle for that long afterwards.
  std::int64_t ahead = 0;
  for (const Segment& segment : judge.attribution.of(judge.phases.main_track())) {
    if (segment.cause == Cause::kDeviceWait && judge.ledger.is_judged(segment.start_ns)) ahead += segment.duration_ns();
  }
  const auto is_wait = [](const Cell& cell) { return !cell.is_on_device() && cell.cause == Cause::kDeviceWait; };
  Claim claim = judge.free(is_wait);
  claim.add(judge.free(is_idle_while_launching, std::max<std::int64_t>(0, ahead - claim.ns)));
  if (judge.ledger.share(ahead) < Thresholds::kWorthTelling || !judge.is_worth_telling(claim)) return std::nullopt;
  const trace::Recording& recording = judge.analysis.recording();
  std::vector<EventIndex> waits;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (judge.analysis.tree().is_node(i) && judge.phases.of(i) == Cause::kDeviceWait &&
        judge.ledger.is_judged(recording.events.start_ns[i]))
      waits.push_back(i);
  }
  Finding found = judge.finding("synchronising_calls", "The program waits for the device", claim);
  found.evidence = {fmt::format("{} of each step ({}) pass in calls that wait until the device is done",
                                time_text(judge.ledger.per_step(ahead)), percent_text(judge.ledger.share(ahead))),
                    fmt::format("the device idles for {} of that time and after it", time_text(found.cost_ns))};
  const double calls = judge.count_per_step([&](EventIndex i) { return recording.name(i) == "aten::_local_scalar_dense"; });
  if (calls > 0) found.evidence.push_back(fmt::format("{:.1f} calls of .item(), float() or print() per step read a tensor", calls));
  found.remedy =
      "While the host waits, it launches no work, and the device runs dry afterwards. Keep losses and metrics on the device and read "
      "them every hundred steps; replace `if tensor:` and .item() in the loop; copy with non_blocking=True from pinned memory.";
  found.ops.clear();
  for (const EventIndex wait : waits) {
    const std::string name(recording.name(wait));
    if (found.ops.size() < 4 && std::ranges::find(found.ops, name) == found.ops.end()) found.ops.push_back(name);
  }
  if (const auto lines = lines_of(judge.analysis, waits, 3); !lines.empty()) found.lines = lines;
  return found;
}

// torch.profiler and CUPTI name such a copy "Memcpy HtoD (Pageable -> Device)". The host does not return from it before it is done.
std::optional<Finding> pageable_copies(const Judge& judge) {
  const trace::EventColumns& events = judge.analysis.recording().events;
  std::int64_t time = 0;
  const double calls = judge.count_per_step([&](EventIndex i) {
    if (events.kind[i] != EventKind::kMemcpy || !is_pageable_copy(judge.analysis.recording().name(i))) return false;
    const EventIndex call = judge.analysis.launches().launch_of(i);
    if (call == kNoEvent) return false;
    if (judge.ledger.is_judged(events.start_ns[i])) time += events.duration_ns[call];
    return true;
  });
  const auto is_meant = [](const Cell& cell) {
    return cell.is_on_device() ? cell.device == DevicePhase::kCopy : cell.cause == Cause::kCopy;
  };
  const Claim claim = judge.free(is_meant, time);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("pageable_copies", "Copies to the device block the program", claim);
  found.evidence = {
      fmt::format("{:.1f} copies of pageable memory per step hold the host for {}", calls, time_text(judge.ledger.per_step(time)))};
  found.remedy =
      "Pageable memory is copied through a buffer of the driver while the host waits. Let the data loader pin its batches "
      "(pin_memory=True), and copy with .to(device, non_blocking=True).";
  if (const auto lines = lines_launching(judge.analysis, is_pageable_copy, 3); !lines.empty()) found.lines = lines;
  return found;
}

std::optional<Finding> float32_matmuls(const Judge& judge) {
  const Claim claim =
      judge.free([&](const Cell& cell) { return cell.device == DevicePhase::kCompute && is_plain_float32_matmul(judge.name(cell)); });
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  const Claim kernels = judge.free([](const Cell& cell) { return cell.device == DevicePhase::kCompute; });
  const double share = static_cast<double>(claim.ns) / static_cast<double>(std::max<std::int64_t>(1, kernels.ns));
  Finding found = judge.finding("float32_matmuls", "Matrices are multiplied in float32 without tensor cores", claim);
  found.evidence = {fmt::format("{} of device time per step ({} of all kernels)", time_text(found.cost_ns), percent_text(share))};
  found.remedy =
      "Allow TF32 with torch.set_float32_matmul_precision(\"high\"), or compute in bfloat16 with torch.autocast(\"cuda\", "
      "dtype=torch.bfloat16).";
  if (const auto lines = lines_launching(judge.analysis, is_plain_float32_matmul, 3); !lines.empty()) found.lines = lines;
  return found;
}

bool is_plain_float32_matmul(std::string_view kernel) {
  // cuBLAS and CUTLASS name the types of their kernels. "simt" kernels use no tensor cores, and "sgemm" is BLAS for float32.
  const bool is_matmul = contains(kernel, "gemm") || contains(kernel, "Gemm") || contains(kernel, "gemv");
  const bool is_float32 = contains(kernel, "sgemm") || contains(kernel, "f32f32_f32f32_f32") || contains(kernel, "simt_s");
  return is_matmul && is_float32 && !contains(kernel, "tf32") && !contains(kernel, "s1688");
}

std::optional<Finding> tiny_kernels(const Judge& judge) {
  if (!judge.phases.has_device_work()) return std::nullopt;
  const Claim claim = judge.free(is_idle_while_launching);
  const trace::Recording& recording = judge.analysis.recording();
  std::vector<std::int64_t> durations;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] == EventKind::kKernel && judge.ledger.is_judged(recording.events.start_ns[i]))
      durations.push_back(recording.events.duration_ns[i]);
  }
  const std::int64_t typical = median_of(durations);
  const double kernels = kernels_per_step(judge);
  if (judge.ledger.share(claim.ns) < Thresholds::kIdleBetweenKernels || typical > Thresholds::kSmallKernelNs ||
      kernels < Thresholds::kManyKernels)
    return std::nullopt;
  Finding found = judge.finding("tiny_kernels", "The device idles between many small kernels", claim);
  found.evidence = {fmt::format("the device idles for {} of each step ({}) while the host launches work", time_text(found.cost_ns),
                                percent_text(found.share)),
                    fmt::format("{:.0f} kernels per step, half of them shorter than {}", kernels, time_text(typical))};
  found.remedy =
      "The host cannot launch as fast as the device computes. Give each kernel more work (larger batches, fused ops, torch.compile), or "
      "launch many at once with CUDA graphs (torch.compile(mode=\"reduce-overhead\")).";
  found.ops.clear();
  for (const OpRow& row : judge.tables.kernels) {
    if (found.ops.size() < 3 && row.calls > 0 && row.total_ns / row.calls <= Thresholds::kSmallKernelNs) found.ops.push_back(row.name);
  }
  return found;
}

std::optional<Finding> idle_device(const Judge& judge) {
  if (!judge.phases.has_device_work() || !judge.phases.has_steps()) return std::nullopt;
  const Claim claim = judge.free([](const Cell& cell) { return !cell.is_on_device(); });
  if (judge.ledger.share(claim.ns) < Thresholds::kMostOfAStep) return std::nullopt;
  const std::vector<std::string> causes = judge.largest(
      claim, [](const Cell& cell) { return std::string(cause_name(cell.cause)); }, 2);
  Finding found = judge.finding("idle_device", "The device idles for most of a step", claim);
  found.evidence = {
      fmt::format("the device idles for {} of each step ({}) without another finding", time_text(found.cost_ns), percent_text(found.share)),
      fmt::format("meanwhile most of the time of the host is {}", fmt::join(causes, " and "))};
  found.remedy =
      "The host prepares less work than the device could do. Give each step more work (larger batches), launch it with fewer calls "
      "(torch.compile, CUDA graphs), and move what the host does besides to other processes.";
  return found;
}

std::optional<Finding> device_allocations(const Judge& judge) {
  const auto allocates = [](std::string_view name) {
    return contains(name, "Malloc") || (contains(name, "Free") && !contains(name, "FreeHost"));
  };
  const trace::Recording& recording = judge.analysis.recording();
  std::int64_t time = 0;
  const double calls = judge.count_per_step([&](EventIndex i) {
    if (!trace::is_launch_kind(recording.events.kind[i]) || !allocates(recording.name(i))) return false;
    if (judge.ledger.is_judged(recording.events.start_ns[i])) time += recording.events.duration_ns[i];
    return true;
  });
  if (!judge.phases.has_steps() || judge.ledger.share(time) < Thresholds::kWorthTelling) return std::nullopt;
  // The device may be busy while the host allocates, but such calls wait for it.
  Claim claim = judge.free([&](const Cell& cell) { return !cell.is_on_device() && allocates(judge.name(cell)); });
  if (!judge.is_worth_telling(claim)) claim = judge.free([](const Cell& cell) { return cell.cause == Cause::kForward; }, time);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("device_allocations", "Memory is requested from the driver in the loop", claim);
  found.evidence = {fmt::format("{:.1f} calls per step take {}", calls, time_text(judge.ledger.per_step(time)))};
  found.remedy =
      "Such calls wait for the device. Shapes that change from step to step defeat the caching allocator: pad batches to a few sizes, "
      "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and avoid empty_cache() in the loop.";
  return found;
}

}  // namespace mindtorch::analyze
