// Verdicts of a check as text, JSON, JUnit XML and annotations of GitHub's workflows.
#pragma once

#include <span>
#include <string>

#include "mindtorch/analyze/diff/limits.h"

namespace mindtorch::mtprof {

std::string verdicts_text(std::span<const analyze::Verdict> verdicts);
std::string verdicts_json(std::span<const analyze::Verdict> verdicts);
// One test case per limit.
std::string verdicts_junit(std::span<const analyze::Verdict> verdicts);
// One workflow command per limit that is exceeded (error) or unclear (warning).
std::string verdicts_github(std::span<const analyze::Verdict> verdicts);

}  // namespace mindtorch::mtprof
