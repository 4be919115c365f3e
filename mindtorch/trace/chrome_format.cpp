// The table of categories, and the keys that are taken.
#include "mindtorch/trace/chrome_format.h"

#include "mindtorch/trace/text.h"

namespace mindtorch::trace::chrome_format {
namespace {

struct KnownCategory {
  std::string_view category;
  EventKind kind;
  DeviceType device = DeviceType::kCpu;
};

// A reader uses the first entry of a category.
constexpr std::array kCategories = {
    KnownCategory{"cpu_op", EventKind::kOp},
    KnownCategory{"user_annotation", EventKind::kScope},
    KnownCategory{"python_function", EventKind::kPythonFunction},
    KnownCategory{"cuda_runtime", EventKind::kRuntime, DeviceType::kCuda},
    KnownCategory{"cuda_driver", EventKind::kDriver, DeviceType::kCuda},
    KnownCategory{"privateuse1_runtime", EventKind::kRuntime, DeviceType::kNpu},
    KnownCategory{"privateuse1_driver", EventKind::kDriver, DeviceType::kNpu},
    KnownCategory{"kernel", EventKind::kKernel, DeviceType::kCuda},
    KnownCategory{"gpu_memcpy", EventKind::kMemcpy, DeviceType::kCuda},
    KnownCategory{"gpu_memset", EventKind::kMemset, DeviceType::kCuda},
    KnownCategory{"cuda_sync", EventKind::kSync, DeviceType::kCuda},
    KnownCategory{"collective_comm", EventKind::kCollective, DeviceType::kCuda},
    KnownCategory{"gpu_user_annotation", EventKind::kDeviceScope, DeviceType::kCuda},
    KnownCategory{"cpu_instant_event", EventKind::kInstant},
    KnownCategory{"overhead", EventKind::kOverhead},
    KnownCategory{"hip_runtime", EventKind::kRuntime, DeviceType::kCuda},
    KnownCategory{"hip_driver", EventKind::kDriver, DeviceType::kCuda},
    KnownCategory{"xpu_runtime", EventKind::kRuntime, DeviceType::kCuda},
    KnownCategory{"xpu_driver", EventKind::kDriver, DeviceType::kCuda},
    KnownCategory{"mtia_runtime", EventKind::kRuntime, DeviceType::kCuda},
    KnownCategory{"glow_runtime", EventKind::kRuntime, DeviceType::kCuda},
    KnownCategory{"mtia_ccp_events", EventKind::kKernel, DeviceType::kCuda},
    KnownCategory{"hpu_op", EventKind::kKernel, DeviceType::kCuda},
    KnownCategory{"cuda_profiler_range", EventKind::kDeviceScope, DeviceType::kCuda},
    KnownCategory{"mtia_insight", EventKind::kDeviceScope, DeviceType::kCuda},
};

// Arguments that follow from columns and tables. The arguments of memory reports are not listed, because other events do not
// have them.
constexpr std::array<std::string_view, 33> kOwnArguments = {argument::kExternalId,
                                                            argument::kCallStack,
                                                            argument::kDerived,
                                                            argument::kRecordFunctionId,
                                                            argument::kSequence,
                                                            argument::kForwardThread,
                                                            argument::kEventIndex,
                                                            argument::kFinished,
                                                            argument::kAsync,
                                                            argument::kKind,
                                                            argument::kMemoryBandwidth,
                                                            argument::kInputDims,
                                                            argument::kInputTypes,
                                                            argument::kInputStrides,
                                                            argument::kConcreteInputs,
                                                            argument::kInputShapes,
                                                            argument::kStack,
                                                            argument::kStackId,
                                                            argument::kDeviceTypeName,
                                                            argument::kDeviceType,
                                                            argument::kDeviceId,
                                                            argument::kPythonId,
                                                            argument::kPythonModuleId,
                                                            argument::kPythonParentId,
                                                            argument::kCpuMemory.before,
                                                            argument::kCpuMemory.after,
                                                            argument::kCpuMemory.delta,
                                                            argument::kNpuMemory.before,
                                                            argument::kNpuMemory.after,
                                                            argument::kNpuMemory.delta,
                                                            argument::kCudaMemory.before,
                                                            argument::kCudaMemory.after,
                                                            argument::kCudaMemory.delta};

// Those of launches and of work on a device. Ops may have attributes of these names, such as the stream of a kernel that a compiler made.
constexpr std::array<std::string_view, 3> kOwnArgumentsOfDevice = {argument::kDevice, argument::kStream, argument::kCorrelation};

constexpr std::array<std::string_view, 13> kReservedKeys = {
    header::kSchemaVersion, header::kDeviceProperties, header::kTraceId,   header::kDisplayTimeUnit, header::kBaseTime,
    header::kEvents,        header::kTraceName,        header::kWithStack, header::kProfileMemory,   header::kWithFlops,
    header::kWithModules,   header::kRecordShapes,     header::kOwn};

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

std::optional<CategoryMeaning> meaning_of_category(std::string_view category) {
  const auto at = std::ranges::find(kCategories, category, &KnownCategory::category);
  if (at == kCategories.end()) return std::nullopt;
  return CategoryMeaning{at->kind, at->device};
}

EventKind implied_kind(EventKind of_category, std::string_view name, std::uint64_t link) {
  switch (of_category) {
    case EventKind::kOp: return forward_thread_of(link) != 0 || name.starts_with(kBackwardPrefix) ? EventKind::kBackward : EventKind::kOp;
    case EventKind::kScope: return name.starts_with(kStepPrefix) ? EventKind::kStep : EventKind::kScope;
    case EventKind::kPythonFunction: return name.starts_with(kModulePrefix) ? EventKind::kModule : EventKind::kPythonFunction;
    default: return of_category;
  }
}

bool is_own_argument(std::string_view key, EventKind kind) {
  if (has_correlation(kind) && std::ranges::find(kOwnArgumentsOfDevice, key) != kOwnArgumentsOfDevice.end()) return true;
  return std::ranges::find(kOwnArguments, key) != kOwnArguments.end();
}

bool is_reserved_key(std::string_view key) { return std::ranges::find(kReservedKeys, key) != kReservedKeys.end(); }

}  // namespace mindtorch::trace::chrome_format
