// Any file that mtprof understands, as a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/diff/step_profile.h"
#include "mindtorch/ingest/load_trace.h"

namespace CLI {
class App;
}

namespace mindtorch::mtprof {

using Loaded = ingest::LoadedTrace;

// The file that a command reads, and the memory it may take; 0: in proportion to the file.
struct Input {
  std::string file;
  std::uint64_t max_memory = 0;
};

// Adds FILE and --max-memory to a command.
void add_input(CLI::App& command, Input& input);
void add_max_memory(CLI::App& command, std::uint64_t& max_memory);

// Two runs of a program. Every command that compares takes them as BEFORE AFTER, or the later one with --baseline BEFORE.
struct RunPair {
  std::vector<std::string> files;  // as they were given
  std::string before;              // empty if a command can do without, and got none
  std::string after;
  std::uint64_t max_memory = 0;
};

// Adds the files, --baseline and --max-memory to a command. Call set_pair() when they have been parsed.
void add_pair(CLI::App& command, RunPair& pair);
// Throws what CLI11 throws for arguments that are missing if there are not two, or none, or one where `needs_two`.
void set_pair(RunPair& pair, bool needs_two);

enum class CheckFlows : bool { kNo, kYes };

// As ingest::load_trace(), with progress on a terminal.
Loaded load(const Input& input, CheckFlows check_flows = CheckFlows::kNo);

// Says on standard error that a file is damaged, if it is.
void tell_damage(const std::string& file, const Loaded& loaded);

// A run as it is compared with others. Damage is told on standard error.
struct ProfiledRun {
  analyze::StepProfile profile;
  bool is_damaged = false;
};
ProfiledRun load_profile(const Input& input, const analyze::StepProfileOptions& options = {});

}  // namespace mindtorch::mtprof
