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

// A part of the step on the thread of the loop, in both runs.
struct DiffPart {
  PartKey key;
  WorkChange change = WorkChange::kNone;
  Shift time;              // ns per step
  double mean_before = 0;  // ns, of the steps that are not unusual
  double mean_after = 0;
  std::string line;                // of the user's code, in the second run if it has the part; empty if it is not known
  std::vector<std::string> notes;  // what else changed: "2 → 4 calls", "float32 → float64"

  double mean_change() const { return mean_after - mean_before; }
};

struct Diff {
  Shift step_time;                   // ns
  Shift device_time;                 // ns of device work per step
  std::vector<double> steps_before;  // ns of each step
  std::vector<double> steps_after;
  double confidence = 0.99;
  bool has_steps = true;      // false: a run in which nothing repeats counts as one step
  std::string unit = "step";  // what a step is called
  double mean_before = 0;     // ns, of all steps
  double mean_after = 0;
  // What the unusual steps of each run, the tenth that is slowest and the tenth that is fastest, add to the mean of the others.
  double unusual_before = 0;
  double unusual_after = 0;
  // Largest change of the mean first. Every part of both runs is listed: with what unusual steps add, the changes of their means add up to
  // the change of the mean step.
  std::vector<DiffPart> parts;
  // Largest change of time per step first. Every kind of work of both runs is listed, on all threads and devices.
  std::vector<DiffRow> rows;

  double mean_change() const { return mean_after - mean_before; }
  double unusual_change() const { return unusual_after - unusual_before; }
  // The change of the mean step that parts explain whose change is more than noise.
  MINDTORCH_EXPORT double explained_ns() const;
};

// The chance that any row of two equal runs is called slower or faster is at most 1 - confidence: the level of each row is divided by the
// number of rows.
MINDTORCH_EXPORT Diff diff_runs(const StepProfile& before, const StepProfile& after, double confidence = 0.99);

}  // namespace mindtorch::analyze
