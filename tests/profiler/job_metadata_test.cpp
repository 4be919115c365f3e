// What tells the traces of a job apart.
#include "mindtorch/profiler/job_metadata.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

// Variables of the environment for as long as the object lives.
class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> values_;
};

TEST(JobMetadata, SaysWhichRankTheLauncherGaveTheProcess) {
  EXPECT_EQ(job_metadata().count("distributedInfo"), 0U);
  const Variables torchrun({{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}});
  EXPECT_EQ(job_metadata().at("distributedInfo"), R"({"rank":3,"local_rank":1,"world_size":8})");
}

TEST(JobMetadata, KnowsTheVariablesOfMpiAndSlurm) {
  {
    const Variables mpirun({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
    EXPECT_EQ(job_metadata().at("distributedInfo"), R"({"rank":2,"world_size":4})");
  }
  const Variables srun({{"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "6"}});
  EXPECT_EQ(job_metadata().at("distributedInfo"), R"({"rank":5,"local_rank":0,"world_size":6})");
}

TEST(JobMetadata, IgnoresVariablesThatCannotBeARank) {
  const std::vector<std::pair<std::string, std::string>> wrong = {{"x", "4"}, {"-1", "4"}, {"4", "4"}, {"1", ""}, {"1 ", "4"}};
  for (const auto& [rank, size] : wrong) {
    const Variables variables({{"RANK", rank}, {"WORLD_SIZE", size}});
    EXPECT_FALSE(launched_rank().has_value()) << rank << " of " << size;
  }
}

}  // namespace
}  // namespace mindtorch::profiler
