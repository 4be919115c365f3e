// Averages, events and counters, streamed into files.
#include "mindtorch/export/tabular/tabular_writer.h"

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/tabular/tabular.h"
#include "mindtorch/export/tabular/tabular_text.h"

namespace mindtorch::exporter {
namespace {

// `write` is given the sink that fills the file.
template <class Write>
void write_file(const std::string& path, Write write) {
  Output out(path);
  write([&](std::string_view text) { out.append(text); });
  out.commit();
}

}  // namespace

void write_averages_json(const trace::Recording& recording, const std::string& path) {
  const analyze::KeyAverages averages = analyze::key_averages(analyze::Analysis(recording));
  write_file(path, [&](const TextSink& sink) { exporter::write_averages_json(averages, sink); });
}

void write_averages_csv(const trace::Recording& recording, const std::string& path) {
  const analyze::KeyAverages averages = analyze::key_averages(analyze::Analysis(recording));
  write_file(path, [&](const TextSink& sink) { exporter::write_averages_csv(averages, sink); });
}

void write_events_json(const trace::Recording& recording, const std::string& path) {
  const analyze::Analysis analysis(recording);
  write_file(path, [&](const TextSink& sink) { exporter::write_events_json(analysis.events(), sink); });
}

void write_events_csv(const trace::Recording& recording, const std::string& path) {
  const analyze::Analysis analysis(recording);
  write_file(path, [&](const TextSink& sink) { exporter::write_events_csv(analysis.events(), sink); });
}

void write_counters_csv(const trace::Recording& recording, const std::string& path) {
  const std::vector<analyze::Counter> counters = analyze::counters(analyze::Analysis(recording));
  write_file(path, [&](const TextSink& sink) { exporter::write_counters_csv(counters, sink); });
}

void write_samples_csv(const trace::Recording& recording, const std::string& path) {
  write_file(path, [&](const TextSink& sink) { exporter::write_samples_csv(recording, sink); });
}

void write_averages_plain_csv(const trace::Recording& recording, const std::string& path) {
  const PlainCsv plain;
  write_averages_csv(recording, path);
}

void write_events_plain_csv(const trace::Recording& recording, const std::string& path) {
  const PlainCsv plain;
  write_events_csv(recording, path);
}

void write_counters_plain_csv(const trace::Recording& recording, const std::string& path) {
  const PlainCsv plain;
  write_counters_csv(recording, path);
}

void write_samples_plain_csv(const trace::Recording& recording, const std::string& path) {
  const PlainCsv plain;
  write_samples_csv(recording, path);
}

}  // namespace mindtorch::exporter
