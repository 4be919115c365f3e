// Labels of functions: made from the parts of a frame, or from torch's name of a call.
#include "mindtorch/analyze/frame_labels.h"

#include <fmt/core.h>

#include <algorithm>

namespace mindtorch::analyze {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view shown_file(std::string_view file) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (const std::size_t at = file.rfind(folder); at != std::string_view::npos) return file.substr(at + folder.size());
  return file;
}

std::string call_name(std::string_view file, std::uint32_t line, std::string_view function) {
  return fmt::format("{}({}): {}", file, line, function);
}

std::string frame_label(const trace::Recording& recording, const trace::Frame& frame) {
  return fmt::format("{} ({}:{})", recording.names[frame.function], shown_file(recording.names[frame.file]), frame.line);
}

std::string call_label(std::string_view name) {
  constexpr std::string_view kAfterLine = "): ";
  const std::size_t after = name.find(kAfterLine);
  const std::size_t before = after == std::string_view::npos ? after : name.rfind('(', after);
  if (before == std::string_view::npos || before == 0) return std::string(name);
  const std::string_view line = name.substr(before + 1, after - before - 1);
  if (line.empty() || !std::ranges::all_of(line, is_digit)) return std::string(name);
  return fmt::format("{} ({}:{})", name.substr(after + kAfterLine.size()), name.substr(0, before), line);
}

}  // namespace mindtorch::analyze
