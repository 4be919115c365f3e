// Which of the tensors that ops took are one and the same, and which memory they lay in; computed from recorded identities
// (trace::TensorIdentity) and reports of memory.
//
// An allocation is the use of one address from its allocation (or its first sight) until it is freed; the same address afterwards is
// another one. Tensors that share an allocation are one tensor, and a tensor whose storage is exchanged stays the same tensor. These are
// the rules by which torch's profiler numbers tensors, with one more: the release of memory that is older than the recording is not
// reported, so an allocation also ends when its address is allocated again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

struct TensorNumbers {
  std::int64_t tensor = -1;      // from 0, in order of first allocation; -1: no tensor is known to lie there
  std::int64_t allocation = -1;  // from 1, in order of time
  friend bool operator==(const TensorNumbers&, const TensorNumbers&) = default;
};

// An allocation whose release was not reported, and the time when its address was allocated again.
struct UnreportedRelease {
  std::int64_t allocation = -1;
  std::int64_t before_ns = 0;
  friend bool operator==(const UnreportedRelease&, const UnreportedRelease&) = default;
};

class MINDTORCH_EXPORT TensorIds {
 public:
  // O(n log n) in the number of tensors among arguments and of memory reports.
  explicit TensorIds(const trace::Recording& recording);

  // One entry for each of trace::tensor_identities(); -1 for a tensor that is not identified.
  std::span<const TensorNumbers> of_inputs(trace::EventIndex event) const;
  // The numbers of a row of Recording::memory.
  TensorNumbers of_report(std::size_t report) const { return numbers_[first_report_ + report]; }
  const std::vector<UnreportedRelease>& unreported_releases() const { return unreported_releases_; }

 private:
  const trace::Recording& recording_;
  std::vector<std::size_t> offsets_;    // row r of Recording::inputs has numbers_[offsets_[r] .. offsets_[r + 1])
  std::size_t first_report_ = 0;        // in numbers_
  std::vector<TensorNumbers> numbers_;  // of arguments, row by row, then of reports
  std::vector<UnreportedRelease> unreported_releases_;
};

}  // namespace mindtorch::analyze
