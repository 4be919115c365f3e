// Overloads, keyword values and collectives; arguments are written in op_inputs.cpp.
#include "mindtorch/bridges/torch/op_details.h"

#include <torch/csrc/profiler/util.h>

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/bridges/torch/applied_functions.h"
#include "mindtorch/record/constant_name.h"

namespace mindtorch::torch_bridge {
namespace {

// Torch says which overload was called since 2.7.
template <class Function>
const char* overload_of(const Function& fn) {
  if constexpr (requires { fn.overload_name(); })
    return fn.overload_name();
  else
    return "";
}

// "True" of Python is "true" in JSON; other values read the same.
std::string json_of(const c10::IValue& value) {
  if (value.isBool()) return value.toBool() ? "true" : "false";
  return torch::profiler::impl::ivalueToStr(value, value.isString());
}

void record_keywords(const at::RecordFunction& fn, record::Slot* slot) {
  for (const auto& [key, value] : fn.kwinputs()) {
    const record::NameId name = record::intern_cached(key);
    if (value.isInt())
      record::add_attribute(slot, name, value.toInt());
    else if (value.isString())
      record::add_attribute(slot, name, std::string_view(value.toStringRef()));
    else
      record::add_json_attribute(slot, name, json_of(value));
  }
}

}  // namespace

void record_rare_details(const at::RecordFunction& fn, std::uint64_t state, record::Slot* slot) {
  if ((state & record::kShapes) != 0) record_keywords(fn, slot);
  if ((state & record::kOverloads) != 0) {
    static constinit record::ConstantName key("overload_name");
    if (const std::string_view overload = overload_of(fn); !overload.empty()) record::add_attribute(slot, key.id(), overload);
  }
}

void record_applied_details(const at::RecordFunction& fn, const OpName& name, std::uint64_t state, record::Slot* slot) {
  const std::vector<c10::IValue> applied = (state & record::kShapes) != 0 ? applied_arguments(fn) : std::vector<c10::IValue>();
  if (applied.empty()) return record_details(fn, name, state, slot);
  record_arguments(c10::ArrayRef<const c10::IValue>(applied.data(), applied.size()), state, slot);
  record_rare_details(fn, state, slot);
}

void record_collective(const at::RecordFunction& fn, record::Slot* slot) {
  for (const auto& [key, json] : torch::profiler::impl::saveNcclMeta(fn))
    record::add_json_attribute(slot, record::intern_cached(key), json);
}

}  // namespace mindtorch::torch_bridge
