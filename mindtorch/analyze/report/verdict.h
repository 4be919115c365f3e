// Verdict: the first line of a report. It names the largest cause and its line, or says that nothing stands out, or what is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/report/findings.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

class Ledger;

struct Judgement {
  enum class Level : std::uint8_t { kGood, kWarning, kBad, kUnknown };
  Level level = Level::kUnknown;
  std::string text;
  double explained_share = 0;  // of the time that is judged
  std::string unknown;         // what is not known; empty if enough is
  std::string next;            // the one command or option that would tell more; may be empty
};

MINDTORCH_EXPORT std::string_view verdict_level_name(Judgement::Level level);  // "good", "warn", "bad", "unknown"

Judgement find_verdict(const Analysis& analysis, const Phases& phases, const Ledger& ledger, const std::vector<Finding>& findings);

// "train.py:12 in main" of "/home/me/train.py:12:main".
MINDTORCH_EXPORT std::string short_line(std::string_view line);

}  // namespace mindtorch::analyze
