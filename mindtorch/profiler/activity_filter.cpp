// torch's groups of events, and the kinds they are made of.
#include "mindtorch/profiler/activity_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "mindtorch/base/error.h"

namespace mindtorch::profiler {
namespace {

using trace::EventKind;
using trace::KindSet;

// Of host events, of CUDA, of an NPU.
enum Member : unsigned { kHost = 1, kCudaDevice = 2, kNpuDevice = 4 };

struct Group {
  std::string_view name;
  unsigned members;
  std::array<EventKind, 2> kinds;
  int count;
};
constexpr EventKind kNone{};
constexpr std::array kGroups = {
    Group{"CPU_OP", kHost, {EventKind::kOp, EventKind::kBackward}, 2},
    Group{"USER_ANNOTATION", kHost, {EventKind::kScope, EventKind::kStep}, 2},
    Group{"PYTHON_FUNCTION", kHost, {EventKind::kPythonFunction, EventKind::kModule}, 2},
    Group{"CPU_INSTANT_EVENT", kHost, {EventKind::kInstant, kNone}, 1},
    Group{"EXTERNAL_CORRELATION", kHost, {kNone, kNone}, 0},  // links are not events here
    Group{"CUDA_RUNTIME", kHost | kCudaDevice, {EventKind::kRuntime, kNone}, 1},
    Group{"CUDA_DRIVER", kHost | kCudaDevice, {EventKind::kDriver, kNone}, 1},
    Group{"PRIVATEUSE1_RUNTIME", kHost | kNpuDevice, {EventKind::kRuntime, kNone}, 1},
    Group{"PRIVATEUSE1_DRIVER", kHost | kNpuDevice, {EventKind::kDriver, kNone}, 1},
    Group{"CONCURRENT_KERNEL", kCudaDevice | kNpuDevice, {EventKind::kKernel, EventKind::kCollective}, 2},
    Group{"GPU_MEMCPY", kCudaDevice | kNpuDevice, {EventKind::kMemcpy, kNone}, 1},
    Group{"GPU_MEMSET", kCudaDevice | kNpuDevice, {EventKind::kMemset, kNone}, 1},
    Group{"GPU_USER_ANNOTATION", kCudaDevice | kNpuDevice, {EventKind::kDeviceScope, kNone}, 1},
    Group{"CUDA_SYNC", kCudaDevice | kNpuDevice, {EventKind::kSync, kNone}, 1},
    Group{"OVERHEAD", kCudaDevice | kNpuDevice, {EventKind::kOverhead, kNone}, 1},
};

unsigned member_of(Activity activity) {
  switch (activity) {
    case Activity::kCpu: return kHost;
    case Activity::kCuda: return kCudaDevice;
    case Activity::kNpu: return kNpuDevice;
    default: return 0;
  }
}

void add(KindSet& kinds, const Group& group) {
  for (int i = 0; i < group.count; ++i) kinds.set(static_cast<std::size_t>(group.kinds[static_cast<std::size_t>(i)]));
}

const Group& group_named(const std::string& name, Activity activity) {
  const auto* const group = std::ranges::find_if(
      kGroups, [&](const Group& candidate) { return candidate.name == name && (candidate.members & member_of(activity)) != 0; });
  if (group == kGroups.end()) throw Error(fmt::format("Unknown or non-member activity type name: '{}'", name));
  return *group;
}

}  // namespace

KindSet wanted_kinds(std::span<const Activity> activities, std::span<const ActivityFilter> filters) {
  KindSet kinds;
  // The profiler's own overhead is always kept.
  kinds.set(static_cast<std::size_t>(EventKind::kOverhead));
  for (const Activity activity : activities) {
    const auto filter = std::ranges::find(filters, activity, &ActivityFilter::activity);
    if (filter != filters.end()) {
      for (const std::string& name : filter->names) add(kinds, group_named(name, activity));
    } else {
      for (const Group& group : kGroups)
        if ((group.members & member_of(activity)) != 0) add(kinds, group);
    }
  }
  return kinds;
}

}  // namespace mindtorch::profiler
