// mindtorch_v2._runtime._npu.
#include "runtime/python/src/devices.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

#include "mindtorch/runtime/kernels/npu/npu.h"
#include "mindtorch/runtime/memory.h"
#include "python/src/text.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"

namespace mindtorch::python {

namespace {

// None, an index, a text or a device. A thread's current device is always number 0 unless it says so.
Device npu_argument(nb::handle object) {
  if (object.is_none()) return kNPU;
  if (PyLong_Check(object.ptr())) return {kNPU, nb::cast<std::uint8_t>(object)};
  const std::optional<Device> device = as_device(object.ptr());
  if (!device || device->type != kNPU) throw_error<InvalidArgument>("npu", "Expected an npu device, but got: {}", str_of(object));
  return *device;
}

template <auto function>
auto of_device(nb::handle device) {
  return function(npu_argument(device));
}

template <auto function>
void bind(nb::module_& module, const char* name) {
  module.def(name, of_device<function>, nb::arg("device") = nb::none());
}

void bind_memory(nb::module_& module) {
  bind<npu::memory_allocated>(module, "memory_allocated");
  bind<npu::max_memory_allocated>(module, "max_memory_allocated");
  bind<npu::memory_reserved>(module, "memory_reserved");
  bind<npu::max_memory_reserved>(module, "max_memory_reserved");
  bind<npu::reset_peak_memory_stats>(module, "reset_peak_memory_stats");
  bind<npu::mem_get_info>(module, "mem_get_info");
  bind<npu::memory_stats>(module, "memory_stats");
  bind<reset_accumulated_memory_stats>(module, "reset_accumulated_memory_stats");
  module.def("empty_cache", [] { npu::empty_cache(); });
}

void bind_streams(nb::module_& module) {
  using npu::Event;
  using npu::Stream;
  nb::class_<Event>(module, "Event", "A place on a stream.")
      .def(
          "__init__", [](Event* self, bool) { new (self) Event(); }, nb::arg("enable_timing") = true)
      .def(
          "record", [](const Event& self, const Stream* stream) { self.record(stream != nullptr ? *stream : Stream::current()); },
          nb::arg("stream").none() = nb::none())
      .def(
          "wait", [](const Event& self, const Stream* stream) { self.wait(stream != nullptr ? *stream : Stream::current()); },
          nb::arg("stream").none() = nb::none())
      .def("query", &Event::query)
      .def("synchronize",
           [](const Event& self) {
             const ReleasedGil released;
             self.synchronize();
           })
      .def("elapsed_time", &Event::elapsed_time, nb::arg("end_event"));
  nb::class_<Stream>(module, "Stream", "Work of one stream runs in order; streams run side by side.")
      .def(
          "__init__", [](Stream* self, nb::handle device, int) { new (self) Stream(npu_argument(device)); }, nb::arg("device") = nb::none(),
          nb::arg("priority") = 0)
      .def_prop_ro("device", [](const Stream& self) { return nb::steal(checked(wrap(self.device()))); })
      .def_prop_ro("stream_id", &Stream::id)
      .def("query", &Stream::query)
      .def("synchronize",
           [](const Stream& self) {
             const ReleasedGil released;
             self.synchronize();
           })
      .def("wait_event", &Stream::wait_event, nb::arg("event"))
      .def("wait_stream", &Stream::wait_stream, nb::arg("stream"))
      .def(
          "record_event",
          [](const Stream& self, nb::object event) {
            if (event.is_none()) return nb::cast(self.record_event());
            nb::cast<Event&>(event).record(self);
            return event;
          },
          nb::arg("event") = nb::none())
      .def("__eq__", [](const Stream& self, const Stream& other) { return self == other; })
      .def("__hash__", [](const Stream& self) { return reinterpret_cast<std::uintptr_t>(self.handle()) >> 4; })
      .def("__repr__",
           [](const Stream& self) { return fmt::format("<torch.npu.Stream device={} stream_id={}>", self.device().str(), self.id()); });
  module.def(
      "current_stream", [](nb::handle device) { return Stream::current(npu_argument(device)); }, nb::arg("device") = nb::none());
  module.def(
      "default_stream", [](nb::handle device) { return Stream::default_of(npu_argument(device)); }, nb::arg("device") = nb::none());
  // For the context manager npu.stream(): makes a stream current until the guard is closed.
  struct OpenStream {
    std::unique_ptr<npu::StreamGuard> guard;
  };
  nb::class_<OpenStream>(module, "OpenStream").def("close", [](OpenStream& self) { self.guard.reset(); });
  module.def(
      "open_stream", [](const Stream& stream) { return OpenStream{std::make_unique<npu::StreamGuard>(stream)}; }, nb::arg("stream"));
}

}  // namespace

void bind_devices(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("_npu", "The NPU backend.");
  module.def("is_available", &npu::is_available);
  module.def("device_count", &npu::device_count);
  module.def("unavailable_reason", [] { return npu::availability().reason(); });
  module.def(
      "use_provider", [](const std::string& name) { npu::use_provider(name); }, nb::arg("name"));
  module.def("provider_name", &npu::provider_name);
  module.def(
      "synchronize",
      [](nb::handle device) {
        const Device target = npu_argument(device);
        const ReleasedGil released;
        npu::synchronize(target);
      },
      nb::arg("device") = nb::none());
  bind_memory(module);
  bind_streams(module);
  parent.def("cpu_memory_allocated", [] { return memory_allocated(Device()); });
}

}  // namespace mindtorch::python
