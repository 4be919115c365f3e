// A backend of PyTorch made for the tests, on PyTorch's public extension points: tensors of PrivateUse1 live in host memory, ops are
// computed by the CPU's kernels, and each op launches one kernel of the reference device, directly or through a queue as torch_npu does.
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <torch/library.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <tuple>

#include "mindtorch/record/launch_queue.h"
#include "mindtorch/record/names.h"
#include "mindtorch/reference_device/activity_table.h"
#include "tests/doubles/mspti/mspti_double.h"

namespace {

namespace device = mindtorch::reference_device;
namespace record = mindtorch::record;
constexpr c10::DeviceType kNpu = c10::DeviceType::PrivateUse1;

const device::ActivityApi& npu() { return *device::mindtorch_reference_activity_api(); }

std::atomic<std::int64_t> launches{0};

void launch(const std::string& kernel) {
  device::Stream* stream = nullptr;
  TORCH_CHECK(npu().default_stream(0, &stream) == device::Result::kSuccess, "there is no reference NPU");
  TORCH_CHECK(npu().launch(
                  stream, kernel, [](const device::DeviceView&) {}, nullptr) == device::Result::kSuccess);
  ++launches;
}

// Launches on a thread of its own what ops put into it.
class LaunchQueue {
 public:
  void put(std::string kernel) {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    waiting_.push_back({std::move(kernel), tells_ops_ ? record::enqueue_launch(record::intern("Enqueue")) : 0});
    ++unfinished_;
    changed_.notify_all();
  }
  // Whether launches say for which op they are. torch_npu's own do not.
  void tell_ops(bool tell) {
    std::lock_guard lock(mutex_);
    tells_ops_ = tell;
  }
  void wait_until_empty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return unfinished_ == 0; });
  }

 private:
  struct Entry {
    std::string kernel;
    record::LaunchTicket ticket;  // 0: it does not say
  };
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !waiting_.empty(); });
      const Entry entry = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      {
        const record::QueuedLaunch queued(entry.ticket);
        launch(entry.kernel);
      }
      lock.lock();
      --unfinished_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  int unfinished_ = 0;
  bool tells_ops_ = true;
  std::thread thread_;
};
// Never destroyed: its thread runs until the process ends.
LaunchQueue& queue() {
  static auto& it = *new LaunchQueue();
  return it;
}
std::atomic<bool> uses_queue{false};

// PyTorch's own way to report memory of a device.
class NpuAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = bytes > 0 ? std::malloc(bytes + kHeader) : nullptr;
    if (memory == nullptr) return {nullptr, nullptr, &c10::detail::deleteNothing, c10::Device(kNpu, 0)};
    *static_cast<std::size_t*>(memory) = bytes;
    void* data = static_cast<std::byte*>(memory) + kHeader;
    report(data, static_cast<std::int64_t>(bytes));
    return {data, data, &NpuAllocator::free, c10::Device(kNpu, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &NpuAllocator::free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  static constexpr std::size_t kHeader = 64;
  static void free(void* data) {
    void* memory = static_cast<std::byte*>(data) - kHeader;
    report(data, -static_cast<std::int64_t>(*static_cast<std::size_t*>(memory)));
    std::free(memory);
  }
  static void report(void* data, std::int64_t bytes) {
    static std::atomic<std::int64_t> allocated{0};
    const auto total = static_cast<std::size_t>(allocated += bytes);
    c10::reportMemoryUsageToProfiler(data, bytes, total, total, c10::Device(kNpu, 0));
  }
};
NpuAllocator allocator;
REGISTER_ALLOCATOR(kNpu, &allocator)

struct NpuGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kNpu; }
  c10::Device exchangeDevice(c10::Device) const override { return {kNpu, 0}; }
  c10::Device getDevice() const override { return {kNpu, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device at) const override { return c10::Stream(c10::Stream::DEFAULT, at); }
  c10::Stream getNewStream(c10::Device at, int) const override { return c10::Stream(c10::Stream::DEFAULT, at); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return static_cast<c10::DeviceIndex>(npu().device_count()); }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, NpuGuard)

struct NpuHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return npu().device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return static_cast<c10::DeviceIndex>(npu().device_count()); }
};

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>, std::optional<at::Device>,
                 std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, kKeys, c10::dtype_or_default(type), format);
}
at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &allocator, kKeys, c10::dtype_or_default(type));
}

// The same memory as a tensor of the CPU.
at::Tensor on_cpu(const at::Tensor& tensor) {
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  on_cpu(to).copy_(on_cpu(from));
  return to;
}
const at::Tensor& resize(const at::Tensor& tensor, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  impl.set_sizes_contiguous(size);
  const std::size_t bytes = static_cast<std::size_t>(impl.numel()) * impl.itemsize();
  const c10::Storage& storage = tensor.storage();
  if (bytes > storage.nbytes()) {
    storage.set_data_ptr_noswap(allocator.allocate(bytes));
    storage.set_nbytes(bytes);
  }
  return tensor;
}
at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

// One kernel for each op, named after it.
void run_op(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string& name = op.schema().name();
  const std::string kernel = "aclnn" + name.substr(name.find("::") + 2);
  uses_queue ? queue().put(kernel) : launch(kernel);
  at::native::cpu_fallback(op, stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_op>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", TORCH_FN(empty));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("_copy_from", TORCH_FN(copy_from));
  library.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  library.impl("resize_", TORCH_FN(resize));
  library.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  library.impl("view", TORCH_FN(at::native::view));
}

extern "C" {
void npu_register() {
  at::RegisterPrivateUse1HooksInterface(new NpuHooks());
  npu().device_count();  // switches the device on, if MINDTORCH_NPU says so
}
std::int64_t npu_launches() { return launches; }
void npu_use_queue(bool use, bool tell_ops) {
  uses_queue = use;
  queue().tell_ops(tell_ops);
}
void npu_synchronize() {
  queue().wait_until_empty();
  TORCH_CHECK(npu().synchronize_device(0) == device::Result::kSuccess);
}
// What a process group of eight ranks over HCCL does: it announces the collective to profilers, and the device carries it out. `peer` is
// the other rank of a send or a receive.
void npu_collective(const char* name, const char* kernel, std::int64_t count, std::int64_t peer) {
  RECORD_PARAM_COMMS(std::make_tuple(static_cast<std::int64_t>(1), false), std::make_tuple(std::string("0"), std::string("default_pg")),
                     static_cast<int>(peer), std::string(name), count, count, at::kFloat, std::vector<std::int64_t>(),
                     std::vector<std::int64_t>(), 0, 1, 8);
  const auto controls = reinterpret_cast<decltype(&mspti_double_controls)>(dlsym(RTLD_DEFAULT, "mspti_double_controls"));
  TORCH_CHECK(controls != nullptr, "the double of libmspti is not preloaded");
  const MsptiDoubleCollective collective{.name = kernel, .group = "hccl_world_group", .count = static_cast<std::uint64_t>(count)};
  controls()->run_collective(&collective);
}
}
