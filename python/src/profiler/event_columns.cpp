// Events as columns for data frames: numbers as arrays, texts as codes into a list of distinct texts. No Python object is made for an
// event.
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "python/src/gil.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_sequence.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using analyze::FunctionEvent;

// Numbers distinct texts in the order they are first met.
class TextColumn {
 public:
  void add(std::string text) {
    const auto [at, is_new] = codes_of_.try_emplace(std::move(text), static_cast<std::int32_t>(codes_of_.size()));
    if (is_new) texts_.push_back(at->first);
    codes_.push_back(at->second);
  }
  std::vector<std::int32_t> take_codes() { return std::move(codes_); }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::int32_t> codes_of_;
  std::vector<std::string> texts_;
  std::vector<std::int32_t> codes_;
};

// A NumPy array that owns the numbers.
template <class T>
nb::object to_array(std::vector<T> numbers) {
  auto* const kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

struct NumberColumn {
  const char* name;
  std::int64_t (*read)(const FunctionEvent&);
};
constexpr NumberColumn kNumbers[] = {
    {"id", [](const FunctionEvent& e) { return e.id(); }},
    {"step", [](const FunctionEvent& e) { return e.step(); }},
    {"start_ns", [](const FunctionEvent& e) { return e.start_ns(); }},
    {"duration_ns", [](const FunctionEvent& e) { return e.duration_ns(); }},
    {"thread_id", [](const FunctionEvent& e) { return e.thread_id(); }},
    {"self_cpu_time_ns", [](const FunctionEvent& e) { return e.self_cpu_time_total_ns(); }},
    {"device_time_ns", [](const FunctionEvent& e) { return e.device_time_total_ns(); }},
    {"self_device_time_ns", [](const FunctionEvent& e) { return e.self_device_time_total_ns(); }},
    {"sequence_nr", [](const FunctionEvent& e) { return e.sequence_nr(); }},
};

std::string joined_stack(const FunctionEvent& event) {
  std::string text;
  for (const std::string& frame : event.stack()) text += (text.empty() ? "" : ";") + frame;
  return text;
}

struct TextSource {
  const char* name;
  std::string (*read)(const FunctionEvent&);
  bool (*recorded)(const trace::RecordedOptions&);
};
constexpr TextSource kTexts[] = {
    {"name", [](const FunctionEvent& e) { return std::string(e.trace_name()); }, [](const trace::RecordedOptions&) { return true; }},
    {"kind", [](const FunctionEvent& e) { return std::string(e.kind_name()); }, [](const trace::RecordedOptions&) { return true; }},
    {"device_type",
     [](const FunctionEvent& e) { return std::string(trace::device_type_name(e.op_device().value_or(trace::Device{}).type)); },
     [](const trace::RecordedOptions&) { return true; }},
    {"input_shapes", [](const FunctionEvent& e) { return analyze::shapes_text(e.shapes()); },
     [](const trace::RecordedOptions& options) { return options.shapes; }},
    {"stack", &joined_stack, [](const trace::RecordedOptions& options) { return options.stacks; }},
};

nb::object number_column(const EventSequence& events, std::int64_t (*read)(const FunctionEvent&)) {
  std::vector<std::int64_t> numbers(events.size());
  {
    const ReleasedGil unlocked;
    for (std::size_t i = 0; i < events.size(); ++i) numbers[i] = read(events[i]);
  }
  return to_array(std::move(numbers));
}

nb::object text_column(const EventSequence& events, std::string (*read)(const FunctionEvent&)) {
  TextColumn column;
  {
    const ReleasedGil unlocked;
    for (std::size_t i = 0; i < events.size(); ++i) column.add(read(events[i]));
  }
  return nb::make_tuple(to_array(column.take_codes()), to_python(column.texts()));
}

// {name: array} for numbers, {name: (codes, texts)} for texts.
nb::dict columns(const EventSequence& events) {
  nb::dict dict;
  for (const TextSource& column : kTexts)
    if (column.recorded(events.analysis()->recording().options)) dict[column.name] = text_column(events, column.read);
  for (const NumberColumn& column : kNumbers) dict[column.name] = number_column(events, column.read);
  return dict;
}

}  // namespace

void bind_event_columns(nb::module_& module) { module.def("event_columns", &columns, nb::arg("events")); }

}  // namespace mindtorch::python
