// The floor of every profiler of PyTorch on a GPU: RecordFunction callbacks that do nothing, and CUPTI with the same kinds of records as
// ours, which are thrown away. Compiled by benchmarks/cuda.py against the installed torch, and called through ctypes.
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

constexpr std::uint32_t kKinds[] = {5, 4, 10, 1, 2, 22, 17};  // runtime, driver, kernels, copies, memsets, peer copies, overhead
// The numbers of cuLaunchKernel, cuLaunchCooperativeKernel, cuGraphLaunch and cuLaunchKernelEx. Other calls of the driver are not recorded.
constexpr std::uint32_t kDriverCalls[] = {307, 442, 477, 478, 514, 515, 652, 653};
constexpr std::uint32_t kMostDriverCalls = 1024;
constexpr std::size_t kBytes = std::size_t{4} << 20;

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

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
  return function != nullptr ? function(arguments...) : -1;
}

}  // namespace

// Null, or why not. The calls of the runtime with these numbers are not recorded. With arguments, torch lists those of every op for the
// callback.
extern "C" const char* start(const char* cupti, const std::uint32_t* runtime, int runtimes, int with_arguments) {
  if (library == nullptr) library = ::dlopen(cupti, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ::dlerror();
  if (call("cuptiActivityRegisterCallbacks", &requested, &completed) != 0) return "the callbacks were refused";
  for (const std::uint32_t kind : kKinds)
    if (call("cuptiActivityEnable", kind) != 0) return "a kind was refused";
  for (int i = 0; i < runtimes; ++i) call("cuptiActivityEnableRuntimeApi", runtime[i], std::uint8_t{0});
  for (std::uint32_t i = 1; i < kMostDriverCalls; ++i)
    if (std::ranges::find(kDriverCalls, i) == std::end(kDriverCalls)) call("cuptiActivityEnableDriverApi", i, std::uint8_t{0});
  handle = at::addGlobalCallback(at::RecordFunctionCallback(op_starts, op_ends).needsInputs(with_arguments != 0));
  return nullptr;
}

extern "C" void stop() {
  at::removeCallback(handle);
  for (const std::uint32_t kind : kKinds) call("cuptiActivityDisable", kind);
  call("cuptiActivityFlushAll", std::uint32_t{1});
}
