// The memory timeline as files: torch's three, and a page that draws itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/memory_timeline.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::exporter {

// By suffix, as torch: ".html" a page; "raw.json.gz" every change as [unix ns, action, bytes, category]; ".json.gz" and anything else
// [times in us, bytes of each category at each time]. Throws IoError.
MINDTORCH_EXPORT void write_memory_timeline(const analyze::Analysis& analysis, trace::Device device, const std::string& path);

// Where a step of the program begins.
struct StepMark {
  std::int64_t number = 0;
  std::int64_t unix_us = 0;
};

// The page: one file, no network, the picture is there without a script; the script tells the values under the pointer. Marks are in order
// of time.
MINDTORCH_EXPORT std::string memory_timeline_page(const analyze::MemoryTimeline& timeline, std::span<const StepMark> marks = {});

// Returns the device that torch's export_memory_timeline() shows by default: the first accelerator that reported memory, else the CPU.
MINDTORCH_EXPORT trace::Device default_memory_device(const trace::Recording& recording);

// Returns the device that `name` names ("cpu", "npu:0", "cuda:1"), and without a name the default. Throws InvalidArgument for any other
// text.
MINDTORCH_EXPORT trace::Device memory_device(const trace::Recording& recording, std::optional<std::string_view> name);

}  // namespace mindtorch::exporter
