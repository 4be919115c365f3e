// The commands of mtprof inside the Python process, and the formats that Python writes.
#include "mtprof/program.h"

#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/analyze/ranks/summary_bytes.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/report/job_writer.h"
#include "mtprof/ranks_output.h"
#include "mtprof/ranks_reading.h"
#include "python/src/gil.h"
#include "python/src/profiler/arrow_streams.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

int run_program(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"mtprof"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const ReleasedGil unlocked;
  mtprof::keep_freed_memory();
  return mtprof::run_program(static_cast<int>(argv.size()), argv.data());
}

using OpenTable = void (*)(const analyze::Analysis& analysis, ArrowArrayStream* out);

void open_events(const analyze::Analysis& analysis, ArrowArrayStream* out) {
  const analyze::Events& events = analysis.events();
  exporter::open_events_stream(
      analysis.recording().options, events.size(), [&](std::size_t i) { return events[i]; }, out);
}

void open_averages(const analyze::Analysis& analysis, ArrowArrayStream* out) {
  exporter::open_averages_stream(analyze::key_averages(analysis).rows, out);
}

void open_counters(const analyze::Analysis& analysis, ArrowArrayStream* out) {
  exporter::open_counters_stream(analyze::counters(analysis), out);
}

void open_steps(const analyze::Analysis& analysis, ArrowArrayStream* out) { exporter::open_steps_stream(analyze::steps(analysis), out); }

// Hands a table to a function of Python. Exporters run without the GIL, and their errors are those of the library.
void write_table(nb::handle write, OpenTable open, const analyze::Analysis& analysis, const std::string& path) {
  ArrowArrayStream stream{};
  open(analysis, &stream);
  const WithGil locked;
  if (!locked) throw_error("profiler.table", "'{}' cannot be written: Python is about to end", path);
  const nb::object table = stream_object(stream);
  try {
    write(table, path);
  } catch (nb::python_error& error) {
    const nb::object code = nb::getattr(error.value(), "errno", nb::none());
    if (error.matches(PyExc_OSError) && !code.is_none()) throw_io_error("profiler.table", "write", path, nb::cast<int>(code));
    throw_error("profiler.table", "{}", str_of(error.value()));
  }
}

// Adds a format whose files a function of Python writes, for each table. The function lives as long as the process.
void add_table_formats(const std::string& suffix, const std::string& needs, nb::object write) {
  struct Table {
    const char* name;
    const char* what;
    OpenTable open;
  };
  constexpr Table kTables[] = {{"", "list of events", open_events},
                               {".averages", "averages by name", open_averages},
                               {".counters", "counters over time", open_counters},
                               {".steps", "steps", open_steps}};
  const nb::handle function = write.release();
  for (const Table& table : kTables) {
    static std::deque<std::string> texts;  // which the list of formats refers to
    const std::string& end = texts.emplace_back(table.name + suffix);
    const std::string& what = texts.emplace_back(fmt::format("{} (needs {})", table.what, needs));
    exporter::add_format({end, what}, [function, open = table.open](const analyze::Analysis& analysis, const std::string& path) {
      write_table(function, open, analysis, path);
    });
  }
}

mtprof::RanksRead read_ranks(const std::vector<std::string>& paths, std::uint64_t max_memory, unsigned threads) {
  mtprof::FoundFiles found = mtprof::find_recordings(paths);
  mtprof::RanksRead read = mtprof::read_ranks(found.files, max_memory, threads);
  read.faults.insert(read.faults.end(), found.faults.begin(), found.faults.end());
  return read;
}

analyze::Job compare_ranks(const std::vector<std::string>& paths, std::uint64_t max_memory, unsigned threads) {
  mtprof::RanksRead read = read_ranks(paths, max_memory, threads);
  mtprof::number_the_rest(read);
  return analyze::reduce_ranks(std::move(read.summaries), std::move(read.faults));
}

std::string ranks_json(const std::vector<std::string>& paths, std::uint64_t max_memory, unsigned threads) {
  const ReleasedGil unlocked;
  return mtprof::job_json(compare_ranks(paths, max_memory, threads));
}

void write_ranks_page(const std::vector<std::string>& paths, const std::string& page, const std::string& title) {
  const ReleasedGil unlocked;
  exporter::write_job_report(compare_ranks(paths, 0, 0), page, title);
}

nb::bytes summarize_ranks(const std::vector<std::string>& paths, std::uint64_t max_memory, unsigned threads) {
  const std::string bytes = [&] {
    const ReleasedGil unlocked;
    return analyze::summary_bytes(mtprof::with_unreadable(read_ranks(paths, max_memory, threads)));
  }();
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void bind_program(nb::module_& module) {
  module.def("run_program", &run_program, nb::arg("arguments"), "Runs a command of mtprof that is written in C++; returns its status.");
  module.def("ranks_json", &ranks_json, nb::arg("paths"), nb::arg("max_memory") = 0, nb::arg("threads") = 0,
             "JSON of `mtprof ranks --json`.");
  module.def("write_ranks_page", &write_ranks_page, nb::arg("paths"), nb::arg("page"), nb::arg("title"),
             "Writes the page of `mtprof ranks -o`.");
  module.def(
      "ranks_files", [](const std::vector<std::string>& paths) { return mtprof::find_recordings(paths).files; }, nb::arg("paths"),
      "The files that `mtprof ranks PATHS` reads.");
  module.def("summarize_ranks", &summarize_ranks, nb::arg("paths"), nb::arg("max_memory") = 0, nb::arg("threads") = 0,
             "The bytes of a file of summaries (.mtsum).");
  module.def("add_table_formats", &add_table_formats, nb::arg("suffix"), nb::arg("needs"), nb::arg("write"),
             "Lets exports to files of this suffix call write(table, path); the table has __arrow_c_stream__().");
}

}  // namespace mindtorch::python
