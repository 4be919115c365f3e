// Loading with progress.
#include "mtprof/loading.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "mindtorch/analyze/analysis.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {

void add_max_memory(CLI::App& command, std::uint64_t& max_memory) {
  command
      .add_option(
          "--max-memory", max_memory,
          fmt::format("Most memory that reading a file may take, such as 4GB; by default {} MiB and {} times the size of the file, "
                      "{} times that of a .gz file, or {} times that of a recording",
                      ingest::kSpareMemory >> 20, ingest::kMemoryPerPlainByte, ingest::kMemoryPerGzipByte, ingest::kMemoryPerRecordingByte))
      ->transform(CLI::AsSizeValue(false));
}

void add_input(CLI::App& command, Input& input) {
  command.add_option("FILE", input.file, "A recording or a Chrome trace")->required();
  add_max_memory(command, input.max_memory);
}

Loaded load(const Input& input, CheckFlows check_flows) {
  const Progress progress("reading " + shown(input.file));
  return ingest::load_trace(input.file, {.check_flows = check_flows == CheckFlows::kYes, .max_memory = input.max_memory});
}

void tell_damage(const std::string& file, const Loaded& loaded) {
  if (loaded.damage) fmt::print(stderr, "mtprof: {} is damaged: {}\n", shown(file), shown(*loaded.damage));
}

ProfiledRun load_profile(const Input& input, const analyze::StepProfileOptions& options) {
  const Loaded loaded = load(input);
  tell_damage(input.file, loaded);
  const analyze::Analysis analysis(loaded.recording);
  return {analyze::step_profile(analysis, options), loaded.damage.has_value()};
}

}  // namespace mindtorch::mtprof
