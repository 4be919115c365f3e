// Makes a Recording from the parts of a Chrome trace: rows become tracks, times become a timeline, and the header becomes options and
// metadata.
#pragma once

#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest::chrome {

// Throws trace::BudgetExceeded.
trace::Recording assemble(TracePart&& part, trace::MemoryBudget& budget);

}  // namespace mindtorch::ingest::chrome
