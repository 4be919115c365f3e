// The data of the page about a job.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/analyze/ranks/job.h"

namespace mindtorch::exporter {

// JSON that cannot end the element around it. Its size is bounded by the number of ranks, not by the number of steps.
std::string job_page_json(const analyze::Job& job, std::string_view title);

}  // namespace mindtorch::exporter
