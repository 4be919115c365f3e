// Lists of events or averages as rows of a table: a sequence that makes them one at a time, or a Python list.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/analyze/table.h"
#include "python/src/profiler/event_sequence.h"

namespace mindtorch::python {

// Of a sequence, and of a list of FunctionEvent and FunctionEventAvg objects; both must outlive the result. Rows of a list need the GIL.
analyze::TableRows table_rows(const EventSequence& events);
analyze::TableRows table_rows(nanobind::handle list);
// All rows at once.
analyze::KeyAverages as_averages(const analyze::TableRows& rows, const analyze::TableContext& context = {});

}  // namespace mindtorch::python
