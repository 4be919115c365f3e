// Events, averages and counters as capsules of Arrow's C stream interface (__arrow_c_stream__).
#include "python/src/profiler/arrow_streams.h"

#include <memory>
#include <utility>
#include <vector>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/tabular/tabular_arrow.h"
#include "python/src/gil.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/event_rows.h"
#include "python/src/profiler/event_sequence.h"

namespace mindtorch::python {
namespace {

constexpr const char* kCapsuleName = "arrow_array_stream";

// A consumer moves the stream out of the capsule and leaves it without `release`.
void drop_stream(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

// Gives its table to the first who asks.
struct OneStream {
  ArrowArrayStream stream{};
  OneStream() = default;
  OneStream(OneStream&& other) noexcept : stream(std::exchange(other.stream, {})) {}
  OneStream& operator=(OneStream&&) = delete;
  ~OneStream() {
    if (stream.release != nullptr) stream.release(&stream);
  }
};

}  // namespace

nb::object stream_capsule(const std::function<void(ArrowArrayStream*)>& open) {
  auto stream = std::make_unique<ArrowArrayStream>();
  open(stream.get());
  PyObject* capsule = PyCapsule_New(stream.get(), kCapsuleName, &drop_stream);
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw nb::python_error();
  }
  static_cast<void>(stream.release());
  return nb::steal(capsule);
}

nb::object stream_object(ArrowArrayStream stream) {
  OneStream one;
  one.stream = stream;
  return nb::cast(std::move(one));
}

namespace {

nb::object rows_stream(nb::handle rows) {
  if (!nb::isinstance<EventSequence>(rows)) {
    const std::vector<analyze::Average> averages = as_averages(table_rows(rows)).rows;
    return stream_capsule([&](ArrowArrayStream* out) { exporter::open_averages_stream(averages, out); });
  }
  const auto& events = nb::cast<const EventSequence&>(rows);
  return stream_capsule([&](ArrowArrayStream* out) {
    const ReleasedGil unlocked;
    const trace::RecordedOptions& options = events.analysis()->recording().options;
    exporter::open_events_stream(
        options, events.size(), [&](std::size_t i) { return events[i]; }, out);
  });
}

struct Counters {
  std::vector<analyze::Counter> all;
};

Counters counters_of(const EventSequence& events) {
  const ReleasedGil unlocked;
  return {analyze::counters(*events.analysis())};
}

std::size_t size_of(const Counters& counters) {
  std::size_t size = 0;
  for (const analyze::Counter& counter : counters.all) size += counter.values.size();
  return size;
}

}  // namespace

void bind_arrow_streams(nb::module_& module) {
  module.def("arrow_stream", &rows_stream, nb::arg("rows"));
  nb::class_<Counters>(module, "Counters", "Values of counters over time, as a table for Arrow: name, device, time_ns, value.")
      .def("__len__", &size_of)
      .def(
          "__arrow_c_stream__",
          [](const Counters& self, nb::handle) {
            return stream_capsule([&](ArrowArrayStream* out) { exporter::open_counters_stream(self.all, out); });
          },
          nb::arg("requested_schema") = nb::none());
  nb::class_<OneStream>(module, "OneStream", "A table for Arrow, which can be taken once.")
      .def(
          "__arrow_c_stream__",
          [](OneStream& self, nb::handle) {
            if (self.stream.release == nullptr) throw_error("profiler.arrow", "this table was taken already");
            return stream_capsule([&](ArrowArrayStream* out) { *out = std::exchange(self.stream, {}); });
          },
          nb::arg("requested_schema") = nb::none());
  module.def("counters", &counters_of, nb::arg("events"));
}

}  // namespace mindtorch::python
