// Chrome traces that are a plain list of events.
#include "mindtorch/export/chrome/list_writer.h"

#include <fmt/format.h>

#include "mindtorch/base/text.h"
#include "mindtorch/export/output.h"

namespace mindtorch::exporter {
namespace {

std::string event_json(const ListedEvent& event) {
  return fmt::format(R"({{"name": {}, "ph": "X", "ts": {:.3f}, "dur": {:.3f}, "tid": {}, "pid": "CPU functions", "args": {{}}}})",
                     json_quoted(event.name), event.start_us, event.duration_us, event.thread);
}

// An average has no place in time: rows lie one after the other, each as long as it took in total.
std::string average_json(const analyze::Average& row, double start_us, std::int64_t pid) {
  return fmt::format(
      R"({{"name": {}, "ph": "X", "cat": "average", "ts": {:.3f}, "dur": {:.3f}, "tid": 0, "pid": {}, "args": {{"count": {}, )"
      R"("self_cpu_time_total": {:.3f}, "cpu_time_total": {:.3f}, "self_device_time_total": {:.3f}, "device_time_total": {:.3f}}}}})",
      json_quoted(row.key), start_us, row.cpu_time_total(), pid, row.count, row.self_cpu_time_total(), row.cpu_time_total(),
      row.self_device_time_total(), row.device_time_total());
}

// An arrow begins at the event for each piece of device work it launched.
std::string arrow_json(const ListedEvent& event, std::size_t id, std::string_view device) {
  return fmt::format(
      R"({{"name": {}, "ph": "s", "ts": {:.3f}, "tid": {}, "pid": "CPU functions", "id": {}, "cat": "cpu_to_{}", "args": {{}}}})",
      json_quoted(event.name), event.start_us, event.thread, id, device);
}

}  // namespace

ListedEvent listed(const analyze::FunctionEvent& event) {
  return {.name = std::string(event.trace_name()),
          .start_us = event.start_us(),
          .duration_us = static_cast<double>(event.duration_ns()) / 1000.0,
          .thread = std::to_string(event.thread()),
          .kernels = event.kernels().size()};
}

ListWriter::ListWriter(const std::string& path) : out_(path) { out_.append("["); }

void ListWriter::item(std::string_view json) {
  if (!first_) out_.append(", ");
  first_ = false;
  out_.append(json);
}

void ListWriter::add(const ListedEvent& event, std::string_view device) {
  item(event_json(event));
  for (std::size_t arrows = event.kernels; arrows > 0; --arrows) item(arrow_json(event, next_arrow_++, device));
}

void ListWriter::add(const analyze::Average& row, std::int64_t pid) {
  item(average_json(row, next_start_us_, pid));
  next_start_us_ += row.cpu_time_total();
}

void ListWriter::commit() {
  out_.append("]");
  out_.commit();
}

}  // namespace mindtorch::exporter
