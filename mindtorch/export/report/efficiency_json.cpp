// Efficiency as JSON. What is not known is null.
#include "mindtorch/export/report/efficiency_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "mindtorch/export/report/json_parts.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter {
namespace {

using analyze::Efficiency;
using analyze::Work;
using analyze::WorkAtLimit;

std::string known(bool is_known, double value) { return is_known ? fmt::format("{:.6g}", value) : "null"; }
std::string known(const std::optional<double>& value) { return known(value.has_value(), value.value_or(0)); }

std::string rates_json(const trace::DevicePeaks& peaks) {
  std::string text;
  for (std::size_t unit = 0; unit < trace::kComputeUnits; ++unit) {
    if (peaks.tflops[unit] > 0)
      text += fmt::format(R"({}"{}":{:.6g})", text.empty() ? "" : ",", trace::kComputeUnitNames[unit], peaks.tflops[unit]);
  }
  return "{" + text + "}";
}

std::string device_json(const analyze::DeviceLimit& limit) {
  const trace::DevicePeaks& peaks = limit.peaks;
  return fmt::format(
      R"({{"device":{},"name":{},"tflops":{},"memory_tbytes":{},"cache_mbytes":{},"clock_mhz":{},"ran_at_mhz":{},"source":{},"problem":{}}})",
      quoted(trace::device_text(limit.device)), quoted(limit.name), rates_json(peaks), known(peaks.tbytes > 0, peaks.tbytes),
      known(peaks.cache_mbytes > 0, peaks.cache_mbytes), known(peaks.clock_mhz > 0, peaks.clock_mhz),
      known(limit.ran_at_mhz > 0, limit.ran_at_mhz), quoted(peaks.source), quoted(limit.problem));
}

std::string work_json(const Work& work) {
  const bool has_limit = work.has_limit();
  return fmt::format(
      R"("calls":{},"time_ns":{},"flops":{:.6g},"bytes":{:.6g},"tflops":{:.6g},"tbytes":{:.6g},"intensity":{},"bound":{},"limit_ns":{},"share_of_limit":{},"above_limit_ns":{})",
      work.calls, work.time_ns, work.flops, work.bytes, work.tflops(), work.tbytes(), known(work.bytes > 0, work.intensity()),
      !has_limit                  ? "null"
      : work.is_bound_by_memory() ? "\"memory\""
                                  : "\"compute\"",
      known(has_limit, work.limit_ns), known(has_limit, work.share_of_limit()), known(has_limit, work.above_limit_ns()));
}

std::string work_at_limit_json(const WorkAtLimit& row) {
  return fmt::format(R"({{"name":{},"shapes":{},"device":{},"unit":{},{},"explanation":{}}})", quoted(short_name(row.name)),
                     quoted(short_name(row.shapes)), quoted(trace::device_text(row.device)),
                     row.unit ? quoted(trace::compute_unit_name(*row.unit)) : "null", work_json(row.work), quoted(row.explanation));
}

std::string rows_json(const std::vector<WorkAtLimit>& rows, std::size_t most_rows) {
  return list(std::span(rows).first(std::min(rows.size(), most_rows)), work_at_limit_json);
}

std::string step_json(const analyze::StepAtLimit& step) {
  return fmt::format(R"({{"number":{},"duration_ns":{},{},"mfu":{:.6g},"hfu":{:.6g}}})", step.number, step.duration_ns,
                     work_json(step.work), step.mfu, step.hfu);
}

}  // namespace

std::string efficiency_totals_json(const Efficiency& efficiency) {
  return fmt::format(R"("summary":{},"on_device":{},"has_shapes":{},"work_ns":{},"modelled_share":{:.4f},"mfu":{},"hfu":{},"total":{{{}}})",
                     quoted(efficiency.summary()), efficiency.is_on_device, efficiency.has_shapes, efficiency.work_ns,
                     efficiency.modelled_share(), known(efficiency.mfu), known(efficiency.hfu), work_json(efficiency.total));
}

std::string efficiency_json(const Efficiency& efficiency, std::size_t most_rows) {
  const auto& without = efficiency.without_model;
  return fmt::format(R"({{{},"devices":{},"ops":{},"kernels":{},"modules":{},"steps":{},"without_model":{}}})",
                     efficiency_totals_json(efficiency), list(efficiency.devices, device_json), rows_json(efficiency.ops, most_rows),
                     rows_json(efficiency.kernels, most_rows), rows_json(efficiency.modules, most_rows), list(efficiency.steps, step_json),
                     list(std::span(without).first(std::min(without.size(), most_rows)), [](const analyze::WithoutModel& row) {
                       return fmt::format(R"({{"name":{},"calls":{},"time_ns":{}}})", quoted(short_name(row.name)), row.calls, row.time_ns);
                     }));
}

std::string peaks_json(const trace::DevicePeaks& peaks) {
  return fmt::format(
      "{{\"peaks\":[{{\"device\":{},\"host\":{},\"tflops\":{},\"memory_tbytes\":{:.6g},\"cache_mbytes\":{:.6g},\"source\":{}}}]}}\n",
      quoted(peaks.device), quoted(peaks.host), rates_json(peaks), peaks.tbytes, peaks.cache_mbytes, quoted(peaks.source));
}

}  // namespace mindtorch::exporter
