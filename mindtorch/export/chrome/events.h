// Events, memory reports and flows as elements of "traceEvents".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/derived_calls.h"
#include "mindtorch/export/call_ids.h"
#include "mindtorch/export/chrome/arguments.h"
#include "mindtorch/export/flows.h"
#include "mindtorch/export/json_text.h"
#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/open_spans.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::chrome {

// Each element is followed by a comma and a newline, so another element must follow the last one.
class EventsWriter {
 public:
  // `offset_ns` is added to times of the recording; `layout` must outlive this.
  EventsWriter(const analyze::Analysis& analysis, const Layout& layout, std::int64_t offset_ns, Output& out);

  // True if only ops off the CPU are marked with their device.
  bool devices_known() const { return arguments_.devices_known(); }

  void write_complete_events();
  void write_instants();
  void write_memory();
  // Arrows of one kind ("ac2g", "fwdbwd").
  void write_flows(std::string_view kind, const std::vector<Flow>& flows);

 private:
  void write_complete(trace::TrackId track, trace::EventIndex event);
  // The Python functions, known from stacks, whose first event this is. Viewers take the first of two slices with the same times for the
  // outer one, so functions are written before their events.
  void write_derived_calls(trace::TrackId track, trace::EventIndex event);
  void write_arguments(JsonCursor& cursor, trace::TrackId track, trace::EventIndex event);
  // The id of the op that a runtime call or device activity belongs to, or of the scope whose span it is; 0 if there is none.
  std::uint64_t external_id(trace::EventIndex event) const;
  void write_python_ids(JsonCursor& cursor, std::int64_t start_ns, std::int64_t end_ns);
  void write_instant(const Row& row, trace::EventIndex event);
  std::string_view escaped(trace::NameId name) const;
  // Which overload of an op was called; empty if that was not recorded.
  std::string_view overload(trace::EventIndex event) const;
  std::uint32_t row_of(trace::EventIndex event) const;

  const trace::Recording& recording_;
  const analyze::Analysis* devices_;  // null if no device was recorded
  const Layout& layout_;
  std::int64_t offset_ns_;
  Output& out_;
  EventArguments arguments_;
  CallIds call_ids_;
  RowOfEvent row_of_event_;
  std::string escaped_names_;
  std::vector<std::size_t> name_offsets_;
  trace::NameId overload_key_ = 0;                // 0: no op has one
  std::vector<std::string> row_text_;             // `","pid":1,"tid":2,"ts":` of each row
  std::vector<std::string> prefix_text_;          // `{"ph":"X","cat":"...","name":"` of each kind, for CUDA and for NPU
  trace::DeviceType runtime_device_;              // whose runtime calls these are, where the event does not say
  trace::OpenSpans<std::uint64_t> python_calls_;  // ids of those that are open on the track being written
  std::uint64_t python_ids_ = 0;
  std::vector<analyze::DerivedCall> derived_calls_;
  std::size_t next_derived_ = 0;
  std::string scratch_;
};

}  // namespace mindtorch::exporter::chrome
