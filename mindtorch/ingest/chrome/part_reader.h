// Parses pieces of a Chrome trace into a TracePart.
#pragma once

#include <cstddef>
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

  // Parses a piece. Stops at the first damage, which the part then names.
  // Throws trace::BudgetExceeded; position() then says where.
  void read(const TextPiece& piece);
  bool is_damaged() const;
  // How many bytes of the text of the latest piece have been parsed, about.
  std::size_t position() const;

  TracePart take();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace mindtorch::ingest::chrome
