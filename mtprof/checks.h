// Checks of traces that can be read but may still be wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mtprof/loading.h"

namespace mindtorch::mtprof {

struct Check {
  std::string_view name;
  std::string_view rule;       // what must hold
  std::uint64_t findings = 0;  // how often it does not hold
  std::string first;           // the first finding, in words
};

// All checks, those without findings too: whole file, nesting, causality, launches, ids, window, flows, steps.
std::vector<Check> run_checks(const Loaded& loaded);

}  // namespace mindtorch::mtprof
