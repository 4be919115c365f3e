// From the parts of a Chrome trace to a Recording: rows become tracks, times a timeline, the header options and metadata.
#pragma once

#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest::chrome {

// Throws trace::BudgetExceeded.
trace::Recording assemble(TracePart&& part, trace::MemoryBudget& budget);

}  // namespace mindtorch::ingest::chrome
