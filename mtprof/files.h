// The files that a command reads and writes.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/base/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mindtorch::mtprof {

// A command that was called in a wrong way, as the status of the program says then.
class WrongUsage : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

struct Output {
  std::string option;  // "--json"
  std::string path;    // empty: it was not asked for
};

struct Files {
  std::vector<std::string> inputs;
  std::vector<Output> outputs;
  bool force = false;  // an output may replace an input, or another output
};

// Throws WrongUsage if an output is one of the inputs or another output, whatever names lead there: "x" and "./x", symbolic links, hard
// links, or if its folder does not exist. Throws IoError if an output cannot be written at all, before anything was read.
void check_files(const Files& files);

// Adds --force to a command.
void add_force(CLI::App& command, bool& force);

}  // namespace mindtorch::mtprof
