// Torch's names in a Chrome trace: the category of each kind of event, and the arguments that say what a column or table already says.
#pragma once

#include <array>
#include <string_view>

#include "mindtorch/trace/event.h"

namespace mindtorch::exporter {

// The category of a kind of event, given the device it belongs to (runtime calls are named after their vendor).
std::string_view category(trace::EventKind kind, trace::DeviceType device);

// The kind a category stands for where the arguments say nothing more precise; false if the category is not one of torch's.
bool kind_of_category(std::string_view category, trace::EventKind* kind, trace::DeviceType* device);

// The kind a reader takes the category of `kind` for.
constexpr trace::EventKind kind_seen_by_readers(trace::EventKind kind) {
  switch (kind) {
    case trace::EventKind::kBackward: return trace::EventKind::kOp;
    case trace::EventKind::kStep: return trace::EventKind::kScope;
    case trace::EventKind::kModule: return trace::EventKind::kPythonFunction;
    case trace::EventKind::kCollective: return trace::EventKind::kKernel;
    default: return kind;
  }
}

// What an event of this category-kind is once its name and link are seen: a step, a module call, the evaluation of an autograd node.
trace::EventKind implied_kind(trace::EventKind of_category, std::string_view name, std::uint64_t link);

// Our own word for a kind ("backward"), written where implied_kind() would be wrong.
std::string_view kind_name(trace::EventKind kind);
bool kind_of_name(std::string_view name, trace::EventKind* kind);

inline constexpr std::string_view kStepPrefix = "ProfilerStep#";
inline constexpr std::string_view kModulePrefix = "nn.Module: ";
inline constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kMemoryName = "[memory]";
inline constexpr std::string_view kWindowStart = "Iteration Start: PyTorch Profiler";
inline constexpr std::string_view kWindowEnd = "Record Window End";
// Key of the object in the header that holds what torch's schema has no place for.
inline constexpr std::string_view kOwnHeader = "mindtorch";

// Arguments the writer makes from columns and tables. An attribute of the same name is left out, so that no key stands twice.
inline constexpr std::array<std::string_view, 31> kOwnArguments = {"External id",
                                                                   "Record function id",
                                                                   "Sequence number",
                                                                   "Fwd thread id",
                                                                   "Ev Idx",
                                                                   "finished",
                                                                   "async",
                                                                   "Kind",
                                                                   "Input Dims",
                                                                   "Input type",
                                                                   "Input Strides",
                                                                   "Concrete Inputs",
                                                                   "input_shapes",
                                                                   "stack",
                                                                   "device_type",
                                                                   "Device Type",
                                                                   "Device Id",
                                                                   "Python id",
                                                                   "Python parent id",
                                                                   "device",
                                                                   "stream",
                                                                   "correlation",
                                                                   "cpu_memory_allocated_before",
                                                                   "cpu_memory_allocated_after",
                                                                   "cpu_memory_allocated_delta",
                                                                   "npu_memory_allocated_before",
                                                                   "npu_memory_allocated_after",
                                                                   "npu_memory_allocated_delta",
                                                                   "cuda_memory_allocated_before",
                                                                   "cuda_memory_allocated_after",
                                                                   "cuda_memory_allocated_delta"};

bool is_own_argument(std::string_view key);

}  // namespace mindtorch::exporter
