// The host and the job.
#include "mindtorch/profiler/job_metadata.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "mindtorch/base/text.h"

namespace mindtorch::profiler {

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
}

std::map<std::string, std::string> job_metadata() {
  std::map<std::string, std::string> metadata{{"host_name", json_quoted(host_name())}};
  for (const char* variable : {"PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"}) {
    if (const char* value = std::getenv(variable)) metadata[variable] = json_quoted(value);
  }
  return metadata;
}

}  // namespace mindtorch::profiler
