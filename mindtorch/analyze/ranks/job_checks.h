// Checks of the summaries of a job: what is missing, and what does not fit together.
#pragma once

#include <vector>

#include "mindtorch/analyze/ranks/job.h"

namespace mindtorch::analyze {

// Sorts by rank and leaves one summary for each rank.
void keep_one_per_rank(std::vector<RankSummary>& summaries, std::vector<JobFault>& faults);

// Appends to job.faults what the files, steps, clocks and collectives of the ranks tell.
void check_job(Job& job);

}  // namespace mindtorch::analyze
