// mtprof ranks: which rank of a job is slow, where it loses time, and what the ranks spend their time on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>

#include "mindtorch/analyze/ranks/job.h"
#include "mindtorch/analyze/ranks/merge_ranks.h"
#include "mindtorch/analyze/ranks/summary_bytes.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/report/job_writer.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/messages.h"
#include "mtprof/progress.h"
#include "mtprof/ranks_output.h"
#include "mtprof/ranks_reading.h"
#include "mtprof/shown.h"
#include "mtprof/values.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::uint64_t max_memory = 0;
  unsigned threads = 0;
  int row_limit = 10;
  bool json = false;
  std::string page;
  std::string summaries;
  std::string merged;
  std::vector<std::int64_t> merged_ranks;
  std::string merged_steps;
  bool force = false;

  Files files(std::vector<std::string> inputs) const {
    return {std::move(inputs), {{"-o", page}, {"--summaries", summaries}, {"--merge", merged}}, force};
  }
};

// "3:5" means steps 3 and 4, as with mtprof run.
analyze::StepRange parse_steps(const std::string& text) {
  analyze::StepRange range;
  if (text.empty()) return range;
  const std::size_t colon = text.find(':');
  std::int64_t end = 0;
  const auto read = [&](std::string_view part, std::int64_t& into) {
    const auto [stopped, error] = std::from_chars(part.data(), part.data() + part.size(), into);
    return error == std::errc() && stopped == part.data() + part.size() && into >= 0;
  };
  const bool are_numbers = colon != std::string::npos && read(std::string_view(text).substr(0, colon), range.first) &&
                           read(std::string_view(text).substr(colon + 1), end);
  if (!are_numbers) throw_error<WrongUsage>("mtprof.ranks", "--merge-steps must be two numbers of steps such as 3:5, got {}", text);
  if (end <= range.first)
    throw_error<WrongUsage>("mtprof.ranks", "--merge-steps {}: the second number must be larger; 3:5 means steps 3 and 4", text);
  range.last = end - 1;
  return range;
}

// A timeline without the ranks or steps that were asked for would look as if they had done nothing.
void require_ranks_and_steps(const Arguments& arguments, const analyze::Job& job, const analyze::StepRange& steps) {
  const auto rank_of = [](const analyze::RankSummary& summary) { return summary.identity.rank; };
  for (const std::int64_t rank : arguments.merged_ranks) {
    if (std::ranges::find(job.summaries, rank, rank_of) == job.summaries.end())
      throw_error<InvalidArgument>("mtprof.ranks", "--merge-ranks: there is no recording of rank {} that can be read", rank);
  }
  const auto is_merged = [&](const analyze::JobStep& step) { return step.number >= steps.first && step.number <= steps.last; };
  if (!arguments.merged_steps.empty() && std::ranges::none_of(job.steps, is_merged)) {
    throw_error<InvalidArgument>("mtprof.ranks", "--merge-steps: no rank recorded a step of {}; there are steps {} to {}",
                                 arguments.merged_steps, job.steps.empty() ? 0 : job.steps.front().number,
                                 job.steps.empty() ? 0 : job.steps.back().number);
  }
}

void write_merged(const Arguments& arguments, const analyze::Job& job) {
  const analyze::StepRange steps = parse_steps(arguments.merged_steps);
  require_ranks_and_steps(arguments, job, steps);
  analyze::RankMerger merger(job, steps);
  for (std::size_t k = 0; k < job.summaries.size(); ++k) {
    const analyze::RankSummary& summary = job.summaries[k];
    const bool is_wanted = arguments.merged_ranks.empty() || std::ranges::count(arguments.merged_ranks, summary.identity.rank) > 0;
    if (is_wanted) merger.add(k, load({summary.file, arguments.max_memory}).recording);
  }
  exporter::export_trace(merger.finish(), arguments.merged);
}

// The name of the folder, or of the first file.
std::string title_of(const std::vector<std::string>& paths) {
  const std::filesystem::path path = std::filesystem::absolute(paths.front()).lexically_normal();
  const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  return name.ends_with(analyze::kSummarySuffix) ? name.substr(0, name.size() - analyze::kSummarySuffix.size()) : name;
}

// Faults of files are failures; a slow rank is an answer.
bool is_failure(const analyze::JobFault& fault, const Arguments& arguments) {
  using Kind = analyze::JobFault::Kind;
  if (fault.kind == Kind::kNoTrace) return std::ranges::count(arguments.paths, fault.file) > 0;  // not one that lies in a folder
  return fault.kind == Kind::kUnreadable || fault.kind == Kind::kDamaged || fault.kind == Kind::kMissing;
}

int run_ranks(const Arguments& arguments) {
  parse_steps(arguments.merged_steps);  // finds a mistake before files are read
  if (!arguments.page.empty() && !arguments.page.ends_with(".html"))
    throw_error<InvalidArgument>(
        "mtprof.ranks", "-o writes a page for a browser: its name must end with .html, got {}; --merge writes a timeline of the ranks",
        arguments.page);
  FoundFiles found = find_recordings(arguments.paths);
  check_files(arguments.files(found.files));  // those in folders too
  RanksRead read = [&] {
    const Progress progress(fmt::format("reading {} files", found.files.size()));
    return read_ranks(found.files, arguments.max_memory, arguments.threads);
  }();
  std::ranges::move(found.faults, std::back_inserter(read.faults));
  if (!arguments.summaries.empty()) {
    AtomicFile file(arguments.summaries);
    file.write(analyze::summary_bytes(with_unreadable(read)));
    file.commit();
  }
  number_the_rest(read);
  const analyze::Job job = analyze::reduce_ranks(std::move(read.summaries), std::move(read.faults));
  if (!arguments.merged.empty()) write_merged(arguments, job);
  if (!arguments.page.empty()) {
    exporter::write_job_report(job, arguments.page, title_of(arguments.paths));
    print_message("wrote {}\n", shown(arguments.page));
  }
  // At least as many as there can be of anything.
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max() / 2;
  const std::size_t rows = arguments.row_limit < 0 ? kAll : static_cast<std::size_t>(arguments.row_limit);
  fmt::print("{}", arguments.json ? job_json(job) : job_text(job, rows));
  return std::ranges::any_of(job.faults, [&](const auto& fault) { return is_failure(fault, arguments); }) ? 1 : 0;
}

}  // namespace

void add_ranks(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("ranks", "The ranks of a job: who is slow and why, communication, clocks, steps, memory");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FOLDER", arguments->paths, "A folder with a recording or a Chrome trace of each rank, or the files")->required();
  add_max_memory(*command, arguments->max_memory);
  command->add_option("--threads", arguments->threads, "Files that are read at the same time; 0: as many as there are processors")
      ->check(whole_number(0, 4096))
      ->capture_default_str();
  command->add_option("--scheduler", "The address of a Dask scheduler, whose workers read the files")->type_name("ADDRESS");
  command->add_option("-o,--output", arguments->page, "Also writes one page for a browser (.html)");
  command->add_option("--limit", arguments->row_limit, "Most rows of each table; -1 for all")
      ->check(whole_number(-1))
      ->capture_default_str();
  command->add_option(
      "--summaries", arguments->summaries,
      "Also writes the summaries of the ranks into this file (.mtsum), which can be compared later instead of the recordings");
  auto* merge =
      command->add_option("--merge", arguments->merged,
                          "Also writes one timeline of the ranks on one clock, with arrows between collectives: .pftrace, .json, ...");
  command->add_option("--merge-ranks", arguments->merged_ranks, "The ranks in it, such as 0,3; default: all")
      ->delimiter(',')
      ->check(whole_number(0))
      ->needs(merge);
  command->add_option("--merge-steps", arguments->merged_steps, "The steps in it: 3:5 for steps 3 and 4; default: all")->needs(merge);
  command->add_flag("--json", arguments->json, "All of it as JSON");
  add_force(*command, arguments->force);
  command->callback([arguments, &run] { run = {arguments->files(arguments->paths), [arguments] { return run_ranks(*arguments); }}; });
}

}  // namespace mindtorch::mtprof
