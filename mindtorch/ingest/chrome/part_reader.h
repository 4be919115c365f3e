// Parses pieces of a Chrome trace into a TracePart.
#pragma once

#include <memory>
#include <string_view>

#include "mindtorch/ingest/chrome/text_reading.h"
#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/ingest/chrome/trace_text.h"

namespace mindtorch::ingest::chrome {

// One thread's share of a trace: consecutive pieces.
class PartReader {
 public:
  explicit PartReader(const TextLimits& limits);
  ~PartReader();

  // Parses a piece (copied into a buffer of its own). Stops at the first damage, which the part then names.
  // Throws trace::BudgetExceeded.
  void read(const TextPiece& piece);
  bool is_damaged() const;

  TracePart take();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace mindtorch::ingest::chrome
