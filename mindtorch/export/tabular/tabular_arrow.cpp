// Averages, events, counters and steps as Arrow tables.
#include "mindtorch/export/tabular/tabular_arrow.h"

#include "mindtorch/export/tabular/arrow_table.h"
#include "mindtorch/export/tabular/tabular_columns.h"

namespace mindtorch::exporter {

void open_events_stream(const trace::RecordedOptions& options, std::size_t size,
                        const std::function<analyze::FunctionEvent(std::size_t)>& event_at, ArrowArrayStream* out) {
  open_arrow_stream(make_arrow_table(event_columns(), size, [&](std::size_t i) { return EventRow{event_at(i), options}; }), out);
}

void open_averages_stream(const std::vector<analyze::Average>& rows, ArrowArrayStream* out) {
  open_arrow_stream(make_arrow_table(average_columns(), rows.size(), [&](std::size_t i) -> const analyze::Average& { return rows[i]; }),
                    out);
}

void open_counters_stream(const std::vector<analyze::Counter>& counters, ArrowArrayStream* out) {
  std::vector<CounterRow> rows;
  for (const analyze::Counter& counter : counters) {
    for (std::size_t at = 0; at < counter.values.size(); ++at) rows.push_back({counter, at});
  }
  open_arrow_stream(make_arrow_table(counter_columns(), rows.size(), [&](std::size_t i) -> const CounterRow& { return rows[i]; }), out);
}

void open_steps_stream(const std::vector<analyze::Step>& steps, ArrowArrayStream* out) {
  open_arrow_stream(make_arrow_table(step_columns(), steps.size(), [&](std::size_t i) -> const analyze::Step& { return steps[i]; }), out);
}

void open_efficiency_stream(const analyze::Efficiency& efficiency, ArrowArrayStream* out) {
  const std::vector<EfficiencyRow> rows = efficiency_rows(efficiency);
  open_arrow_stream(make_arrow_table(efficiency_columns(), rows.size(), [&](std::size_t i) -> const EfficiencyRow& { return rows[i]; }),
                    out);
}

void open_samples_stream(const trace::Recording& recording, ArrowArrayStream* out) {
  const auto row = [&](std::size_t i) { return SampleRow{recording, i}; };
  open_arrow_stream(make_arrow_table(sample_columns(), recording.samples.time_ns.size(), row), out);
}

}  // namespace mindtorch::exporter
