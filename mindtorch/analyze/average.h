// Average: one row of key averages, the fields of torch's FunctionEventAvg. Times are nanoseconds inside; the functions give torch's
// microseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/analyze/event_names.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::analyze {

// The sums of a row. They are plain numbers, because a million distinct names need a million of them before any row gets its text.
struct MINDTORCH_EXPORT Sums {
  std::int64_t count = 0;
  std::int64_t cpu_time_total_ns = 0;
  std::int64_t self_cpu_time_total_ns = 0;
  std::int64_t device_time_total_ns = 0;
  std::int64_t self_device_time_total_ns = 0;
  std::int64_t cpu_memory_usage = 0;
  std::int64_t self_cpu_memory_usage = 0;
  std::int64_t device_memory_usage = 0;
  std::int64_t self_device_memory_usage = 0;
  std::int64_t flops = 0;

  // Calls inside another call of the same row are left out here: this sum can be compared with the whole.
  std::int64_t outermost_cpu_time_ns = 0;

  // Adds the sums of another row, whatever the keys.
  void add_sums(const Sums& other);
};

struct MINDTORCH_EXPORT Average : Sums {
  std::string key;
  std::optional<Shapes> input_shapes;  // unset: rows are not grouped by shape
  std::vector<std::string> stack;      // innermost first; empty: rows are not grouped by stack
  std::string overload_name;           // empty: rows are not grouped by overload

  trace::DeviceType device_type = trace::DeviceType::kCpu;  // on whose timeline
  std::optional<trace::Device> op_device;                   // where the op's tensors live, if the host knows
  std::string use_device;                                   // "cuda", "npu", or empty
  int scope = 0;                                            // torch's RecordScope: 0 function, 1 backward, 7 user
  int node_id = -1;
  bool is_async = false;
  bool is_user_annotation = false;
  bool is_legacy = false;
  bool is_remote = false;

  // The first event of the group and the node around it; kNoEvent in a total. A row with a parent is not top level.
  EventIndex first_event = kNoEvent;
  EventIndex parent = kNoEvent;

  double cpu_time_total() const { return static_cast<double>(cpu_time_total_ns) / 1000.0; }
  double self_cpu_time_total() const { return static_cast<double>(self_cpu_time_total_ns) / 1000.0; }
  double device_time_total() const { return static_cast<double>(device_time_total_ns) / 1000.0; }
  double self_device_time_total() const { return static_cast<double>(self_device_time_total_ns) / 1000.0; }
  double cpu_time() const { return count == 0 ? 0.0 : cpu_time_total() / static_cast<double>(count); }
  double device_time() const { return count == 0 ? 0.0 : device_time_total() / static_cast<double>(count); }

  // Adds the sums of another row. Throws AssertionFailed if the keys differ.
  void add(const Average& other);
};

// A field of a row under torch's name, as a value that can be compared.
using Field = std::variant<std::int64_t, double, std::string, std::vector<std::string>, Shapes>;

// Fields by torch's names ("self_cpu_time_total", "count", "cpu_time_str", ...); "cuda", "xpu", "privateuse1" and "npu" in a name mean
// "device". Throws NoSuchAttribute with torch's text about `type_name` if there is no such field.
MINDTORCH_EXPORT Field field(const Average& average, std::string_view name, std::string_view type_name = "FunctionEventAvg");

// The names field() knows, in the order of torch's class.
MINDTORCH_EXPORT std::span<const std::string_view> field_names();

}  // namespace mindtorch::analyze
