// What can be wrong in a trace although it can be read.
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
  std::uint64_t findings = 0;  // where it does not
  std::string first;           // the first of them, in words
};

// All checks, those without findings too: whole file, nesting, causality, launches, ids, window, flows, steps.
std::vector<Check> run_checks(const Loaded& loaded);

}  // namespace mindtorch::mtprof
