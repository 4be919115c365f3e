// Times by the places of a program: modules and source lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/work_tables.h"

namespace mindtorch::analyze {

// Calls of modules. The time of a module itself is its time without the modules that it calls. Most time first. O(events).
std::vector<OpRow> module_rows(const Analysis& analysis, std::size_t most_rows);

// The innermost line of the user's own code for each op, "file:line:function". Most time first. O(events).
std::vector<OpRow> line_rows(const Analysis& analysis, std::size_t most_rows);
// The same from samples and recorded calls, for recordings without the stacks of ops: the time that threads were seen at each line, and the
// device work launched there. Workers of loaders are left out, because they are other processes.
std::vector<OpRow> seen_line_rows(const Analysis& analysis, const Phases& phases, std::size_t most_rows);

// The lines of these events, most time first; at most `limit`.
std::vector<std::string> lines_of(const Analysis& analysis, const std::vector<EventIndex>& events, std::size_t limit);

// The lines of the ops that launch the device work whose name is meant, most device time first; at most `limit`.
std::vector<std::string> lines_launching(const Analysis& analysis, bool (*is_meant)(std::string_view kernel), std::size_t limit);

}  // namespace mindtorch::analyze
