// torch's table of transitions.
#include "mindtorch/profiler/transition.h"

#include <array>
#include <cstddef>

namespace mindtorch::profiler {
namespace {

using enum TraceCall;

constexpr std::array kPrepareOnly = {kPrepare};
constexpr std::array kPrepareAndStart = {kPrepare, kStart};
constexpr std::array kStartOnly = {kStart};
constexpr std::array kStartAndStop = {kStart, kStop};
constexpr std::array kStopOnly = {kStop};
constexpr std::array kSave = {kStop, kReady};
constexpr std::array kSaveAndPrepare = {kStop, kReady, kPrepare};
constexpr std::array kSaveAndRestart = {kStop, kReady, kPrepare, kStart};

constexpr std::size_t kActions = 4;
constexpr std::size_t kEnd = kActions;

// Row: the action before. Column: the action now, last the end.
constexpr Transition kTable[kActions][kActions + 1] = {
    // NONE
    {{}, {"", kPrepareOnly}, {"", kPrepareAndStart}, {"", kPrepareAndStart}, {}},
    // WARMUP
    {{"Incorrect schedule: WARMUP followed by NONE", kStartAndStop}, {}, {"", kStartOnly}, {"", kStartOnly}, {"", kStartAndStop}},
    // RECORD
    {{"Incorrect schedule: RECORD followed by NONE", kStopOnly},
     {"Incorrect schedule: RECORD followed by WARMUP", kStopOnly},
     {},
     {},
     {"", kSave}},
    // RECORD_AND_SAVE
    {{"", kSave}, {"", kSaveAndPrepare}, {"", kSaveAndRestart}, {"", kSaveAndRestart}, {"", kSave}},
};

}  // namespace

Transition transition(ProfilerAction from, std::optional<ProfilerAction> to) {
  return kTable[static_cast<std::size_t>(from)][to ? static_cast<std::size_t>(*to) : kEnd];
}

}  // namespace mindtorch::profiler
