// Iterations: the steps of a recording, or what repeats in one that has no steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct Iterations {
  enum class Origin : std::uint8_t {
    kNone,       // nothing repeats
    kSteps,      // the program or its recorder said where steps begin
    kEngine,     // scopes of a serving engine, one for each batch: vLLM's execute_..._context_..., SGLang's step[DECODE bs=32]
    kScopes,     // the outermost scope of the user that repeats
    kOptimizer,  // from one step of an optimizer to the next
    kModules,    // from one outermost call of a module to the next
  };
  Origin origin = Origin::kNone;
  std::string unit = "step";        // what one of them is called
  std::vector<Step> steps;          // in order of time, without overlaps
  std::vector<std::string> stages;  // of engines, by step: "prefill", "decode", "mixed"; else empty
};

// O(events).
MINDTORCH_EXPORT Iterations find_iterations(const Analysis& analysis, trace::TrackId main_track);

// "prefill", "decode", "mixed" or another stage in lower case; empty if the name is not that of a batch of a serving engine.
MINDTORCH_EXPORT std::string engine_stage(std::string_view name);

}  // namespace mindtorch::analyze
