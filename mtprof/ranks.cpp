// mtprof ranks: which rank of a job is slow, where it loses time, and what the ranks spend their time on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "mindtorch/analyze/ranks/job.h"
#include "mindtorch/analyze/ranks/summary_bytes.h"
#include "mindtorch/base/file.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/progress.h"
#include "mtprof/ranks_output.h"
#include "mtprof/ranks_reading.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::uint64_t max_memory = 0;
  unsigned threads = 0;
  std::size_t row_limit = 10;
  bool json = false;
  std::string summaries;
};

// Faults of files are failures; a slow rank is an answer.
bool is_failure(const analyze::JobFault& fault) {
  using Kind = analyze::JobFault::Kind;
  return fault.kind == Kind::kUnreadable || fault.kind == Kind::kDamaged || fault.kind == Kind::kMissing;
}

int run_ranks(const Arguments& arguments) {
  const std::vector<std::string> files = find_recordings(arguments.paths);
  RanksRead read = [&] {
    const Progress progress(fmt::format("reading {} files", files.size()));
    return read_ranks(files, arguments.max_memory, arguments.threads);
  }();
  if (!arguments.summaries.empty()) {
    AtomicFile file(arguments.summaries);
    file.write(analyze::summary_bytes(read.summaries));
    file.commit();
  }
  number_the_rest(read);
  const analyze::Job job = analyze::reduce_ranks(std::move(read.summaries), std::move(read.faults));
  fmt::print("{}", arguments.json ? job_json(job) : job_text(job, arguments.row_limit));
  return std::ranges::any_of(job.faults, is_failure) ? 1 : 0;
}

}  // namespace

void add_ranks(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("ranks", "The ranks of a job: who is slow and why, communication, clocks, steps, memory");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FOLDER", arguments->paths, "A folder with a recording or a Chrome trace of each rank, or the files")->required();
  add_max_memory(*command, arguments->max_memory);
  command->add_option("--threads", arguments->threads, "Files that are read at the same time; 0: as many as there are processors")
      ->capture_default_str();
  command->add_option("--scheduler", "The address of a Dask scheduler, whose workers read the files")->type_name("ADDRESS");
  command->add_option("--limit", arguments->row_limit, "Most rows of each table")->capture_default_str();
  command->add_option(
      "--summaries", arguments->summaries,
      "Also writes the summaries of the ranks into this file (.mtsum), which can be compared later instead of the recordings");
  command->add_flag("--json", arguments->json, "All of it as JSON");
  command->callback([arguments, &run] { run = [arguments] { return run_ranks(*arguments); }; });
}

}  // namespace mindtorch::mtprof
