// A job as text and as JSON.
#pragma once

#include <string>

#include "mindtorch/analyze/ranks/job.h"

namespace mindtorch::mtprof {

// Tables have at most `row_limit` rows.
std::string job_text(const analyze::Job& job, std::size_t row_limit);
std::string job_json(const analyze::Job& job);

}  // namespace mindtorch::mtprof
