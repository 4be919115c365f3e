// What tells the traces of a job apart.
#include "mindtorch/profiler/job_metadata.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace mindtorch::profiler {
namespace {

TEST(JobMetadata, SaysWhichHostItIs) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(job_metadata().at("host_name"), "\"" + host_name() + "\"");
}

TEST(JobMetadata, SaysWhatTheEnvironmentSaysOfTheJob) {
  EXPECT_EQ(job_metadata().count("PT_PROFILER_JOB_NAME"), 0U);
  ::setenv("PT_PROFILER_JOB_NAME", "a \"job\"", 1);
  ::setenv("PT_PROFILER_JOB_ATTEMPT_INDEX", "2", 1);
  const auto metadata = job_metadata();
  ::unsetenv("PT_PROFILER_JOB_NAME");
  ::unsetenv("PT_PROFILER_JOB_ATTEMPT_INDEX");
  EXPECT_EQ(metadata.at("PT_PROFILER_JOB_NAME"), R"("a \"job\"")");
  EXPECT_EQ(metadata.at("PT_PROFILER_JOB_ATTEMPT_INDEX"), "\"2\"");
  EXPECT_EQ(metadata.count("PT_PROFILER_JOB_VERSION"), 0U);
}

}  // namespace
}  // namespace mindtorch::profiler
