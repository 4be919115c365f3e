// The arguments of all events with the identities of tensors, for trees of raw events.
#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/analyze/tensor_ids.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/tensor_identity.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_sequence.h"

namespace mindtorch::python {
namespace {

using trace::Input;

nb::object number_or_none(std::int64_t number) { return number < 0 ? nb::none() : nb::object(nb::int_(number)); }

// The arguments of one event.
class Row {
 public:
  Row(const trace::Recording& recording, const analyze::TensorIds& ids, trace::EventIndex event)
      : recording_(recording), identities_(trace::tensor_identities(recording.inputs.find(event))), numbers_(ids.of_inputs(event)) {}

  nb::object value(const Input& input) {
    switch (input.kind) {
      case Input::Kind::kTensor: return tensor(input);
      case Input::Kind::kTensorList: {
        nb::list list;
        for (const Input& each : input.list) list.append(tensor(each));
        return list;
      }
      case Input::Kind::kInt: return nb::int_(input.integer);
      case Input::Kind::kBool: return nb::bool_(input.integer != 0);
      case Input::Kind::kDouble: return nb::float_(input.real);
      case Input::Kind::kText: return to_text(recording_.names[input.text]);
      default: return nb::none();
    }
  }

 private:
  // (sizes, strides, dtype, layout, device type, device index, object, storage, tensor number, allocation); None where it is not known.
  nb::object tensor(const Input& input) {
    const auto dtype = static_cast<int>(input.dtype);
    const std::size_t at = next_++;
    const nb::object none = nb::none();
    if (at >= identities_.size() || identities_[at].tensor == 0)
      return nb::make_tuple(to_python(input.sizes), to_python(input.strides), dtype, 0, none, none, none, none, none, none);
    const trace::TensorIdentity& identity = identities_[at];
    const nb::object storage = identity.storage != 0 ? nb::object(nb::int_(identity.storage)) : none;  // a tensor without memory
    const nb::object strides = identity.layout == 0 ? nb::object(to_python(input.strides)) : nb::object(nb::list());
    return nb::make_tuple(to_python(input.sizes), strides, dtype, int{identity.layout}, static_cast<int>(identity.device.type),
                          int{identity.device.index}, identity.tensor, storage, number_or_none(numbers_[at].tensor),
                          number_or_none(numbers_[at].allocation));
  }

  const trace::Recording& recording_;
  std::vector<trace::TensorIdentity> identities_;
  std::span<const analyze::TensorNumbers> numbers_;
  std::size_t next_ = 0;
};

// For each of all_events() the list of its arguments (empty if they were not recorded), then for each of memory_reports() the pair of its
// tensor and allocation.
nb::tuple tensor_inputs(const EventSequence& events) {
  const trace::Recording& recording = events.analysis()->recording();
  const analyze::TensorIds ids(recording);
  nb::list arguments, reports;
  for (std::uint32_t i = 0; i < recording.events.size(); ++i) {
    nb::list values;
    if (const auto words = recording.inputs.find(i); !words.empty()) {
      Row row(recording, ids, i);
      for (const Input& input : trace::decode_inputs(words)) values.append(row.value(input));
    }
    arguments.append(values);
  }
  for (std::size_t i = 0; i < recording.memory.size(); ++i) {
    const analyze::TensorNumbers numbers = ids.of_report(i);
    reports.append(nb::make_tuple(number_or_none(numbers.tensor), number_or_none(numbers.allocation)));
  }
  return nb::make_tuple(arguments, reports);
}

}  // namespace

void bind_tensor_inputs(nb::module_& module) { module.def("tensor_inputs", &tensor_inputs, nb::arg("events")); }

}  // namespace mindtorch::python
