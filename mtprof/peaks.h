// The peaks that a command knows besides the table: from files, from options, and what `mtprof peaks` measured.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/analyze/efficiency/efficiency.h"

namespace CLI {
class App;
}

namespace mindtorch::mtprof {

struct PeakOptions {
  std::vector<std::string> files;    // --peaks
  std::vector<std::string> changes;  // --peak
};

// Adds --peaks and --peak to a command.
void add_peak_options(CLI::App& command, PeakOptions& options);

// Where `mtprof peaks` keeps what it measured; empty if the user has no home.
std::string measured_peaks_file();

// What was measured, then what the files say, so that a file comes before a measurement. Throws what ingest::read_peaks() throws, and
// InvalidArgument for a wrong change; a measurement that cannot be read counts as none.
analyze::KnownPeaks known_peaks(const PeakOptions& options = {});

}  // namespace mindtorch::mtprof
