// The rules about devices and the work on them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mindtorch/analyze/report/code_tables.h"
#include "mindtorch/analyze/report/rules.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

bool is_pageable_copy(std::string_view name) { return contains(name, "Pageable"); }

}  // namespace

std::optional<Finding> Rules::synchronising_calls() const {
  if (!phases_.has_device_work()) return std::nullopt;  // without a device nothing has to be waited for
  std::optional<Finding> found = phase_finding("synchronising_calls", "The program waits for the device", HostPhase::kWait,
                                               "calls that wait until the device is done", Listed{.ops = 4, .lines = 3});
  if (!found) return std::nullopt;
  std::int64_t calls = 0;
  for (const OpRow& row : tables_.ops) {
    if (row.name == "aten::_local_scalar_dense") calls += row.calls;
  }
  if (calls > 0)
    found->evidence.push_back(fmt::format("{:.1f} calls of .item(), float() or print() per step read a tensor", per_step(calls)));
  found->remedy =
      "While the host waits, it launches no work, and the device runs dry afterwards. Keep losses and metrics on the device and read "
      "them every hundred steps; replace `if tensor:` and .item() in the loop; copy with non_blocking=True from pinned memory.";
  return found;
}

// torch.profiler and CUPTI name such a copy "Memcpy HtoD (Pageable -> Device)". The host does not return from it before it is done.
std::optional<Finding> Rules::pageable_copies() const {
  const trace::EventColumns& events = analysis_.recording().events;
  std::int64_t time = 0, calls = 0;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::kMemcpy || !is_pageable_copy(analysis_.recording().name(i))) continue;
    const EventIndex call = analysis_.launches().launch_of(i);
    if (call != kNoEvent) time += events.duration_ns[call], ++calls;
  }
  const auto cost = static_cast<std::int64_t>(per_step(time));
  if (share_of_step(cost) < kWorthTelling) return std::nullopt;
  Finding found = finding("pageable_copies", "Copies to the device block the program", cost);
  found.evidence = {fmt::format("{:.1f} copies of pageable memory per step hold the host for {}", per_step(calls), time_text(cost))};
  found.remedy =
      "Pageable memory is copied through a buffer of the driver while the host waits. Let the data loader pin its batches "
      "(pin_memory=True), "
      "and copy with .to(device, non_blocking=True).";
  found.lines = lines_launching(analysis_, is_pageable_copy, 3);
  return found;
}

std::optional<Finding> Rules::float32_matmuls() const {
  std::int64_t plain = 0, all = 0, calls = 0;
  std::vector<std::string> names;
  for (const OpRow& row : tables_.kernels) {
    if (row.kind != "kernel") continue;
    all += row.self_device_ns;
    if (!is_plain_float32_matmul(row.name)) continue;
    plain += row.self_device_ns;
    calls += row.calls;
    if (names.size() < 3) names.push_back(row.name);
  }
  const auto cost = static_cast<std::int64_t>(per_step(plain));
  if (all == 0 || share_of_step(cost) < kWorthTelling) return std::nullopt;
  Finding found = finding("float32_matmuls", "Matrices are multiplied in float32 without tensor cores", cost);
  found.evidence = {fmt::format("{} of device time per step ({} of all kernels) in {:.0f} calls", time_text(cost),
                                share_text(static_cast<double>(plain) / static_cast<double>(all)), per_step(calls))};
  found.remedy =
      "Allow TF32 with torch.set_float32_matmul_precision(\"high\"), or compute in bfloat16 with torch.autocast(\"cuda\", "
      "dtype=torch.bfloat16).";
  found.ops = std::move(names);
  found.lines = lines_launching(analysis_, is_plain_float32_matmul, 3);
  return found;
}

bool is_plain_float32_matmul(std::string_view kernel) {
  // cuBLAS and CUTLASS name the types of their kernels. "simt" kernels use no tensor cores, and "sgemm" is BLAS for float32.
  const bool is_matmul = contains(kernel, "gemm") || contains(kernel, "Gemm") || contains(kernel, "gemv");
  const bool is_float32 = contains(kernel, "sgemm") || contains(kernel, "f32f32_f32f32_f32") || contains(kernel, "simt_s");
  return is_matmul && is_float32 && !contains(kernel, "tf32") && !contains(kernel, "s1688");
}

std::optional<Finding> Rules::tiny_kernels() const {
  if (!phases_.has_device_work()) return std::nullopt;
  const std::int64_t idle = median_device(DevicePhase::kIdle);
  const trace::Recording& recording = analysis_.recording();
  std::vector<std::int64_t> durations;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] == EventKind::kKernel) durations.push_back(recording.events.duration_ns[i]);
  }
  const std::int64_t typical = median_of(durations);
  const double kernels = per_step(static_cast<std::int64_t>(durations.size()));
  if (share_of_step(idle) < 0.3 || typical > 10'000 || kernels < 50) return std::nullopt;
  Finding found = finding("tiny_kernels", "The device idles between many small kernels", idle);
  found.evidence = {fmt::format("the device is idle for {} of each step ({})", time_text(idle), share_text(found.share)),
                    fmt::format("{:.0f} kernels per step, half of them shorter than {}", kernels, time_text(typical))};
  found.remedy =
      "The host cannot launch as fast as the device computes. Give each kernel more work (larger batches, fused ops, torch.compile), or "
      "launch many at once with CUDA graphs (torch.compile(mode=\"reduce-overhead\")).";
  for (const OpRow& row : tables_.kernels) {
    if (found.ops.size() < 3 && row.calls > 0 && row.total_ns / row.calls <= 10'000) found.ops.push_back(row.name);
  }
  return found;
}

std::optional<Finding> Rules::idle_device() const {
  if (!phases_.has_device_work() || !phases_.has_steps()) return std::nullopt;
  const std::int64_t idle = median_device(DevicePhase::kIdle);
  if (share_of_step(idle) < 0.5) return std::nullopt;
  // Findings that explain half of the idle time say more than this one.
  std::int64_t explained = 0;
  for (const Finding& other : findings_) {
    if (other.id != "uneven_steps" && other.id != "float32_matmuls") explained += other.cost_ns;
  }
  if (2 * explained >= idle) return std::nullopt;
  std::vector<std::pair<std::int64_t, std::size_t>> phases;
  for (std::size_t phase = 0; phase < kHostPhases; ++phase) phases.emplace_back(median_host(static_cast<HostPhase>(phase)), phase);
  std::ranges::sort(phases, std::ranges::greater{});
  Finding found = finding("idle_device", "The device idles for most of a step", idle);
  found.evidence = {fmt::format("the device is idle for {} of each step ({})", time_text(idle), share_text(found.share)),
                    fmt::format("meanwhile the host spends {} in {} and {} in {}", time_text(phases[0].first),
                                host_phase_name(static_cast<HostPhase>(phases[0].second)), time_text(phases[1].first),
                                host_phase_name(static_cast<HostPhase>(phases[1].second)))};
  found.remedy =
      "The host prepares less work than the device could do. Give each step more work (larger batches), launch it with fewer calls "
      "(torch.compile, CUDA graphs), and move what the host does besides to other processes.";
  return found;
}

std::optional<Finding> Rules::device_allocations() const {
  std::int64_t time = 0, calls = 0;
  std::vector<std::string> names;
  for (const OpRow& row : tables_.ops) {
    const bool allocates = contains(row.name, "Malloc") || (contains(row.name, "Free") && !contains(row.name, "FreeHost"));
    if (row.kind != "runtime" || !allocates) continue;
    time += row.self_ns;
    calls += row.calls;
    names.push_back(row.name);
  }
  const auto cost = static_cast<std::int64_t>(per_step(time));
  if (share_of_step(cost) < kWorthTelling || !phases_.has_steps()) return std::nullopt;
  Finding found = finding("device_allocations", "Memory is requested from the driver in the loop", cost);
  found.evidence = {fmt::format("{:.1f} calls of {} per step take {}", per_step(calls), fmt::join(names, " and "), time_text(cost))};
  found.remedy =
      "Such calls wait for the device. Shapes that change from step to step defeat the caching allocator: pad batches to a few sizes, "
      "set "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and avoid empty_cache() in the loop.";
  found.ops = std::move(names);
  return found;
}

}  // namespace mindtorch::analyze
