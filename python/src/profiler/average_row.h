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
  // Parent and children that Python has set, or those of hand-made events. Null: they are in the analysis.
  nanobind::object cpu_parent;
  nanobind::object cpu_children;

  nanobind::object parent() const;
  nanobind::object children() const;
  void set_parent(const nanobind::object& parent);
  // The row's parent and children are those of `event` (a FunctionEvent or FunctionEventAvg), from which it has its identity.
  void take_relations(nanobind::handle event);
};

// torch's attributes of a row, in torch's order; null is the last.
extern const char* const kRowAttributes[];
// Shows the references of a row to the garbage collector, and its attributes as `__dict__`.
PyType_Slot* average_row_slots();

// A FunctionEvent or FunctionEventAvg as a row of a table. Throws AssertionFailed for anything else.
analyze::Average row_of(nanobind::handle item);

}  // namespace mindtorch::python
