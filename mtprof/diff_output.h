// A diff of two runs as text, JSON and CSV.
#pragma once

#include <string>

#include "mindtorch/analyze/diff/diff.h"

namespace mindtorch::mtprof {

struct DiffNames {
  std::string before;  // as the user calls the files
  std::string after;
};

// The summary, then the rows that changed, largest first; at most `row_limit` (-1: all). With `all`, rows without a change too.
std::string diff_text(const analyze::Diff& diff, const DiffNames& names, int row_limit, bool all);
std::string diff_json(const analyze::Diff& diff, const DiffNames& names);
std::string diff_csv(const analyze::Diff& diff);

}  // namespace mindtorch::mtprof
