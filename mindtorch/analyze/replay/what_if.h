// WhatIf: how long a step would take if some of its work took less time or more, were gone, or ran beside the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// Selectors are "op:aten::mm", "kernel:*gemm*", "cause:optimizer", "python:collate", "line:train.py:12", and the short forms "loading",
// "copies" and "collectives". A name may have wildcards (*).
struct WhatIf {
  std::vector<std::pair<std::string, double>> scale;  // selector and factor; factors of one stretch of time multiply
  std::vector<std::string> remove;                    // selectors
  std::vector<std::string> overlap;                   // "copies", "collectives", "loading"
};

struct WhatIfAnswer {
  std::int64_t step_ns = 0;       // as recorded, on average
  std::int64_t replayed_ns = 0;   // of the unchanged replay
  std::int64_t predicted_ns = 0;  // of the changed one
  std::size_t steps = 0;
};

// "op:aten::mm=0.5" as selector and factor. Throws InvalidArgument.
MINDTORCH_EXPORT std::pair<std::string, double> parse_scale(std::string_view text);

// Throws InvalidArgument if a selector is unknown or matches nothing, or a factor is no number from 0 on; the message names what there is.
// Throws Error if the recording does not allow a prediction, with the reason.
MINDTORCH_EXPORT WhatIfAnswer what_if(const Analysis& analysis, const WhatIf& question);

}  // namespace mindtorch::analyze
