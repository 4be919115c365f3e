// The host, the job and the rank.
#include "mindtorch/profiler/job_metadata.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "mindtorch/base/json_writer.h"
#include "mindtorch/base/text.h"

namespace mindtorch::profiler {
namespace {

// The variables in which a launcher tells a process its place.
struct LauncherVariables {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};
constexpr std::array<LauncherVariables, 4> kLaunchers = {{{"RANK", "LOCAL_RANK", "WORLD_SIZE"},  // torchrun
                                                          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                          {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
                                                          {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"}}};

std::optional<int> number_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string launch_json(const LaunchedRank& launched) {
  JsonWriter json;
  json.object([&] {
    json.field("rank", launched.rank);
    if (launched.local_rank) json.field("local_rank", *launched.local_rank);
    json.field("world_size", launched.world_size);
  });
  return json.take();
}

}  // namespace

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
}

std::optional<LaunchedRank> launched_rank() {
  for (const LauncherVariables& launcher : kLaunchers) {
    const auto rank = number_in(launcher.rank), world_size = number_in(launcher.world_size);
    if (rank && world_size && *rank < *world_size) return LaunchedRank{*rank, number_in(launcher.local_rank), *world_size};
  }
  return std::nullopt;
}

std::map<std::string, std::string> job_metadata() {
  std::map<std::string, std::string> metadata{{"host_name", json_quoted(host_name())}};
  for (const char* variable : {"PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"}) {
    if (const char* value = std::getenv(variable)) metadata[variable] = json_quoted(value);
  }
  if (const auto launched = launched_rank()) metadata["distributedInfo"] = launch_json(*launched);
  return metadata;
}

}  // namespace mindtorch::profiler
