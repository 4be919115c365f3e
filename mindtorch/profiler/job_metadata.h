// Metadata that distinguishes the trace of this process from those of the other processes of a job.
#pragma once

#include <map>
#include <string>

namespace mindtorch::profiler {

std::string host_name();  // "localhost" if it has none

// Metadata that torch writes into every trace, as JSON: host_name, and PT_PROFILER_JOB_NAME, PT_PROFILER_JOB_VERSION and
// PT_PROFILER_JOB_ATTEMPT_INDEX where the environment has them.
std::map<std::string, std::string> job_metadata();

}  // namespace mindtorch::profiler
