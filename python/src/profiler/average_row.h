// AverageRow: one row of key averages as a Python object, with fields that can be set as torch's can.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/average.h"

namespace mindtorch::python {

struct AverageRow {
  analyze::Average average;
  std::shared_ptr<const analyze::Analysis> analysis;  // where average.first_event and parent are; null for a row made by hand
  bool has_key = true;                                // torch's key is None until something is added
};

// A FunctionEvent or FunctionEventAvg as a row of a table. Throws AssertionFailed for anything else.
analyze::Average row_of(nanobind::handle item);

}  // namespace mindtorch::python
