// Shift: how much a quantity differs between two runs, with an interval that tells a change from noise.
//
// Each run gives one value per step. The estimate is the Hodges-Lehmann shift (the median of all pairwise differences) and the interval is
// that of the rank-sum test, so that a few slow steps do not matter and no distribution is assumed. Steps that follow each other are alike
// (caches, clocks, other programs), which makes an interval for independent values too narrow: it is widened by the correlation of
// neighbouring steps.
#pragma once

#include <span>

#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct Shift {
  double before = 0;  // medians per step
  double after = 0;
  double change = 0;  // estimate of after - before
  double low = 0;     // the interval of `change`; infinite where there are too few steps to tell
  double high = 0;

  // Shares of `before`; 0 where `before` is 0.
  double relative(double value) const { return before == 0 ? 0 : value / before; }
  // True if the whole interval is on one side of zero.
  bool is_increase() const { return low > 0; }
  bool is_decrease() const { return high < 0; }
  bool is_change() const { return is_increase() || is_decrease(); }
};

// `error` is the probability with which the interval misses the true shift on one side or the other. Runs of more than 64 values are
// averaged in groups of neighbours first, so that the cost is bounded. Empty runs give a shift of zeros with an infinite interval.
MINDTORCH_EXPORT Shift compare_runs(std::span<const double> before, std::span<const double> after, double error);

}  // namespace mindtorch::analyze
