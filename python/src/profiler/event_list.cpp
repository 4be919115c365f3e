// The functions behind EventList: tables, averages and files of a list of events or averages.
#include <nanobind/stl/optional.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mindtorch/analyze/event_names.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/analyze/row_groups.h"
#include "mindtorch/analyze/stacks.h"
#include "mindtorch/analyze/units.h"
#include "mindtorch/export/chrome/list_writer.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/tabular/tabular.h"
#include "python/src/gil.h"
#include "python/src/profiler/average_row.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/event_rows.h"
#include "python/src/profiler/event_sequence.h"
#include "python/src/profiler/hand_made_event.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using analyze::GroupOptions;
using analyze::KeyAverages;
using analyze::TableContext;

// A list of Python's, or a sequence of ours, whose rows need no Python.
class Rows {
 public:
  explicit Rows(nb::handle object)
      : events_(nb::isinstance<EventSequence>(object) ? &nb::cast<const EventSequence&>(object) : nullptr), list_(object) {}

  const EventSequence* events() const { return events_; }  // null: a list
  // All events of a recording; null: anything else.
  const analyze::Analysis* whole() const { return events_ != nullptr && events_->whole() ? events_->analysis().get() : nullptr; }
  analyze::TableRows get() const { return events_ != nullptr ? table_rows(*events_) : table_rows(list_); }

  // Calls `work`, without the GIL if the rows allow it.
  template <class Work>
  auto unlocked_if_possible(Work work) const {
    if (events_ == nullptr) return work();
    const ReleasedGil unlocked;
    return work();
  }

 private:
  const EventSequence* events_;
  nb::handle list_;
};

nb::str table(nb::handle object, const TableContext& context, const std::optional<std::string>& sort_by,
              std::optional<std::int64_t> row_limit, std::optional<std::int64_t> max_src_column_width,
              std::optional<std::int64_t> max_name_column_width, std::optional<std::int64_t> max_shapes_column_width,
              std::optional<std::string> header, bool top_level_events_only, const std::optional<std::string>& time_unit) {
  const analyze::TableOptions options{.sort_by = sort_by.value_or(""),
                                      .row_limit = row_limit.value_or(-1),
                                      .max_src_column_width = max_src_column_width,
                                      .max_name_column_width = max_name_column_width,
                                      .max_shapes_column_width = max_shapes_column_width,
                                      .header = std::move(header),
                                      .top_level_events_only = top_level_events_only,
                                      .time_unit = time_unit.value_or("")};
  const Rows rows(object);
  return to_text(rows.unlocked_if_possible([&] { return analyze::table(rows.get(), context, options); }));
}

// A recorded event as a row to be grouped. Groups by stack compare the user's frames, whether they are of a whole recording or of a part.
analyze::Average row_to_group(const analyze::Analysis& analysis, const analyze::FunctionEvent& event, const GroupOptions& options) {
  analyze::Average row = event.as_row();
  if (options.group_by_stack_n <= 0 || event.index() == analyze::kNoEvent) return row;
  const auto stack = analysis.stacks().of(event.index());
  row.stack =
      stack ? analysis.stacks().user_frames(*stack, static_cast<std::size_t>(options.group_by_stack_n)) : std::vector<std::string>();
  return row;
}

KeyAverages averages_of(const EventSequence& events, const GroupOptions& options) {
  const analyze::Analysis& analysis = *events.analysis();
  if (events.whole()) return analyze::key_averages(analysis, options);
  analyze::TableRows rows = table_rows(events);
  rows.row = [&](std::size_t i) { return row_to_group(analysis, events[i], options); };
  return analyze::group_rows(rows, options).averages;
}

nb::list key_averages(const EventSequence& events, const GroupOptions& options) {
  KeyAverages averages;
  {
    const ReleasedGil unlocked;
    averages = averages_of(events, options);
  }
  nb::list rows;
  for (analyze::Average& row : averages.rows) rows.append(nb::cast(AverageRow{std::move(row), events.analysis()}));
  return rows;
}

nb::list key_averages(nb::handle list, const GroupOptions& options) {
  analyze::TableRows list_rows = table_rows(list);
  list_rows.row = [&](std::size_t i) {
    const nb::object item = list[i];
    if (!nb::isinstance<EventHandle>(item)) return row_of(item);
    const auto& recorded = nb::cast<const EventHandle&>(item);
    return row_to_group(*recorded.analysis, recorded.event, options);
  };
  analyze::RowGroups groups = analyze::group_rows(list_rows, options);
  nb::list rows;
  for (std::size_t i = 0; i < groups.averages.rows.size(); ++i) {
    AverageRow row{std::move(groups.averages.rows[i])};
    row.take_relations(list[groups.first[i]]);
    rows.append(nb::cast(std::move(row)));
  }
  return rows;
}

nb::list key_averages(nb::handle object, bool group_by_input_shapes, std::int64_t group_by_stack_n, bool group_by_overload_name) {
  const GroupOptions options{group_by_input_shapes, group_by_stack_n, group_by_overload_name};
  const EventSequence* const events = Rows(object).events();
  return events != nullptr ? key_averages(*events, options) : key_averages(object, options);
}

AverageRow total_average(nb::handle object) {
  const Rows rows(object);
  return rows.unlocked_if_possible([&] {
    const KeyAverages averages = rows.whole() != nullptr ? analyze::key_averages(*rows.whole()) : as_averages(rows.get());
    return AverageRow{averages.total_average(), nullptr};
  });
}

void export_stacks(nb::handle object, const std::string& path, const std::string& metric) {
  const Rows rows(object);
  rows.unlocked_if_possible([&] {
    const auto stacks = rows.whole() != nullptr ? analyze::collapsed_stacks(*rows.whole(), metric)
                                                : analyze::collapsed_stacks(as_averages(rows.get()), metric);
    exporter::write_output(path, analyze::collapsed_text(stacks));
  });
}

void export_list_trace(nb::handle object, const std::string& path, const std::string& device) {
  exporter::ListWriter trace(path);
  if (const EventSequence* const events = Rows(object).events()) {
    const ReleasedGil unlocked;
    for (std::size_t i = 0; i < events->size(); ++i) trace.add(exporter::listed((*events)[i]), device);
    trace.commit();
    return;
  }
  for (const nb::handle item : nb::iter(object)) {
    if (nb::isinstance<EventHandle>(item)) {
      trace.add(exporter::listed(nb::cast<const EventHandle&>(item).event), device);
    } else if (is_hand_made(item)) {
      if (const auto event = hand_made_listed(item)) trace.add(*event, device);
    } else {
      trace.add(row_of(item), ::getpid());
    }
  }
  trace.commit();
}

nb::list stack_metrics() {
  nb::list metrics;
  for (const std::string_view metric : analyze::supported_stack_metrics()) metrics.append(to_text(metric));
  return metrics;
}

// Text of all events of a recording comes from the events, of any other list from its rows.
template <class OfEvents, class OfAverages>
nb::str tabular(nb::handle object, const TableContext& context, OfEvents of_events, OfAverages of_averages) {
  const Rows rows(object);
  return to_text(rows.unlocked_if_possible(
      [&] { return rows.whole() != nullptr ? of_events(rows.whole()->events()) : of_averages(as_averages(rows.get(), context)); }));
}

}  // namespace

void bind_event_rows(nb::module_& module) {
  nb::class_<TableContext>(module, "TableContext", "What a table says that its rows do not.")
      .def(
          "__init__",
          [](TableContext* self, bool memory, bool flops) {
            new (self) TableContext{memory, flops, {}, {}};
          },
          nb::arg("profile_memory") = false, nb::arg("with_flops") = false)
      .def_ro("profile_memory", &TableContext::profile_memory)
      .def_ro("with_flops", &TableContext::with_flops);
  module.def("table_context", [](const EventSequence& events) { return analyze::table_context(events.analysis()->recording()); });
  module.def("table", &table, nb::arg("rows"), nb::arg("context"), nb::arg("sort_by").none(), nb::arg("row_limit").none(),
             nb::arg("max_src_column_width").none(), nb::arg("max_name_column_width").none(), nb::arg("max_shapes_column_width").none(),
             nb::arg("header").none(), nb::arg("top_level_events_only"), nb::arg("time_unit").none());
  module.def("key_averages", nb::overload_cast<nb::handle, bool, std::int64_t, bool>(&key_averages), nb::arg("rows"),
             nb::arg("group_by_input_shapes"), nb::arg("group_by_stack_n"), nb::arg("group_by_overload_name"));
  module.def("total_average", &total_average, nb::arg("rows"));
  module.def("export_stacks", &export_stacks, nb::arg("rows"), nb::arg("path"), nb::arg("metric"));
  module.def("export_list_trace", &export_list_trace, nb::arg("rows"), nb::arg("path"), nb::arg("device"));
  module.def(
      "write_text", [](const std::string& path, const std::string& text) { exporter::write_output(path, text); }, nb::arg("path"),
      nb::arg("text"), nb::call_guard<ReleasedGil>());
  module.def(
      "format_time", [](double us) { return analyze::format_time(us); }, nb::arg("us"));
  module.def("format_memory", &analyze::format_memory, nb::arg("bytes"));
  module.def("demangled", &analyze::demangled, nb::arg("name"));
  module.def("supported_export_stacks_metrics", &stack_metrics);
  module.def("to_json",
             [](nb::handle rows, const TableContext& c) { return tabular(rows, c, exporter::events_json, exporter::averages_json); });
  module.def("to_csv",
             [](nb::handle rows, const TableContext& c) { return tabular(rows, c, exporter::events_csv, exporter::averages_csv); });
}

}  // namespace mindtorch::python
