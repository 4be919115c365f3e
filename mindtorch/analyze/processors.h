// Processors: how they were used while a program was recorded, as `mtprof run` tells it in the metadata of a recording.
#pragma once

#include <optional>

#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

struct Processors {
  double own = 0, others = 0;     // shares of all processors that the program may use: used by the program and by other programs
  std::optional<double> missing;  // part of the time for which the loop was ready to run without a processor

  // Other programs had so much that whoever waits for a processor, a thread or a process waits longer than it would alone.
  bool are_busy() const { return others >= 0.25 && own + others >= 0.75; }
  // Who waits for a processor waits for other programs as much as for other threads of this one, or more.
  bool are_taken_by_others() const { return are_busy() && 2 * others > own; }
};

// A recording that does not say what other programs had is taken to be of a machine without other programs.
Processors processors_of(const trace::Recording& recording);

}  // namespace mindtorch::analyze
