// Place tables: ops told apart by more than their name, by the shapes of their arguments, the module or the line around them.
#pragma once

#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/analyze/report/work_tables.h"

namespace mindtorch::analyze {

enum class OpPlace : std::uint8_t {
  kShapes,  // "[[32, 64], [64, 64]]"
  kModule,  // the innermost module around the call
  kLine,    // the innermost line of the user's own code, "file:line:function"
};

// Ops and scopes by name and place, those with most time first; OpRow::place names the place. Calls without such a place are left out, so
// the result is empty if the recording has none. O(events).
std::vector<OpRow> rows_by_place(const Analysis& analysis, const Phases& phases, OpPlace place, std::size_t most_rows);

}  // namespace mindtorch::analyze
