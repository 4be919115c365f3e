// Collapsed stacks as text.
#include "mindtorch/export/stacks/stacks_writer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "mindtorch/analyze/stacks.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/stacks/call_paths.h"

namespace mindtorch::exporter {

void write_collapsed_stacks(const analyze::Analysis& analysis, const std::string& path, std::string_view metric) {
  const CallPaths paths = call_paths(analysis, metric);
  std::vector<std::string> texts;
  for (CallPaths::Frame frame = 0; frame < paths.frame_count(); ++frame) texts.push_back(analyze::plain_frame(paths.text(frame)));
  std::vector<CallPaths::Frame> frames;
  Output out(path);
  for (const CallPaths::Path& end : paths.paths()) {
    if (end.weight_ns <= 0) continue;
    frames.clear();
    for (const CallPaths::Path* at = &end; at->depth > 0; at = &paths.paths()[at->above]) frames.push_back(at->frame);
    std::string_view separator = "";
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      out.append(std::exchange(separator, ";"));
      out.append(texts[*frame]);
    }
    out.append(fmt::format(" {}\n", analyze::stack_weight(end.weight_ns)));
  }
  out.commit();
}

void write_recorded_stacks(const analyze::Analysis& analysis, const std::string& path, std::string_view metric) {
  write_output(path, analyze::collapsed_text(analyze::collapsed_stacks(analysis, metric)));
}

}  // namespace mindtorch::exporter
