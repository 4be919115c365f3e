// What a profiler of PyTorch on a GPU cannot do without, part by part, each of which throws away what it gets: RecordFunction callbacks,
// CUPTI's records of device work, CUPTI's callbacks at calls, and its records of calls. Compiled by benchmarks/cuda.py against the
// installed torch, and called through ctypes.
#include <ATen/record_function.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

enum Part : std::uint32_t { kOps = 1, kArguments = 2, kWork = 4, kCallCallbacks = 8, kRuntimeRecords = 16, kDriverRecords = 32 };

constexpr std::uint32_t kRuntime = 5, kDriver = 4;              // kinds
constexpr std::uint32_t kKindsOfWork[] = {10, 1, 2, 22, 17};    // kernels, copies, memsets, peer copies, overhead
constexpr std::uint32_t kDriverDomain = 1, kRuntimeDomain = 2;  // of callbacks
// The numbers of cuLaunchKernel, cuLaunchCooperativeKernel, cuGraphLaunch and cuLaunchKernelEx. Other calls of the driver are not recorded.
constexpr std::uint32_t kDriverCalls[] = {307, 442, 477, 478, 514, 515, 652, 653};
constexpr std::uint32_t kMostDriverCalls = 1024;
constexpr std::size_t kBytes = std::size_t{4} << 20;

std::uint32_t parts = 0;
void* subscriber = nullptr;
at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
void* library = nullptr;
std::mutex mutex;
std::vector<std::uint8_t*> buffers;

std::unique_ptr<at::ObserverContext> op_starts(const at::RecordFunction&) { return nullptr; }
void op_ends(const at::RecordFunction&, at::ObserverContext*) {}

void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  std::lock_guard lock(mutex);
  if (buffers.empty()) {
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    buffers.push_back(static_cast<std::uint8_t*>(memory));
  }
  *buffer = std::exchange(buffers.back(), nullptr);
  buffers.pop_back();
  *size = kBytes;
  *most = 0;
}

void completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  std::lock_guard lock(mutex);
  buffers.push_back(buffer);
}

void called(void*, std::uint32_t, std::uint32_t, const void*) {}

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
  return function != nullptr ? function(arguments...) : -1;
}

}  // namespace

// Null, or why not. `asked` are parts. The calls of the runtime with these numbers are left out. With kArguments, torch lists those of
// every op for its callback.
extern "C" const char* start(const char* cupti, const std::uint32_t* noise, int count, std::uint32_t asked) {
  if (library == nullptr) library = ::dlopen(cupti, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  parts = asked;
  if (call("cuptiActivityRegisterCallbacks", &requested, &completed) != 0) return "the callbacks were refused";
  if ((parts & kCallCallbacks) != 0) {
    if (call("cuptiSubscribe", &subscriber, &called, static_cast<void*>(nullptr)) != 0) return "another tool has subscribed";
    call("cuptiEnableDomain", std::uint32_t{1}, subscriber, kRuntimeDomain);
    for (int i = 0; i < count; ++i) call("cuptiEnableCallback", std::uint32_t{0}, subscriber, kRuntimeDomain, noise[i]);
    for (const std::uint32_t each : kDriverCalls) call("cuptiEnableCallback", std::uint32_t{1}, subscriber, kDriverDomain, each);
  }
  if ((parts & kRuntimeRecords) != 0) {
    if (call("cuptiActivityEnable", kRuntime) != 0) return "a kind was refused";
    for (int i = 0; i < count; ++i) call("cuptiActivityEnableRuntimeApi", noise[i], std::uint8_t{0});
  }
  if ((parts & kDriverRecords) != 0) {
    if (call("cuptiActivityEnable", kDriver) != 0) return "a kind was refused";
    for (std::uint32_t i = 1; i < kMostDriverCalls; ++i)
      if (std::ranges::find(kDriverCalls, i) == std::end(kDriverCalls)) call("cuptiActivityEnableDriverApi", i, std::uint8_t{0});
  }
  if ((parts & kWork) != 0)
    for (const std::uint32_t kind : kKindsOfWork)
      if (call("cuptiActivityEnable", kind) != 0) return "a kind was refused";
  if ((parts & kOps) != 0)
    handle = at::addGlobalCallback(at::RecordFunctionCallback(op_starts, op_ends).needsInputs((parts & kArguments) != 0));
  return nullptr;
}

extern "C" void stop() {
  if ((parts & kOps) != 0) at::removeCallback(handle);
  if ((parts & kWork) != 0)
    for (const std::uint32_t kind : kKindsOfWork) call("cuptiActivityDisable", kind);
  if ((parts & kDriverRecords) != 0) call("cuptiActivityDisable", kDriver);
  if ((parts & kRuntimeRecords) != 0) call("cuptiActivityDisable", kRuntime);
  if ((parts & kCallCallbacks) != 0) call("cuptiUnsubscribe", std::exchange(subscriber, nullptr));
  call("cuptiActivityFlushAll", std::uint32_t{1});
}
