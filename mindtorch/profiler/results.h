// Results: what a profile has recorded so far: its last cycle, and all cycles together if they are accumulated.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

class Results {
 public:
  explicit Results(bool accumulate) : accumulate_(accumulate) {}

  // Takes over a finished cycle. What was handed out before stays as it is.
  void keep(trace::Recording recording);
  // As keep(), of a cycle whose events went to a file: they are read when they are first asked for, at once if cycles are accumulated. The
  // calls that ask then throw what trace::load() throws.
  void keep_spilled(trace::Recording recording, std::string path);
  // The file is about to be written anew: events of it that nobody has asked for are lost.
  void forget_spilled() { spilled_to_.clear(); }
  // A value of the metadata of what is there and of every cycle to come. `json` must be valid JSON.
  void set_metadata(const std::string& key, const std::string& json);

  bool empty() const noexcept { return last_ == nullptr; }
  // The last cycle; an empty recording before the first.
  std::shared_ptr<const trace::Recording> last_cycle() const;
  // All cycles if they are accumulated, else the last.
  std::shared_ptr<const trace::Recording> events() const;
  // What can be asked about events(), made when first asked for and kept until the next cycle.
  std::shared_ptr<const analyze::Analysis> analysis() const;

 private:
  void read_spilled() const;

  bool accumulate_;
  std::map<std::string, std::string> metadata_;
  mutable std::string spilled_to_;  // where the events of last_ still are; empty: in last_
  mutable std::shared_ptr<trace::Recording> last_;
  mutable std::shared_ptr<trace::Recording> all_;  // the same as last_ while there is one cycle
  mutable std::shared_ptr<const analyze::Analysis> analysis_;
};

}  // namespace mindtorch::profiler
