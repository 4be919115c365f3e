// ModelledCalls: the calls of a recording that have a cost. Work is counted once: at the outermost op that has a model of its own, and not
// at one that only calls others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/efficiency/cost_model.h"

namespace mindtorch::analyze {

struct ModelledCall {
  EventIndex event = kNoEvent;
  std::shared_ptr<const OpCost> cost;  // calls with equal arguments share it
  std::uint32_t shapes = 0;            // the same for equal input shapes
  NameId module = 0;                   // the innermost module around it, or around its forward op; 0: none
  bool is_recomputed = false;          // a forward op that the backward pass runs again (activation checkpointing)
};

class ModelledCalls {
 public:
  // O(events + words of arguments); 4 bytes per event.
  explicit ModelledCalls(const Analysis& analysis);

  // In order of events.
  const std::vector<ModelledCall>& all() const { return calls_; }
  // The index of the call that an event is, or lies in; 0xFFFFFFFF if there is none.
  std::uint32_t around(EventIndex event) const { return around_[event]; }

 private:
  void find_calls(const Analysis& analysis);
  void find_modules(const Analysis& analysis);

  std::vector<ModelledCall> calls_;
  std::vector<std::uint32_t> around_;
};

}  // namespace mindtorch::analyze
