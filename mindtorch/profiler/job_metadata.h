// Metadata that distinguishes the trace of this process from those of the other processes of a job.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace mindtorch::profiler {

std::string host_name();  // "localhost" if it has none

// The place of this process in a job, as its launcher tells it.
struct LaunchedRank {
  int rank = 0;
  std::optional<int> local_rank;
  int world_size = 1;
};

// From the variables of torchrun, Open MPI, other MPIs and Slurm, the first that are complete. No value without a launcher.
std::optional<LaunchedRank> launched_rank();

// Metadata that torch writes into every trace, as JSON: host_name, and PT_PROFILER_JOB_NAME, PT_PROFILER_JOB_VERSION and
// PT_PROFILER_JOB_ATTEMPT_INDEX where the environment has them. In a process of a launcher also distributedInfo, with what the launcher
// tells; torch writes it only once torch.distributed is initialised.
std::map<std::string, std::string> job_metadata();

}  // namespace mindtorch::profiler
