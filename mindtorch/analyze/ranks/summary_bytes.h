// Summaries of ranks as bytes, so that one machine can summarise what lies there and another one can compare.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/ranks/rank_summary.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The suffix of files with summaries.
inline constexpr std::string_view kSummarySuffix = ".mtsum";

MINDTORCH_EXPORT std::string summary_bytes(std::span<const RankSummary> summaries);

// The inverse. Throws InvalidArgument if the bytes are damaged, or of another version.
MINDTORCH_EXPORT std::vector<RankSummary> summaries_from_bytes(std::string_view bytes);

}  // namespace mindtorch::analyze
