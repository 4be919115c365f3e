// mtprof peaks: measures what the CPU of this machine can do, once, and keeps it.
#include "mtprof/peaks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "mindtorch/analyze/efficiency/device_peaks.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/error_text.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/report/efficiency_json.h"
#include "mindtorch/ingest/peaks_file.h"
#include "mtprof/commands.h"
#include "mtprof/cpu_speed.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  std::string output;
  bool force = false;
};

std::string peaks_text(const trace::DevicePeaks& peaks) {
  std::string text = fmt::format("{} on {}\n", shown(peaks.device), shown(peaks.host));
  for (std::size_t unit = 0; unit < trace::kComputeUnits; ++unit) {
    if (peaks.tflops[unit] > 0) text += fmt::format("  {:<10} {:>8.3f} TFLOP/s\n", trace::kComputeUnitNames[unit], peaks.tflops[unit]);
  }
  return text + fmt::format("  {:<10} {:>8.4f} TB/s\n", "memory", peaks.tbytes);
}

// What is wrong with a text that is no peak; empty if nothing is.
std::string is_peak(const std::string& text) {
  try {
    trace::DevicePeaks tried;
    analyze::set_peak(tried, text);
  } catch (const InvalidArgument& error) {
    return text_for_users(error);
  }
  return "";
}

int run_peaks(const Arguments& arguments) {
  const std::string path = arguments.output.empty() ? measured_peaks_file() : arguments.output;
  if (path.empty()) throw WrongUsage("there is no home folder to keep the measurement in: name a file with -o");
  const trace::DevicePeaks peaks = measure_cpu();
  if (arguments.output.empty()) {
    std::error_code code;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), code);
    if (code) throw std::system_error(code, path);
  }
  exporter::write_output(path, exporter::peaks_json(peaks));
  fmt::print("{}{}\n", peaks_text(peaks), shown(path));
  return 0;
}

}  // namespace

void add_peak_options(CLI::App& command, PeakOptions& options) {
  command.add_option("--peaks", options.files, "A file with peaks of devices, such as `mtprof peaks -o FILE` writes; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--peak", options.changes,
                  "A peak of every device of the recording, in TFLOP/s, or TB/s of memory: bfloat16=800, memory=4.2; may be repeated")
      ->check(is_peak)
      ->allow_extra_args(false);
}

std::string measured_peaks_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return (std::filesystem::path(cache) / "mindtorch" / "peaks.json").string();
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return (std::filesystem::path(home) / ".cache" / "mindtorch" / "peaks.json").string();
}

analyze::KnownPeaks known_peaks(const PeakOptions& options) {
  analyze::KnownPeaks known{.devices = {}, .changes = options.changes};
  trace::DevicePeaks tried;
  for (const std::string& change : options.changes) analyze::set_peak(tried, change);  // tells what is wrong before anything is read
  std::error_code code;
  if (const std::string measured = measured_peaks_file(); !measured.empty() && std::filesystem::exists(measured, code)) {
    try {
      known.devices = ingest::read_peaks(measured);
    } catch (const Error&) {
      known.devices.clear();
    }
  }
  for (const std::string& file : options.files) {
    for (trace::DevicePeaks& peaks : ingest::read_peaks(file)) known.devices.push_back(std::move(peaks));
  }
  return known;
}

void add_peaks(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("peaks", "Measures what this machine's CPU can do at most, for the efficiency of its ops");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("-o,--output", arguments->output,
                      "A file for the peaks; default: a file in the user's cache, which other commands read");
  add_force(*command, arguments->force);
  command->callback([arguments, &run] {
    run = {{{}, {{"-o", arguments->output}}, arguments->force}, [arguments] { return run_peaks(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof
