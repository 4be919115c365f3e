// The list of formats.
#include "mindtorch/export/export_trace.h"

#include <algorithm>

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
  void (*write)(const trace::Recording& recording, const std::string& path);
};

void write_recording(const trace::Recording& recording, const std::string& path) { trace::save(recording, path); }

void write_flame_graph_of(const trace::Recording& recording, const std::string& path) {
  write_flame_graph(analyze::Analysis(recording), path);
}

void write_collapsed_stacks_of(const trace::Recording& recording, const std::string& path) {
  write_collapsed_stacks(analyze::Analysis(recording), path);
}

void write_execution_trace(const trace::Recording& recording, const std::string& path) { write_chakra_trace(recording, path); }

void write_report_of(const trace::Recording& recording, const std::string& path) {
  const analyze::Analysis analysis(recording);
  write_report(analysis, analyze::make_report(analysis), path);
}

const std::vector<Writer>& writers() {
  static const std::vector<Writer> all = {
      {{".json", "Chrome trace"}, write_chrome_trace},
      {{".json.gz", "Chrome trace, compressed"}, write_chrome_trace},
      {{".pftrace", "Perfetto trace"}, write_perfetto_trace},
      {{".pftrace.gz", "Perfetto trace, compressed"}, write_perfetto_trace},
      {{".speedscope.json", "speedscope profile"}, write_speedscope},
      {{".speedscope.json.gz", "speedscope profile, compressed"}, write_speedscope},
      {{".et.json", "Chakra execution trace"}, write_execution_trace},
      {{".et.json.gz", "Chakra execution trace, compressed"}, write_execution_trace},
      {{".svg", "flame graph"}, write_flame_graph_of},
      {{".collapsed", "collapsed stacks"}, write_collapsed_stacks_of},
      {{".averages.json", "averages by name"}, write_averages_json},
      {{".averages.csv", "averages by name"}, write_averages_csv},
      {{".events.json", "list of events"}, write_events_json},
      {{".events.csv", "list of events"}, write_events_csv},
      {{".counters.csv", "counters over time"}, write_counters_csv},
      {{".report.html", "report, one page for a browser"}, write_report_of},
      {{".mtrec", "recording"}, write_recording},
  };
  return all;
}

std::string list_of_suffixes() {
  std::string list;
  for (const Writer& writer : writers()) list += fmt::format("{}{}", list.empty() ? "" : ", ", writer.format.suffix);
  return list;
}

}  // namespace

const std::vector<TraceFormat>& formats() {
  static const std::vector<TraceFormat> all = [] {
    std::vector<TraceFormat> list;
    for (const Writer& writer : writers()) list.push_back(writer.format);
    return list;
  }();
  return all;
}

void export_trace(const trace::Recording& recording, const std::string& path) {
  const Writer* chosen = nullptr;
  for (const Writer& writer : writers()) {
    const bool fits = path.ends_with(writer.format.suffix);
    if (fits && (chosen == nullptr || writer.format.suffix.size() > chosen->format.suffix.size())) chosen = &writer;
  }
  if (chosen == nullptr)
    throw_error<InvalidArgument>("export.export_trace", "no format for '{}'; the path must end in one of: {}", path, list_of_suffixes());
  chosen->write(recording, path);
}

}  // namespace mindtorch::exporter
