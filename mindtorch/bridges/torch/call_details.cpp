// Values are written as text when the call happens: tensors may be gone, or have changed, when the trace is written.
#include "mindtorch/bridges/torch/call_details.h"

#include <ATen/core/function_schema.h>
#include <torch/csrc/profiler/util.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/bridges/torch/call_values.h"
#include "mindtorch/record/constant_name.h"
#include "mindtorch/record/hooks.h"

namespace mindtorch::torch_bridge {
namespace {

// The last `count` of all values: what lies below the arguments on the interpreter's stack belongs to others.
template <class Values>
CallText values_of(const Values& all, std::size_t count) {
  CallText text;
  for (std::size_t i = count <= all.size() ? all.size() - count : all.size(); i < all.size(); ++i) append_value(all[i], text);
  return text;
}

record::CallValuesOf<std::string_view> view_of(const CallText& text) { return {text.values, text.shapes, text.types, text.strides}; }

std::string schema_of(const at::RecordFunction& fn) {
  const std::optional<c10::FunctionSchema> schema = fn.operator_schema();
  return schema ? c10::toString(*schema) : std::string();
}

std::string keyword(const at::RecordFunction& fn, const char* name) {
  const auto found = fn.kwinputs().find(name);
  return found != fn.kwinputs().end() && found->second.isString() ? found->second.toStringRef() : std::string();
}

// The parameters of a collective: torch's names in traces of its profiler, and in execution traces with their types.
struct Parameter {
  std::string_view in_profile, name, type;
};
constexpr std::array<Parameter, 11> kParameters{{{"Collective name", "collective_name", "string"},
                                                 {"dtype", "dtype", "string"},
                                                 {"In msg nelems", "in_msg_nelems", "uint64"},
                                                 {"Out msg nelems", "out_msg_nelems", "uint64"},
                                                 {"In split size", "in_split_size", "string"},
                                                 {"Out split size", "out_split_size", "string"},
                                                 {"Global rank start", "global_rank_start", "uint64"},
                                                 {"Global rank stride", "global_rank_stride", "uint64"},
                                                 {"Process Group Name", "pg_name", "string"},
                                                 {"Process Group Description", "pg_desc", "string"},
                                                 {"Group size", "pg_size", "uint64"}}};

void append_attribute(std::string& out, std::string_view name, std::string_view type, std::string_view json) {
  if (!out.empty()) out += ", ";
  out.append(R"({"name": ")").append(name).append(R"(", "type": ")").append(type).append(R"(", "value": )").append(json).append("}");
}

std::string collective_attributes(const at::RecordFunction& fn) {
  std::string text;
  const auto values = torch::profiler::impl::saveNcclMeta(fn);
  for (const auto& [in_profile, name, type] : kParameters)
    if (const auto found = values.find(std::string(in_profile)); found != values.end()) append_attribute(text, name, type, found->second);
  if (const auto found = values.find("Is asynchronized op"); found != values.end())
    append_attribute(text, "is_asynchronized_op", "string", found->second);
  return text;
}

// Compiled code names the file of a kernel, and the stream that it runs on is one more argument.
void append_kernel(const at::RecordFunction& fn, CallText& inputs) {
  const auto stream = fn.kwinputs().find("stream");
  if (stream != fn.kwinputs().end() && stream->second.isInt()) append_value(stream->second, inputs);
}

}  // namespace

void begin_call_details() {
  if (record::call_details_state.load() == record::CallDetailsState::kOff) forget_numbers();
}

void keep_call_start(const at::RecordFunction& fn, record::Slot* slot) {
  static constinit record::ConstantName key(record::kCallId);
  record::add_attribute(slot, key.id(), static_cast<std::int64_t>(fn.handle()));
  CallText inputs = values_of(fn.inputs(), fn.num_inputs());
  const std::string backend = keyword(fn, "kernel_backend");
  std::string file = keyword(fn, "kernel_file");
  file.erase(0, file.find_last_of('/') + 1);
  if (backend == "triton") append_kernel(fn, inputs);
  const std::string schema = schema_of(fn);
  const std::string attributes = fn.isNcclMeta() ? collective_attributes(fn) : std::string();
  record::keep_call_inputs(fn.handle(), {.inputs = view_of(inputs),
                                         .outputs = {},
                                         .schema = schema,
                                         .kernel_backend = backend,
                                         .kernel_file = file,
                                         .attributes = attributes});
}

void keep_call_end(const at::RecordFunction& fn) {
  const std::vector<c10::IValue> outputs = fn.outputs();
  record::keep_call_outputs(fn.handle(), view_of(values_of(outputs, fn.num_outputs())));
}

}  // namespace mindtorch::torch_bridge
