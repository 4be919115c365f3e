// torch's memory timeline files.
#include "mindtorch/export/html/memory_timeline_writer.h"

#include <array>
#include <vector>

#include "mindtorch/analyze/steps.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter {
namespace {

using analyze::MemoryEntry;
using analyze::MemoryTimeline;

constexpr std::size_t kNumberRoom = JsonCursor::kMaxNumber + 4;

// [[times], [[0, bytes of 8 categories], ...]]
void write_totals(const MemoryTimeline& timeline, Output& out) {
  const auto append = [&](std::string_view before, std::int64_t number) {
    JsonCursor cursor(out.reserve(kNumberRoom));
    out.advance(cursor.bytes(before).number(number).position());
  };
  out.append("[[");
  for (std::size_t i = 0; i < timeline.times_us.size(); ++i) append(i == 0 ? "" : ", ", timeline.times_us[i]);
  out.append("], [");
  for (std::size_t i = 0; i < timeline.sizes.size(); ++i) {
    out.append(i == 0 ? "[" : ", [");
    for (std::size_t c = 0; c < timeline.sizes[i].size(); ++c) append(c == 0 ? "" : ", ", timeline.sizes[i][c]);
    out.append("]");
  }
  out.append("]]");
}

void write_changes(const MemoryTimeline& timeline, Output& out) {
  out.append("[");
  const char* separator = "";
  for (const MemoryEntry& entry : timeline.entries) {
    JsonCursor cursor(out.reserve(4 * kNumberRoom));
    cursor.bytes(separator).literal("[").number(entry.unix_ns).literal(", ").number(static_cast<std::int64_t>(entry.action)).literal(", ");
    cursor.number(entry.bytes).literal(", ").number(static_cast<std::int64_t>(entry.category));
    out.advance(cursor.literal("]").position());
    separator = ", ";
  }
  out.append("]");
}

std::vector<StepMark> step_marks(const analyze::Analysis& analysis) {
  const std::int64_t base_ns = analysis.recording().clock.base_unix_ns;
  std::vector<StepMark> marks;
  for (const analyze::Step& step : analyze::steps(analysis)) marks.push_back({step.number, (base_ns + step.start_ns) / 1000});
  return marks;
}

}  // namespace

void write_memory_timeline(const analyze::Analysis& analysis, trace::Device device, const std::string& path) {
  const MemoryTimeline timeline = analyze::memory_timeline(analysis, device);
  Output out(path);
  if (path.ends_with(".html")) {
    out.append(memory_timeline_page(timeline, step_marks(analysis)));
  } else if (path.ends_with("raw.json.gz")) {
    write_changes(timeline, out);
  } else {
    write_totals(timeline, out);
  }
  out.commit();
}

trace::Device default_memory_device(const trace::Recording& recording) {
  trace::Device chosen;
  for (const trace::Device device : analyze::memory_devices(recording)) {
    if (chosen.type == trace::DeviceType::kCpu) chosen = device;
  }
  return chosen;
}

trace::Device memory_device(const trace::Recording& recording, std::optional<std::string_view> name) {
  return name ? trace::parse_device(*name) : default_memory_device(recording);
}

}  // namespace mindtorch::exporter
