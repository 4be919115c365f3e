// The list of formats.
#include "mindtorch/export/export_trace.h"

#include <mutex>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/export/chakra/chakra_writer.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/export/perfetto/perfetto_writer.h"
#include "mindtorch/export/report/report_writer.h"
#include "mindtorch/export/speedscope/speedscope_writer.h"
#include "mindtorch/export/stacks/stacks_writer.h"
#include "mindtorch/export/tabular/tabular_writer.h"
#include "mindtorch/trace/file.h"

namespace mindtorch::exporter {
namespace {

struct Writer {
  TraceFormat format;
  TraceWriter write;
};

// Writers that take a recording need no analysis of it.
TraceWriter of_recording(void (*write)(const trace::Recording&, const std::string&)) {
  return [write](const analyze::Analysis& analysis, const std::string& path) { write(analysis.recording(), path); };
}

void write_recording(const trace::Recording& recording, const std::string& path) { trace::save(recording, path); }

void write_flame_graph_of(const analyze::Analysis& analysis, const std::string& path) { write_flame_graph(analysis, path); }

void write_stacks_of(const analyze::Analysis& analysis, const std::string& path) { write_collapsed_stacks(analysis, path); }

void write_execution_trace(const trace::Recording& recording, const std::string& path) { write_chakra_trace(recording, path); }

void write_report_of(const analyze::Analysis& analysis, const std::string& path) {
  write_report(analysis, analyze::make_report(analysis), path);
}

// The list of formats and the mutex that guards it.
struct Writers {
  std::mutex mutex;
  std::vector<Writer> all = {
      {{".json", "Chrome trace"}, of_recording(write_chrome_trace)},
      {{".json.gz", "Chrome trace, compressed"}, of_recording(write_chrome_trace)},
      {{".pftrace", "Perfetto trace"}, of_recording(write_perfetto_trace)},
      {{".pftrace.gz", "Perfetto trace, compressed"}, of_recording(write_perfetto_trace)},
      {{".speedscope.json", "speedscope profile"}, of_recording(write_speedscope)},
      {{".speedscope.json.gz", "speedscope profile, compressed"}, of_recording(write_speedscope)},
      {{".et.json", "Chakra execution trace"}, of_recording(write_execution_trace)},
      {{".et.json.gz", "Chakra execution trace, compressed"}, of_recording(write_execution_trace)},
      {{".svg", "flame graph"}, write_flame_graph_of},
      {{".collapsed", "collapsed stacks"}, write_stacks_of},
      {{".averages.json", "averages by name"}, of_recording(write_averages_json)},
      {{".averages.csv", "averages by name"}, of_recording(write_averages_csv)},
      {{".averages.plain.csv", "averages by name, texts as they are"}, of_recording(write_averages_plain_csv)},
      {{".events.json", "list of events"}, of_recording(write_events_json)},
      {{".events.csv", "list of events"}, of_recording(write_events_csv)},
      {{".events.plain.csv", "list of events, texts as they are"}, of_recording(write_events_plain_csv)},
      {{".counters.csv", "counters over time"}, of_recording(write_counters_csv)},
      {{".counters.plain.csv", "counters over time, texts as they are"}, of_recording(write_counters_plain_csv)},
      {{".samples.csv", "samples of threads"}, of_recording(write_samples_csv)},
      {{".samples.plain.csv", "samples of threads, texts as they are"}, of_recording(write_samples_plain_csv)},
      {{".report.html", "report, one page for a browser"}, write_report_of},
      {{".mtrec", "recording"}, of_recording(write_recording)},
  };
};

Writers& writers() {
  static Writers writers;
  return writers;
}

std::string list_of_suffixes() {
  std::string list;
  for (const TraceFormat& format : formats()) list += fmt::format("{}{}", list.empty() ? "" : ", ", format.suffix);
  return list;
}

TraceWriter writer_for(const std::string& path) {
  const std::lock_guard lock(writers().mutex);
  const Writer* chosen = nullptr;
  for (const Writer& writer : writers().all) {
    const bool fits = path.ends_with(writer.format.suffix);
    if (fits && (chosen == nullptr || writer.format.suffix.size() > chosen->format.suffix.size())) chosen = &writer;
  }
  return chosen == nullptr ? TraceWriter() : chosen->write;
}

}  // namespace

std::vector<TraceFormat> formats() {
  const std::lock_guard lock(writers().mutex);
  std::vector<TraceFormat> list;
  for (const Writer& writer : writers().all) list.push_back(writer.format);
  return list;
}

void add_format(const TraceFormat& format, TraceWriter write) {
  const std::lock_guard lock(writers().mutex);
  std::erase_if(writers().all, [&](const Writer& writer) { return writer.format.suffix == format.suffix; });
  writers().all.push_back({format, std::move(write)});
}

void export_trace(const analyze::Analysis& analysis, const std::string& path) {
  const TraceWriter write = writer_for(path);
  if (!write)
    throw_error<InvalidArgument>("export.export_trace", "no format for '{}'; the path must end in one of: {}", path, list_of_suffixes());
  write(analysis, path);
}

void export_trace(const trace::Recording& recording, const std::string& path) { export_trace(analyze::Analysis(recording), path); }

void export_chrome_trace(const trace::Recording& recording, const std::string& path) {
  const bool is_perfetto = path.ends_with(".pftrace") || path.ends_with(".pftrace.gz");
  is_perfetto ? write_perfetto_trace(recording, path) : write_chrome_trace(recording, path);
}

}  // namespace mindtorch::exporter
