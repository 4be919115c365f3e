// Loading with progress.
#include "mtprof/loading.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "mindtorch/analyze/analysis.h"
#include "mtprof/messages.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"
#include "mtprof/values.h"

namespace mindtorch::mtprof {
namespace {

// `mtprof run` keeps recordings in a folder beside its output (_run_folder.py) until the program is over. If it was killed, they still are
// there.
void tell_if_uncollected(const std::string& file) {
  const std::filesystem::path path(file);
  const std::filesystem::path manifest = path.parent_path() / fmt::format(".{}.parts", path.filename().string()) / "run.json";
  std::error_code code;
  if (!std::filesystem::exists(path, code) && std::filesystem::exists(manifest, code))
    print_message("mtprof: the run that records {0} goes on, or was killed: then `mtprof collect {0}` writes it\n", shown(file));
}

}  // namespace

void add_max_memory(CLI::App& command, std::uint64_t& max_memory) {
  command
      .add_option(
          "--max-memory", max_memory,
          fmt::format("Most memory that reading a file may take, such as 4GB; by default {} MiB and {} times the size of the file, "
                      "{} times that of a .gz file, or {} times that of a recording",
                      ingest::kSpareMemory >> 20, ingest::kMemoryPerPlainByte, ingest::kMemoryPerGzipByte, ingest::kMemoryPerRecordingByte))
      ->transform(memory_size());
}

void add_input(CLI::App& command, Input& input) {
  command.add_option("FILE", input.file, "A recording or a Chrome trace")->required();
  add_max_memory(command, input.max_memory);
}

void add_pair(CLI::App& command, RunPair& pair) {
  command.add_option("FILE", pair.files, "A recording or a Chrome trace; of two, the first is the run before")->required()->expected(1, 2);
  command.add_option("--baseline", pair.before, "The run before, if one file is given");
  add_max_memory(command, pair.max_memory);
}

void set_pair(RunPair& pair, bool needs_two) {
  const bool has_two = pair.files.size() == 2;
  if (has_two && !pair.before.empty()) throw CLI::ValidationError("--baseline", "was given, and two files too");
  if (has_two) pair.before = pair.files.front();
  if (needs_two && pair.before.empty()) throw CLI::RequiredError("the run before (BEFORE AFTER, or AFTER --baseline BEFORE)");
  pair.after = pair.files.back();
}

Loaded load(const Input& input, CheckFlows check_flows) {
  tell_if_uncollected(input.file);
  const Progress progress("reading " + shown(input.file));
  return ingest::load_trace(input.file, {.check_flows = check_flows == CheckFlows::kYes, .max_memory = input.max_memory});
}

void tell_damage(const std::string& file, const Loaded& loaded) {
  if (loaded.damage) print_message("mtprof: {} is damaged: {}\n", shown(file), shown(*loaded.damage));
}

ProfiledRun load_profile(const Input& input, const analyze::StepProfileOptions& options) {
  const Loaded loaded = load(input);
  tell_damage(input.file, loaded);
  const analyze::Analysis analysis(loaded.recording);
  return {analyze::step_profile(analysis, options), loaded.damage.has_value()};
}

}  // namespace mindtorch::mtprof
