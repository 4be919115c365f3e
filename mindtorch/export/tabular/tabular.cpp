// JSON and CSV from one list of columns each, so that all formats always say the same.
#include "mindtorch/export/tabular/tabular.h"

#include "mindtorch/export/tabular/tabular_columns.h"
#include "mindtorch/export/tabular/tabular_text.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter {
namespace {

using analyze::Average;
using analyze::Events;
using analyze::KeyAverages;

std::string losses_json(const std::vector<trace::Loss>& losses) {
  std::string out = "[";
  for (const trace::Loss& loss : losses) out += (out.size() > 1 ? "," : "") + trace::loss_json(loss);
  return out + "]";
}

template <class Write>
std::string whole(Write write) {
  std::string text;
  write([&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

void write_averages_json(const KeyAverages& averages, const TextSink& sink) {
  PieceWriter out(sink);
  out.text() += "{\"rows\":[";
  for (const Average& row : averages.rows) {
    std::string& text = out.text();
    if (&row != averages.rows.data()) text += ",\n";
    append_object(text, average_columns(), row);
  }
  out.text() += "],\n\"total\":";
  append_object(out.text(), average_columns(), averages.total_average());
  out.text() += ",\n\"losses\":" + losses_json(averages.context.losses) + "}\n";
  out.flush();
}

void write_averages_csv(const KeyAverages& averages, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), average_columns());
  for (const Average& row : averages.rows) append_values(out.text(), average_columns(), row);
  out.flush();
}

void write_events_json(const Events& events, const TextSink& sink) {
  const trace::Recording& recording = events.analysis().recording();
  PieceWriter out(sink);
  out.text() += "{\"events\":[";
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::string& text = out.text();
    if (i > 0) text += ",\n";
    append_object(text, event_columns(), EventRow{events[i], recording.options});
  }
  out.text() += "],\n\"losses\":" + losses_json(recording.losses) + "}\n";
  out.flush();
}

void write_events_csv(const Events& events, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), event_columns());
  for (std::size_t i = 0; i < events.size(); ++i)
    append_values(out.text(), event_columns(), EventRow{events[i], events.analysis().recording().options});
  out.flush();
}

void write_counters_csv(const std::vector<analyze::Counter>& counters, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), counter_columns());
  for (const analyze::Counter& counter : counters) {
    for (std::size_t at = 0; at < counter.values.size(); ++at) append_values(out.text(), counter_columns(), CounterRow{counter, at});
  }
  out.flush();
}

void write_efficiency_csv(const analyze::Efficiency& efficiency, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), efficiency_columns());
  for (const EfficiencyRow& row : efficiency_rows(efficiency)) append_values(out.text(), efficiency_columns(), row);
  out.flush();
}

void write_samples_csv(const trace::Recording& recording, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), sample_columns());
  for (std::size_t at = 0; at < recording.samples.size(); ++at) append_values(out.text(), sample_columns(), SampleRow{recording, at});
  out.flush();
}

std::string averages_json(const KeyAverages& averages) {
  return whole([&](const TextSink& sink) { write_averages_json(averages, sink); });
}
std::string averages_csv(const KeyAverages& averages) {
  return whole([&](const TextSink& sink) { write_averages_csv(averages, sink); });
}
std::string events_json(const Events& events) {
  return whole([&](const TextSink& sink) { write_events_json(events, sink); });
}
std::string events_csv(const Events& events) {
  return whole([&](const TextSink& sink) { write_events_csv(events, sink); });
}

}  // namespace mindtorch::exporter
