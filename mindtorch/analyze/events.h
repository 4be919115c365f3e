// Events: torch's list of events, in torch's order, without an object for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/table.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The events that torch lists, sorted by start, and longer events first when starts are equal. Merged calls, hidden names and instants are
// left out. Memory reports outside of any event are events named "[memory]".
class MINDTORCH_EXPORT Events {
 public:
  // O(events * log tracks), 4 bytes per event. Use Analysis::events().
  explicit Events(const Analysis& analysis);

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  FunctionEvent operator[](std::size_t position) const { return {*analysis_, items_[position]}; }
  const Analysis& analysis() const { return *analysis_; }

  std::string table(const TableOptions& options = {}) const;

 private:
  const Analysis* analysis_;
  std::vector<std::uint32_t> items_;
};

}  // namespace mindtorch::analyze
