// mtprof info: what is in a file.
#include "mtprof/info.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/memory_timeline.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/analyze/temporal_breakdown.h"
#include "mindtorch/base/json_writer.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/markup.h"
#include "mindtorch/trace/text.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

using trace::device_text;
using trace::Recording;
using trace::Track;

struct Arguments {
  Input input;
  bool json = false;
};

struct KindCount {
  std::string_view kind;
  std::uint64_t count = 0;
};

std::vector<KindCount> count_kinds(const Recording& recording) {
  std::array<std::uint64_t, trace::kEventKinds> counts{};
  for (const trace::EventKind kind : recording.events.kind) ++counts[static_cast<std::size_t>(kind)];
  std::vector<KindCount> kinds;
  for (int kind = 0; kind < trace::kEventKinds; ++kind) {
    if (counts[static_cast<std::size_t>(kind)] > 0)
      kinds.push_back({trace::event_kind_name(static_cast<trace::EventKind>(kind)), counts[static_cast<std::size_t>(kind)]});
  }
  return kinds;
}

std::string track_text(const Track& track) {
  const std::string id = track.kind == Track::Kind::kThread ? fmt::format("thread {}", track.id)
                                                            : fmt::format("{} stream {}", device_text(track.device), track.id);
  return track.name.empty() ? id : fmt::format("{} ({})", id, track.name);
}

std::string options_text(const trace::RecordedOptions& options) {
  std::string text;
  const auto add = [&](bool on, std::string_view name) { text += on ? fmt::format("{}{}", text.empty() ? "" : " ", name) : ""; };
  add(options.shapes, "record_shapes");
  add(options.stacks, "with_stack");
  add(options.memory, "profile_memory");
  add(options.flops, "with_flops");
  add(options.modules, "with_modules");
  return text.empty() ? "none" : text;
}

// At most a hundred characters, each run of white space as one blank.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_space) line += c;
    if (is_space && !line.ends_with(' ')) line += ' ';
  }
  return exporter::shortened(shown(line), 100);
}

void print_line(std::string_view label, const std::string& text) { fmt::print("  {:<9} {}\n", label, shown(text)); }

void print_devices(const Recording& recording) {
  for (const analyze::TemporalBreakdown& device : analyze::temporal_breakdown(recording)) {
    const auto share = [&](std::int64_t ns) {
      return 100 * static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, device.span_ns));
    };
    print_line("device", fmt::format("{}: {:.3f} ms, {:.1f} % computing, {:.1f} % other work, {:.1f} % idle", device_text(device.device),
                                     static_cast<double>(device.span_ns) / 1e6, share(device.compute_ns), share(device.non_compute_ns),
                                     share(device.idle_ns)));
  }
}

// How many there are, and for how much of the threads' time each state stands.
std::string samples_text(const Recording& recording) {
  std::array<std::int64_t, trace::kThreadStates> time{};
  for (std::size_t i = 0; i < recording.samples.size(); ++i)
    time[static_cast<std::size_t>(recording.samples.state[i])] += recording.samples.duration_ns[i];
  std::string states;
  for (std::size_t s = 0; s < time.size(); ++s)
    if (time[s] > 0)
      states += fmt::format("{}{} {:.3f} ms", states.empty() ? ": " : ", ", trace::thread_state_name(static_cast<trace::ThreadState>(s)),
                            static_cast<double>(time[s]) / 1e6);
  return fmt::format("{}, every {:.3f} ms{}", recording.samples.size(), static_cast<double>(recording.options.sampling_interval_ns) / 1e6,
                     states);
}

struct CategoryPeak {
  std::string_view category;
  std::int64_t bytes = 0;
};

// Of the categories that held anything.
std::vector<CategoryPeak> category_peaks(const analyze::MemoryTimeline& timeline) {
  std::vector<CategoryPeak> peaks;
  for (std::size_t c = 0; c < timeline.category_peaks.size(); ++c) {
    if (timeline.category_peaks[c] > 0)
      peaks.push_back({trace::memory_category_name(static_cast<trace::MemoryCategory>(c)), timeline.category_peaks[c]});
  }
  return peaks;
}

std::string properties_text(const trace::DeviceProperties& device) {
  std::string text = fmt::format("{}: {}", device_text(device.device), device.name);
  for (const auto& [key, value] : device.numbers) text += fmt::format(", {} {}", key, value);
  return one_line(std::move(text));
}

void print_memory(const analyze::Analysis& analysis) {
  for (const trace::Device device : analyze::memory_devices(analysis.recording())) {
    const analyze::MemoryTimeline timeline = analyze::memory_timeline(analysis, device);
    std::string peaks;
    for (const CategoryPeak& peak : category_peaks(timeline)) peaks += fmt::format(", {} {}", peak.category, peak.bytes);
    print_line("memory",
               fmt::format("{}: peak {} bytes{}; {} changes", device_text(device), timeline.peak, peaks, timeline.entries.size()));
  }
}

void print_text(const std::string& file, const Loaded& loaded) {
  const Recording& recording = loaded.recording;
  const analyze::Analysis analysis(recording);
  fmt::print("{}: {}, {} bytes\n", shown(file), loaded.format, loaded.file_size);
  const auto seconds = std::chrono::sys_seconds(std::chrono::seconds(recording.clock.base_unix_ns / 1000000000));
  const double milliseconds = static_cast<double>(recording.clock.end_ns - recording.clock.start_ns) / 1e6;
  print_line("recorded",
             fmt::format("{:%Y-%m-%d %H:%M:%S} UTC, {:.3f} ms", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), milliseconds));
  if (!recording.trace_id.empty()) print_line("trace id", recording.trace_id);
  print_line("options", options_text(recording.options));
  std::string kinds;
  for (const KindCount& kind : count_kinds(recording)) kinds += fmt::format("{}{} {}", kinds.empty() ? ": " : ", ", kind.count, kind.kind);
  print_line("events", fmt::format("{}{}", recording.events.size(), kinds));
  if (recording.samples.size() > 0) print_line("samples", samples_text(recording));
  for (const Track& track : recording.tracks) print_line("track", fmt::format("{}: {} events", track_text(track), track.event_count));
  for (const analyze::Step& step : analyze::steps(analysis)) {
    print_line("step", fmt::format("{}: {:.3f} ms, {} host events, {:.3f} ms device work", step.number,
                                   static_cast<double>(step.duration_ns) / 1e6, step.events, static_cast<double>(step.device_ns) / 1e6));
  }
  for (const trace::DeviceProperties& device : recording.devices) print_line("device", properties_text(device));
  print_devices(recording);
  print_memory(analysis);
  for (const trace::ClockDomain& clock : recording.clock.domains)
    print_line("clock", fmt::format("{}: within {} ns", clock.name, clock.error_bound_ns));
  for (const auto& [key, json] : recording.metadata) print_line("metadata", one_line(fmt::format("{} = {}", key, json)));
  for (const trace::Loss& loss : recording.losses) {
    print_line("lost", fmt::format("{} ({}) {} {}", loss.count, trace::loss_reason_name(loss.reason), loss.where, loss.detail));
  }
  for (const auto& [what, count] : loaded.skipped) print_line("not read", fmt::format("{} {}", count, what));
}

int run_info(const Arguments& arguments) {
  const Loaded loaded = load(arguments.input);
  const std::string& file = arguments.input.file;
  arguments.json ? fmt::print("{}", info_json(facts_of(file, loaded), analyze::Analysis(loaded.recording))) : print_text(file, loaded);
  tell_damage(file, loaded);
  return loaded.damage ? 1 : 0;
}

}  // namespace

FileFacts facts_of(const std::string& name, const Loaded& loaded) {
  return {name, loaded.format, loaded.file_size, loaded.damage, loaded.skipped};
}

std::string info_json(const FileFacts& file, const analyze::Analysis& analysis) {
  const Recording& recording = analysis.recording();
  JsonWriter json;
  const auto write_track = [&](const Track& track) {
    json.object([&] {
      json.field("kind", track.kind == Track::Kind::kThread ? "thread" : "stream").field("id", track.id).field("pid", track.pid);
      json.field("device", device_text(track.device)).field("name", track.name).field("events", track.event_count);
    });
  };
  const auto write_step = [&](const analyze::Step& step) {
    json.object([&] {
      json.field("number", step.number).field("start_ns", step.start_ns).field("duration_ns", step.duration_ns);
      json.field("events", step.events).field("device_ns", step.device_ns);
    });
  };
  const auto write_use = [&](const analyze::TemporalBreakdown& use) {
    json.object([&] {
      json.field("device", device_text(use.device)).field("span_ns", use.span_ns).field("compute_ns", use.compute_ns);
      json.field("non_compute_ns", use.non_compute_ns).field("idle_ns", use.idle_ns);
    });
  };
  const auto write_properties = [&](const trace::DeviceProperties& device) {
    json.object([&] {
      json.field("device", device_text(device.device)).field("name", device.name).object_field("numbers", [&] {
        for (const trace::DeviceProperty& number : device.numbers) json.field(number.key, number.value);
      });
    });
  };
  const auto write_memory = [&](trace::Device device) {
    const analyze::MemoryTimeline timeline = analyze::memory_timeline(analysis, device);
    json.object([&] {
      json.field("device", device_text(device)).field("peak_bytes", timeline.peak).object_field("category_peaks", [&] {
        for (const CategoryPeak& peak : category_peaks(timeline)) json.field(peak.category, peak.bytes);
      });
    });
  };
  json.object([&] {
    json.field("file", file.name).field("format", file.format).field("bytes", file.bytes).field("damage", file.damage);
    json.field("unix_ns", recording.clock.base_unix_ns + recording.clock.start_ns);
    json.field("duration_ns", recording.clock.end_ns - recording.clock.start_ns).field("trace_id", recording.trace_id);
    json.field("events", recording.events.size()).object_field("kinds", [&] {
      for (const KindCount& kind : count_kinds(recording)) json.field(kind.kind, kind.count);
    });
    json.field("memory_reports", recording.memory.size()).list_field("tracks", recording.tracks, write_track);
    json.list_field("steps", analyze::steps(analysis), write_step);
    json.list_field("devices", analyze::temporal_breakdown(recording), write_use);
    json.list_field("device_properties", recording.devices, write_properties);
    json.list_field("memory", analyze::memory_devices(recording), write_memory);
    json.list_field("losses", recording.losses, [&](const trace::Loss& loss) { json.json(trace::loss_json(loss)); });
    json.object_field("metadata", [&] {
      for (const auto& [key, value] : recording.metadata) json.key(key).json(value);
    });
    json.object_field("skipped", [&] {
      for (const auto& [what, count] : file.skipped) json.field(what, count);
    });
  });
  return json.take() + "\n";
}

void add_info(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("info", "What is in a file: events, threads, streams, steps, losses");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->input);
  command->add_flag("--json", arguments->json, "All of it as JSON");
  command->callback([arguments, &run] { run = {{}, [arguments] { return run_info(*arguments); }}; });
}

}  // namespace mindtorch::mtprof
