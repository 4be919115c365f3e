// The table of categories.
#include "mindtorch/export/category.h"

#include <algorithm>

namespace mindtorch::exporter {
namespace {

using trace::DeviceType;
using trace::EventKind;

struct Known {
  std::string_view category;
  EventKind kind;
  DeviceType device = DeviceType::kCpu;
};

// The first entry of a category is what a reader takes it for.
constexpr std::array kKnown = {
    Known{"cpu_op", EventKind::kOp},
    Known{"user_annotation", EventKind::kScope},
    Known{"python_function", EventKind::kPythonFunction},
    Known{"cuda_runtime", EventKind::kRuntime, DeviceType::kCuda},
    Known{"cuda_driver", EventKind::kDriver, DeviceType::kCuda},
    Known{"privateuse1_runtime", EventKind::kRuntime, DeviceType::kNpu},
    Known{"privateuse1_driver", EventKind::kDriver, DeviceType::kNpu},
    Known{"kernel", EventKind::kKernel, DeviceType::kCuda},
    Known{"gpu_memcpy", EventKind::kMemcpy, DeviceType::kCuda},
    Known{"gpu_memset", EventKind::kMemset, DeviceType::kCuda},
    Known{"cuda_sync", EventKind::kSync, DeviceType::kCuda},
    Known{"collective_comm", EventKind::kCollective, DeviceType::kCuda},
    Known{"gpu_user_annotation", EventKind::kDeviceScope, DeviceType::kCuda},
    Known{"cpu_instant_event", EventKind::kInstant},
    Known{"overhead", EventKind::kOverhead},
    Known{"hip_runtime", EventKind::kRuntime, DeviceType::kCuda},
    Known{"hip_driver", EventKind::kDriver, DeviceType::kCuda},
    Known{"xpu_runtime", EventKind::kRuntime, DeviceType::kCuda},
    Known{"xpu_driver", EventKind::kDriver, DeviceType::kCuda},
    Known{"mtia_runtime", EventKind::kRuntime, DeviceType::kCuda},
};

constexpr std::array<std::string_view, trace::kEventKinds> kKindNames = {
    "op",     "backward", "scope",  "step", "module",     "python_function", "runtime", "driver",
    "kernel", "memcpy",   "memset", "sync", "collective", "device_scope",    "instant", "overhead"};

}  // namespace

std::string_view category(EventKind kind, DeviceType device) {
  const bool npu = device == DeviceType::kNpu;
  switch (kind) {
    case EventKind::kOp:
    case EventKind::kBackward: return "cpu_op";
    case EventKind::kScope:
    case EventKind::kStep: return "user_annotation";
    case EventKind::kModule:
    case EventKind::kPythonFunction: return "python_function";
    case EventKind::kRuntime: return npu ? "privateuse1_runtime" : "cuda_runtime";
    case EventKind::kDriver: return npu ? "privateuse1_driver" : "cuda_driver";
    case EventKind::kKernel:
    case EventKind::kCollective: return "kernel";
    case EventKind::kMemcpy: return "gpu_memcpy";
    case EventKind::kMemset: return "gpu_memset";
    case EventKind::kSync: return "cuda_sync";
    case EventKind::kDeviceScope: return "gpu_user_annotation";
    case EventKind::kInstant: return "cpu_instant_event";
    case EventKind::kOverhead: return "overhead";
  }
  return "cpu_op";
}

bool kind_of_category(std::string_view category, EventKind* kind, DeviceType* device) {
  const auto at = std::ranges::find(kKnown, category, &Known::category);
  if (at == kKnown.end()) return false;
  *kind = at->kind;
  *device = at->device;
  return true;
}

EventKind implied_kind(EventKind of_category, std::string_view name, std::uint64_t link) {
  switch (of_category) {
    case EventKind::kOp:
      return trace::forward_thread_of(link) != 0 || name.starts_with(kBackwardPrefix) ? EventKind::kBackward : EventKind::kOp;
    case EventKind::kScope: return name.starts_with(kStepPrefix) ? EventKind::kStep : EventKind::kScope;
    case EventKind::kPythonFunction: return name.starts_with(kModulePrefix) ? EventKind::kModule : EventKind::kPythonFunction;
    default: return of_category;
  }
}

std::string_view kind_name(EventKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

bool kind_of_name(std::string_view name, EventKind* kind) {
  const auto at = std::ranges::find(kKindNames, name);
  if (at == kKindNames.end()) return false;
  *kind = static_cast<EventKind>(at - kKindNames.begin());
  return true;
}

bool is_own_argument(std::string_view key) { return std::ranges::find(kOwnArguments, key) != kOwnArguments.end(); }

}  // namespace mindtorch::exporter
