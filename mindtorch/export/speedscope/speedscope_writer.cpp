// Frames once, then an opening and a closing event for each interval.
#include "mindtorch/export/speedscope/speedscope_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mindtorch/base/text.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/row_walk.h"

namespace mindtorch::exporter {
namespace {

using trace::EventIndex;

constexpr std::size_t kEventRoom = 96;

void append_frames(const trace::Recording& recording, Output& out) {
  const char* separator = "";
  for (const std::string& name : recording.names) {
    out.append(fmt::format("{}{{\"name\":{}}}", separator, json_quoted(name)));
    separator = ",\n";
  }
}

// First and last time of the recording: all profiles share one axis.
std::pair<std::int64_t, std::int64_t> axis(const trace::Recording& recording) {
  std::int64_t first = recording.clock.start_ns, last = std::max(first, recording.clock.end_ns);
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    first = std::min(first, recording.events.start_ns[i]);
    last = std::max(last, recording.events.end_ns(i));
  }
  return {first, last};
}

void append_events(const trace::Recording& recording, const Layout& layout, std::uint32_t row, std::int64_t first_ns, Output& out) {
  bool is_first = true;
  const auto append = [&](bool opens, std::int64_t time, EventIndex event) {
    JsonCursor cursor(out.reserve(kEventRoom));
    if (!is_first) cursor.literal(",\n");
    is_first = false;
    cursor.literal(R"({"type":")").bytes(opens ? "O" : "C").literal(R"(","at":)").number(time - first_ns);
    out.advance(cursor.literal(R"(,"frame":)").number(std::uint64_t{recording.events.name[event]}).literal("}").position());
  };
  walk_row(
      recording, layout, row, [&](EventIndex i) { append(true, recording.events.start_ns[i], i); },
      [&](EventIndex i) { append(false, recording.events.end_ns(i), i); }, [](EventIndex) {});
}

}  // namespace

void write_speedscope(const trace::Recording& recording, const std::string& path) {
  Output out(path);
  const Layout layout = make_layout(recording);
  const auto [first, last] = axis(recording);
  out.append("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"mindtorch\",\n");
  out.append(fmt::format("\"name\":{},\n\"shared\":{{\"frames\":[\n", json_quoted(recording.trace_id)));
  append_frames(recording, out);
  out.append("\n]},\n\"profiles\":[\n");
  for (std::uint32_t r = 0; r < layout.rows.size(); ++r) {
    const std::string name = fmt::format("{}: {}", layout.processes[layout.rows[r].process].name, layout.rows[r].name);
    out.append(fmt::format("{}{{\"type\":\"evented\",\"name\":{},\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":{},\"events\":[\n",
                           r == 0 ? "" : ",\n", json_quoted(name), last - first));
    append_events(recording, layout, r, first, out);
    out.append("\n]}");
  }
  out.append("\n]}\n");
  out.commit();
}

}  // namespace mindtorch::exporter
