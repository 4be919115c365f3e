// Puts a Chrome trace together: header, events, names of processes and rows, the window of the recording.
#include "mindtorch/export/chrome/chrome_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "mindtorch/base/text.h"
#include "mindtorch/export/chrome/counter_events.h"
#include "mindtorch/export/chrome/events.h"
#include "mindtorch/export/chrome/header.h"
#include "mindtorch/export/chrome/sample_events.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/export/layout.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::exporter {
namespace {

// As in torch's traces, the window ends after everything in it. Readers that add times and durations as binary fractions are off by some
// nanoseconds, so that an equal end would not do.
constexpr std::int64_t kAfterTheEndNs = 1000;

std::string micros_text(std::int64_t ns) {
  std::array<char, JsonCursor::kMaxMicros + 1> text;
  JsonCursor cursor(text.data());
  return {text.data(), cursor.micros(ns).position()};
}

// Names of processes and rows, stamped with the start of the recording as torch stamps them.
void append_names(Output& out, const Layout& layout, std::int64_t start_ns) {
  const std::string start = micros_text(start_ns);
  const auto append_metadata = [&](std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view key, std::string_view json) {
    out.append(fmt::format(R"({{"ph":"M","name":"{}","ts":{},"pid":{},"tid":{},"args":{{"{}":{}}}}},)"
                           "\n",
                           what, start, pid, tid, key, json));
  };
  for (const Process& process : layout.processes) {
    append_metadata("process_name", process.pid, 0, "name", json_quoted(process.name));
    append_metadata("process_labels", process.pid, 0, "labels", json_quoted(process.label));
    append_metadata("process_sort_index", process.pid, 0, "sort_index", fmt::format("{}", process.sort_index));
  }
  // A lane comes right below its track.
  std::vector<std::uint32_t> lanes_above(layout.rows.size());
  for (const Row& row : layout.rows) {
    const std::int64_t pid = layout.processes[row.process].pid;
    append_metadata(trace::chrome_format::kRowName, pid, row.tid, "name", json_quoted(row.name));
    append_metadata("thread_sort_index", pid, row.tid, "sort_index", fmt::format("{}", (row.track + 1) * 64 + std::min(row.lane, 63U)));
  }
}

// The whole recording as one span, which is also the first complete event of an otherwise empty trace.
void append_span(Output& out, std::int64_t start_ns, std::int64_t duration_ns) {
  out.append(fmt::format(R"j({{"ph":"X","cat":"{}","ts":{},"dur":{},"pid":"Spans","tid":"PyTorch Profiler","name":"PyTorch Profiler (0)",)j"
                         R"("args":{{"Op count":0}}}},)"
                         "\n",
                         trace::chrome_format::kSpanCategory, micros_text(start_ns), micros_text(duration_ns)));
}

void append_window(Output& out, std::int64_t start_ns, std::int64_t end_ns) {
  out.append(fmt::format(R"({{"ph":"M","name":"process_sort_index","ts":{},"pid":"Spans","tid":0,"args":{{"sort_index":536870912}}}},)"
                         "\n"
                         R"({{"ph":"i","name":"{}","s":"g","pid":"Traces","tid":"Trace PyTorch Profiler","ts":{}}},)"
                         "\n"
                         R"({{"ph":"i","name":"{}","s":"g","pid":"","tid":"","ts":{}}})",
                         micros_text(start_ns), trace::chrome_format::kWindowStart, micros_text(start_ns), trace::chrome_format::kWindowEnd,
                         micros_text(end_ns)));
}

// First and last moment of the recording, wide enough for every event and sample.
std::pair<std::int64_t, std::int64_t> window(const trace::Recording& recording) {
  std::int64_t start = recording.clock.start_ns;
  std::int64_t end = std::max(recording.clock.end_ns, start);
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
    start = std::min(start, recording.events.start_ns[i]);
    end = std::max(end, recording.events.end_ns(i));
  }
  for (const trace::CounterTrack& counter : recording.counters) {
    if (counter.size() == 0) continue;
    start = std::min(start, counter.times_ns.front());
    end = std::max(end, counter.times_ns.back());
  }
  return {start, end};
}

}  // namespace

void write_chrome_trace(const trace::Recording& recording, std::string_view trace_name, Output& out) {
  const Layout layout = make_layout(recording);
  const std::int64_t offset = recording.clock.base_unix_ns - chrome::base_time_ns(recording);
  const auto [start, end] = window(recording);
  const analyze::Analysis analysis(recording);
  chrome::EventsWriter events(analysis, layout, offset, out);
  out.append(chrome::header_text(recording, layout, events.devices_known()));
  // The first element is a complete event: the span, where there is no other one. Else it stands where torch has it.
  const bool is_empty =
      std::ranges::all_of(recording.events.kind, [](trace::EventKind kind) { return kind == trace::EventKind::kInstant; });
  if (is_empty) append_span(out, start + offset, end - start);
  events.write_complete_events();
  events.write_instants();
  events.write_memory();
  chrome::append_counters(recording, layout, offset, out);
  chrome::append_samples(recording, layout, offset, out);
  events.write_flows("fwdbwd", forward_backward_flows(recording));
  events.write_flows("ac2g", launch_flows(analysis));
  events.write_flows("collective", collective_flows(recording));
  append_names(out, layout, start + offset);
  if (!is_empty) append_span(out, start + offset, end - start);
  append_window(out, start + offset, end + offset + kAfterTheEndNs);
  out.append(fmt::format("\n],\n\"{}\": {}\n}}\n", trace::chrome_format::header::kTraceName, json_quoted(trace_name)));
}

void write_chrome_trace(const trace::Recording& recording, const std::string& path) {
  Output out(path);
  write_chrome_trace(recording, path, out);
  out.commit();
}

}  // namespace mindtorch::exporter
