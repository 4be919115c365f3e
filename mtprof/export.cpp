// mtprof export: a recording or trace in other formats.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/file.h"
#include "mindtorch/base/json_writer.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/html/memory_timeline_writer.h"
#include "mindtorch/export/stacks/stacks_writer.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"
#include "mtprof/values.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  Input input;
  std::vector<std::string> outputs;
  std::string memory_timeline;
  std::optional<std::string> device;
  std::string metric = std::string(exporter::kDefaultMetric);
  bool json = false;
  bool fsync = false;
  bool force = false;

  Files files() const {
    Files files{{input.file}, {{"--memory-timeline", memory_timeline}}, force};
    for (const std::string& path : outputs) files.outputs.push_back({"-o", path});
    return files;
  }
};

// Of a file that was just written; 0 for a device.
std::uintmax_t size_of(const std::string& path) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  return code ? 0 : size;
}

void write_one(const analyze::Analysis& analysis, const Arguments& arguments, const std::string& path) {
  if (path.ends_with(".svg")) {
    exporter::write_flame_graph(analysis, path, arguments.metric);
  } else if (path.ends_with(".collapsed")) {
    exporter::write_collapsed_stacks(analysis, path, arguments.metric);
  } else {
    exporter::export_trace(analysis, path);
  }
}

int run_export(const Arguments& arguments) {
  if (arguments.fsync) set_file_sync(true);
  const Loaded loaded = load(arguments.input);
  const analyze::Analysis analysis(loaded.recording);
  std::vector<std::string> written;
  for (const std::string& path : arguments.outputs) {
    const Progress progress("writing " + shown(path));
    write_one(analysis, arguments, path);
    written.push_back(path);
  }
  if (!arguments.memory_timeline.empty()) {
    const trace::Device device = exporter::memory_device(loaded.recording, arguments.device);
    const Progress progress("writing " + shown(arguments.memory_timeline));
    exporter::write_memory_timeline(analysis, device, arguments.memory_timeline);
    written.push_back(arguments.memory_timeline);
  }
  const std::size_t events = loaded.recording.events.size();
  if (arguments.json) {
    JsonWriter json;
    json.object([&] {
      json.field("events", events).list_field("files", written, [&](const std::string& path) {
        json.object([&] { json.field("path", path).field("bytes", size_of(path)); });
      });
    });
    fmt::print("{}\n", json.text());
  } else {
    for (const std::string& path : written) fmt::print("{} ({} bytes, {} events)\n", shown(path), size_of(path), events);
  }
  tell_damage(arguments.input.file, loaded);
  return loaded.damage ? 1 : 0;
}

std::string list_of_formats() {
  std::string text = "Formats, by suffix:\n";
  bool has_parquet = false;
  for (const exporter::TraceFormat& format : exporter::formats()) {
    text += fmt::format("  {:<20} {}\n", format.suffix, format.what);
    has_parquet |= format.suffix.ends_with(".parquet");
  }
  // The Python package adds this format to the list when it is loaded; this program starts it for such a file.
  if (!has_parquet) text += "  .parquet             with the Python package and pyarrow: events; .averages.parquet, .counters.parquet\n";
  return text;
}

}  // namespace

void add_export(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("export", "Writes other formats: Chrome, Perfetto, speedscope, flame graph, memory timeline");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->input);
  auto* output = command->add_option("-o,--output", arguments->outputs, "File to write; its suffix chooses the format; may be repeated");
  auto* memory = command->add_option("--memory-timeline", arguments->memory_timeline,
                                     "File for the memory timeline: .html, .json, .json.gz or .raw.json.gz");
  memory->check(suffix({".html", ".json", ".json.gz"}));
  command->add_option("--device", arguments->device, "Device of the memory timeline: cpu, npu:0, cuda:0")->needs(memory);
  command->add_option("--metric", arguments->metric, "Time in flame graphs and stacks: self_cpu_time_total or self_device_time_total")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Say what was written as JSON");
  command->add_flag("--fsync", arguments->fsync, "Wait until the files would survive a loss of power");
  add_force(*command, arguments->force);
  command->footer(list_of_formats());
  command->callback([arguments, output, memory, &run] {
    if (output->count() + memory->count() == 0) throw CLI::RequiredError("-o or --memory-timeline");
    run = {arguments->files(), [arguments] { return run_export(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof
