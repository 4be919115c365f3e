// Decodes arguments and attributes.
#include "python/src/profiler/event_inputs.h"

#include <bit>
#include <string>
#include <vector>

#include "mindtorch/analyze/copy_bandwidth.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/inputs.h"
#include "python/src/profiler/conversions.h"

namespace mindtorch::python {
namespace {

using trace::Attribute;
using trace::Input;

nb::object value_of(const Input& input, const std::vector<std::string>& names) {
  switch (input.kind) {
    case Input::Kind::kInt: return nb::int_(input.integer);
    case Input::Kind::kBool: return nb::bool_(input.integer != 0);
    case Input::Kind::kDouble: return nb::float_(input.real);
    case Input::Kind::kText: return to_text(names[input.text]);
    case Input::Kind::kIntList: return to_python(input.sizes);
    case Input::Kind::kBoolList: {
      nb::list list;
      for (const std::int64_t value : input.sizes) list.append(nb::bool_(value != 0));
      return list;
    }
    case Input::Kind::kDoubleList: {
      nb::list list;
      for (const double real : input.reals) list.append(nb::float_(real));
      return list;
    }
    default: return nb::none();
  }
}

nb::object value_of(const Attribute& attribute, const std::vector<std::string>& names) {
  const auto text = [&] { return to_text(names[static_cast<std::size_t>(attribute.bits)]); };
  switch (attribute.type) {
    case Attribute::Type::kInt: return nb::int_(attribute.bits);
    case Attribute::Type::kBool: return nb::bool_(attribute.bits != 0);
    case Attribute::Type::kDouble: return nb::float_(std::bit_cast<double>(attribute.bits));
    case Attribute::Type::kText: return text();
    case Attribute::Type::kJson: return imported("json", "loads")(text());
  }
  return nb::none();
}

}  // namespace

nb::list concrete_inputs(const EventHandle& handle) {
  nb::list list;
  for (const Input& input : handle.event.inputs()) list.append(value_of(input, handle.recording().names));
  return list;
}

nb::list input_types(const EventHandle& handle) {
  nb::list list;
  for (const Input& input : handle.event.inputs()) list.append(to_text(exporter::input_type_name(input)));
  return list;
}

nb::dict attributes(const EventHandle& handle) {
  nb::dict dict;
  if (handle.event.index() == analyze::kNoEvent) return dict;
  const trace::Recording& recording = handle.recording();
  const std::span<const Attribute> recorded = recording.attributes.find(handle.event.index());
  for (const Attribute& attribute : recorded) dict[to_text(recording.names[attribute.key])] = value_of(attribute, recording.names);
  if (const auto bandwidth = analyze::copy_bandwidth(recording, handle.event.index(), recorded))
    dict[to_text(trace::chrome_format::argument::kMemoryBandwidth)] = *bandwidth;
  return dict;
}

std::int64_t correlation_of(const EventHandle& handle) {
  const trace::EventKind kind = handle.event.kind();
  const bool linked = handle.event.index() != analyze::kNoEvent && (trace::is_device_kind(kind) || trace::is_launch_kind(kind));
  return linked ? static_cast<std::int64_t>(handle.recording().events.link[handle.event.index()]) : 0;
}

}  // namespace mindtorch::python
