// The page about a job: one file that needs nothing but a browser.
#pragma once

#include <string>

#include "mindtorch/analyze/ranks/job.h"
#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// Writes the page, whole or not at all. `title` is shown at its top. Throws IoError.
MINDTORCH_EXPORT void write_job_report(const analyze::Job& job, const std::string& path, const std::string& title);

}  // namespace mindtorch::exporter
