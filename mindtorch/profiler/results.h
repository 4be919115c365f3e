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
  bool accumulate_;
  std::map<std::string, std::string> metadata_;
  std::shared_ptr<trace::Recording> last_;
  std::shared_ptr<trace::Recording> all_;  // the same as last_ while there is one cycle
  mutable std::shared_ptr<const analyze::Analysis> analysis_;
};

}  // namespace mindtorch::profiler
