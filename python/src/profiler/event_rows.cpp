// Rows from sequences and lists.
#include "python/src/profiler/event_rows.h"

#include "python/src/profiler/average_row.h"
#include "python/src/profiler/event_handle.h"

namespace mindtorch::python {
analyze::TableRows table_rows(const EventSequence& events) {
  return {events.size(), [&events](std::size_t i) { return events[i].as_row(); }, "events", "FunctionEvent"};
}

analyze::TableRows table_rows(nb::handle list) {
  const std::size_t size = nb::len(list);
  const bool of_events = size > 0 && !nb::isinstance<AverageRow>(list[0]);
  return {size, [list](std::size_t i) { return row_of(list[i]); }, of_events ? "events" : "keys",
          of_events ? "FunctionEvent" : "FunctionEventAvg"};
}

analyze::KeyAverages as_averages(const analyze::TableRows& rows, const analyze::TableContext& context) {
  analyze::KeyAverages averages{{}, context};
  averages.rows.reserve(rows.size);
  for (std::size_t i = 0; i < rows.size; ++i) averages.rows.push_back(rows.row(i));
  return averages;
}

}  // namespace mindtorch::python
