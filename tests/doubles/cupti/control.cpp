// The functions of tests: work, behaviour and truth.
#include <algorithm>
#include <optional>

#include "tests/doubles/cupti/api_call.h"
#include "tests/doubles/cupti/library.h"
#include "tests/doubles/cupti/replay.h"

namespace {

using namespace cupti_double;

enum RuntimeFunction : std::uint32_t {
  kMemcpyAsync = 41,
  kMemsetAsync = 51,
  kMemcpyPeerAsync = 161,
  kDeviceSynchronize = 165,
  kLaunchKernel = 211,
  kGraphLaunch = 311,
  kGraphDestroy = 314,
  kStreamBeginCapture = 315,
  kStreamEndCapture = 319,
  kGraphInstantiate = 418,
};
constexpr std::uint32_t kUsualStream = 7;
constexpr int kStreamCaptureUnsupported = 900;  // cudaErrorStreamCaptureUnsupported

RuntimeFunction function_for(std::uint32_t activity_kind) {
  switch (activity_kind) {
    case abi::kMemcpy: return kMemcpyAsync;
    case abi::kMemcpyPeer: return kMemcpyPeerAsync;
    case abi::kMemset: return kMemsetAsync;
    default: return kLaunchKernel;
  }
}

// The functions of the driver that the runtime calls.
enum DriverFunction : std::uint32_t { kDriverLaunchKernel = 307, kDriverGraphLaunch = 514 };

// Does `work(correlation)` inside a call of the runtime, unless the call is told to fail.
template <class Work>
std::uint32_t in_call(std::uint32_t function, Work work) {
  library().device.settle();
  const ApiCall call(abi::kRuntimeApi, function);
  if (!call.fails()) work(call.correlation());
  return call.correlation();
}

std::uint32_t stream_or_usual(std::uint32_t stream) { return stream != 0 ? stream : kUsualStream; }

}  // namespace

std::uint32_t cupti_double_issue(const CuptiDoubleWork* asked) {
  CuptiDoubleWork work = *asked;
  if (work.activity_kind == 0) work.activity_kind = abi::kConcurrentKernel;
  work.stream = stream_or_usual(work.stream);
  work.name = library().keep(work.name != nullptr ? work.name : "kernel");
  return in_call(function_for(work.activity_kind), [&](std::uint32_t correlation) {
    std::optional<InnerCall> inner;
    if (work.activity_kind == abi::kConcurrentKernel) inner.emplace(kDriverLaunchKernel, correlation);
    if (!library().graphs.capture(work)) library().device.enqueue(work, correlation);
  });
}

std::uint32_t cupti_double_call(std::uint32_t domain, std::uint32_t callback_id) {
  return cupti_double_call_around(
      domain, callback_id, [](void*) {}, nullptr);
}

std::uint32_t cupti_double_call_around(std::uint32_t domain, std::uint32_t callback_id, void (*inside)(void*), void* user) {
  const ApiCall call(domain, callback_id);
  inside(user);
  return call.correlation();
}

void cupti_double_fail_next_call(std::int32_t result) { ApiCall::fail_next(result); }

void cupti_double_synchronize() {
  std::int64_t start = 0;
  std::uint32_t correlation = 0;
  {
    ApiCall call(abi::kRuntimeApi, kDeviceSynchronize);
    start = call.start();
    correlation = call.correlation();
    if (const int refused = cupti_double_wait_for_context(); refused != 0) return call.set_result(refused);
  }
  const std::int64_t end = monotonic_now();
  const Library::Tools tools = library().wanted_by(abi::kSynchronization);
  if (tools == 0) return;
  abi::SynchronizationRecord record{.kind = abi::kSynchronization, .type = abi::kContextSynchronize};
  record.start = library().clock.from_monotonic(start);
  record.end = library().clock.from_monotonic(end);
  record.correlation_id = correlation;
  record.context_id = 1;
  library().write(tools, 0, record_bytes(record, library().version()));
}

void cupti_double_hold_device(bool held) { library().device.hold(held); }

void cupti_double_begin_capture(std::uint32_t stream) { cupti_double_begin_capture_in(stream, 0); }

void cupti_double_begin_capture_in(std::uint32_t stream, std::uint32_t mode) {
  in_call(kStreamBeginCapture,
          [&](std::uint32_t) { library().graphs.begin_capture(stream_or_usual(stream), static_cast<CaptureMode>(mode)); });
}

int cupti_double_exchange_capture_mode(int* mode) {
  *mode = static_cast<int>(Graphs::exchange_capture_mode(static_cast<CaptureMode>(*mode)));
  return 0;
}
int cupti_double_unsafe_call() { return library().graphs.refuse_unsafe_call() ? kStreamCaptureUnsupported : 0; }
int cupti_double_wait_for_context() {
  if (library().graphs.refuse_wait()) return kStreamCaptureUnsupported;
  library().device.wait_until_idle();
  return 0;
}
int cupti_double_free() {
  if (const int refused = cupti_double_unsafe_call(); refused != 0) return refused;
  library().device.wait_until_idle();
  return 0;
}

void* cupti_double_end_capture(std::uint32_t stream) {
  Graph* graph = nullptr;
  in_call(kStreamEndCapture, [&](std::uint32_t) { graph = library().graphs.end_capture(stream_or_usual(stream)); });
  return graph;
}

void* cupti_double_instantiate_graph(void* graph) {
  Graph* executable = nullptr;
  in_call(kGraphInstantiate, [&](std::uint32_t) { executable = library().graphs.instantiate(static_cast<Graph*>(graph)); });
  return executable;
}

std::uint32_t cupti_double_launch_graph(void* executable, std::uint32_t stream) {
  return in_call(kGraphLaunch, [&](std::uint32_t correlation) {
    const InnerCall inner(kDriverGraphLaunch, correlation);
    library().device.enqueue_graph(*static_cast<const Graph*>(executable), stream_or_usual(stream), correlation);
  });
}

void cupti_double_destroy_graph(void* graph) {
  in_call(kGraphDestroy, [&](std::uint32_t) { library().graphs.destroy(static_cast<Graph*>(graph)); });
}

std::int64_t cupti_double_replay(const char* path, std::uint64_t end_ns, std::uint32_t thread_id) {
  return replay(path, end_ns, thread_id);
}

void cupti_double_reset() { library().reset(); }
void cupti_double_set_version(std::uint32_t version) { library().set_version(version); }
void cupti_double_set_clock(std::int64_t offset_ns, double drift_ppm) { library().clock.set(offset_ns, drift_ppm); }
void cupti_double_set_other_subscriber(const char* name) { library().set_other_subscriber(name); }

void cupti_double_set_faults(const CuptiDoubleFaults* asked) { library().set_faults(asked != nullptr ? *asked : CuptiDoubleFaults{}); }

void cupti_double_fail(const char* function, std::int32_t result, std::uint32_t skip, std::uint32_t times) {
  library().calls.fail(function, result, skip, times);
}

std::size_t cupti_double_take_truth(CuptiDoubleTruth* out, std::size_t capacity) { return library().device.take_truth(out, capacity); }
std::uint64_t cupti_double_calls(const char* function) { return library().calls.count(function); }
const char* cupti_double_last_failed() { return library().keep(library().calls.last_failed()); }
std::uint64_t cupti_double_lost_records() { return library().device.lost(); }
std::uint64_t cupti_double_zeroed_records() { return library().device.zeroed(); }
void cupti_double_set_layouts(const CuptiDoubleLayouts* asked) { library().set_layouts(asked != nullptr ? *asked : CuptiDoubleLayouts{}); }
std::uint64_t cupti_double_subscribers() { return library().subscribers(); }
std::uint64_t cupti_double_buffers_held() { return library().buffers_held(); }
const char* cupti_double_violations() { return library().violations(); }
