// Diff: the changes between two runs of a program, as opposed to noise.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/analyze/diff/shift.h"
#include "mindtorch/analyze/diff/step_profile.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

enum class WorkChange : std::uint8_t {
  kNone,  // no difference beyond noise
  kSlower,
  kFaster,
  kCalls,    // as fast as before, but called more or less often per step
  kNew,      // only in the second run
  kGone,     // only in the first run
  kRenamed,  // gone under one name and new under another, with the same calls under the same parent
  kMoved,    // the same op on another device
};
MINDTORCH_EXPORT std::string_view work_change_name(WorkChange change);  // "slower", "new", ...

struct DiffRow {
  WorkKey key;             // of the second run; of the first where the work is gone
  std::string other_name;  // kRenamed: the name in the first run
  WorkChange change = WorkChange::kNone;
  Shift time;    // ns per step
  Shift calls;   // per step
  Shift memory;  // bytes per step
};

struct Diff {
  Shift step_time;                   // ns
  Shift device_time;                 // ns of device work per step
  std::vector<double> steps_before;  // ns of each step
  std::vector<double> steps_after;
  double confidence = 0.99;
  // Largest change of time per step first. Every kind of work of both runs is listed.
  std::vector<DiffRow> rows;
};

// The chance that any row of two equal runs is called slower or faster is at most 1 - confidence: the level of each row is divided by the
// number of rows.
MINDTORCH_EXPORT Diff diff_runs(const StepProfile& before, const StepProfile& after, double confidence = 0.99);

}  // namespace mindtorch::analyze
