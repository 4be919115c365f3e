// Writes the raw CUPTI activity of a program into a file (../capture_file.h). Built against the vendor's headers on a machine with a GPU
// and loaded into the program that is captured: cupti_capture_start() before the work, cupti_capture_stop(path) after it.
#include <cupti.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../capture_file.h"

namespace {

using namespace cupti_capture;

static_assert(offsetof(CUpti_ActivityKernel10, name) == kKernelNameOffset);

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,         CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD,
    CUPTI_ACTIVITY_KIND_CUDA_EVENT,
};
constexpr CUpti_CallbackIdResource kGraphCallbackIds[] = {
    CUPTI_CBID_RESOURCE_GRAPH_CREATED,     CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,     CUPTI_CBID_RESOURCE_GRAPH_CLONED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
    CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
};

struct Capture {
  std::mutex mutex;
  CUpti_SubscriberHandle subscriber = nullptr;
  Origin origin;
  std::vector<std::string> buffers;
  std::vector<GraphCallback> graph_callbacks;
};

Capture& capture() {
  static auto& one = *new Capture();  // buffers may still come back while the process ends
  return one;
}

bool succeeded(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return true;
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "cupti_capture: %s failed with %d (%s)\n", call, static_cast<int>(result), text ? text : "no text");
  return false;
}

std::uint64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::calloc(1, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  std::lock_guard lock(capture().mutex);
  if (valid > 0) capture().buffers.emplace_back(reinterpret_cast<const char*>(buffer), valid);
  std::free(buffer);
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
  if (resource.resourceDescriptor == nullptr) return;
  const auto& graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  GraphCallback seen{.callback_id = id, .thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid)), .realtime = realtime_ns()};
  const bool is_node = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING ||
                       id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  const bool is_exec = id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING;
  if (graph.graph) cuptiGetGraphId(graph.graph, &seen.graph);
  if (id == CUPTI_CBID_RESOURCE_GRAPH_CLONED && graph.originalGraph) cuptiGetGraphId(graph.originalGraph, &seen.original_graph);
  if (is_exec && graph.graphExec) cuptiGetGraphExecId(graph.graphExec, &seen.graph_exec);
  if (is_node) {
    seen.node_type = static_cast<std::int32_t>(graph.nodeType);
    if (graph.node) cuptiGetGraphNodeId(graph.node, &seen.node);
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && graph.originalNode) cuptiGetGraphNodeId(graph.originalNode, &seen.original_node);
  }
  std::lock_guard lock(capture().mutex);
  capture().graph_callbacks.push_back(seen);
}

// The strings of a file; equal ones are kept once.
class Strings {
 public:
  // One plus the offset.
  std::uint32_t add(const char* text) {
    if (text == nullptr) return 0;
    const auto [known, is_new] = offsets_.try_emplace(text, static_cast<std::uint32_t>(bytes_.size()) + 1);
    if (is_new) bytes_.append(text, std::strlen(text) + 1);
    return known->second;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::map<std::string, std::uint32_t> offsets_;
};

// Replaces the pointers in a buffer and notes which functions its records mention.
void make_portable(std::string& buffer, Strings& strings, std::set<std::pair<std::uint32_t, std::uint32_t>>& functions) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(buffer.data());
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(bytes, buffer.size(), &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        auto* kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
        const std::uint64_t name = strings.add(kernel->name);
        std::memcpy(&kernel->name, &name, sizeof name);
        kernel->pAccessPolicyWindow = nullptr;
        break;
      }
      case CUPTI_ACTIVITY_KIND_OVERHEAD: reinterpret_cast<CUpti_ActivityOverhead3*>(record)->overheadData = nullptr; break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
        functions.emplace(CUPTI_CB_DOMAIN_RUNTIME_API, std::uint32_t{reinterpret_cast<CUpti_ActivityAPI*>(record)->cbid});
        break;
      case CUPTI_ACTIVITY_KIND_DRIVER:
        functions.emplace(CUPTI_CB_DOMAIN_DRIVER_API, std::uint32_t{reinterpret_cast<CUpti_ActivityAPI*>(record)->cbid});
        break;
      default: break;
    }
  }
}

void write_chunk(std::FILE* file, std::uint32_t tag, const void* data, std::size_t bytes) {
  const ChunkHead head{tag, static_cast<std::uint32_t>(bytes)};
  std::fwrite(&head, sizeof head, 1, file);
  std::fwrite(data, 1, bytes, file);
}

bool write_file(const char* path, Capture& from) {
  Strings strings;
  std::set<std::pair<std::uint32_t, std::uint32_t>> mentioned;
  for (std::string& buffer : from.buffers) make_portable(buffer, strings, mentioned);
  std::vector<FunctionName> functions;
  for (const auto& [domain, id] : mentioned) {
    const char* name = nullptr;
    if (cuptiGetCallbackName(static_cast<CUpti_CallbackDomain>(domain), id, &name) == CUPTI_SUCCESS)
      functions.push_back({domain, id, strings.add(name)});
  }
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  write_chunk(file, kOrigin, &from.origin, sizeof from.origin);
  write_chunk(file, kStrings, strings.bytes().data(), strings.bytes().size());
  write_chunk(file, kFunctions, functions.data(), functions.size() * sizeof(FunctionName));
  write_chunk(file, kGraphCallbacks, from.graph_callbacks.data(), from.graph_callbacks.size() * sizeof(GraphCallback));
  for (const std::string& buffer : from.buffers) write_chunk(file, kBuffer, buffer.data(), buffer.size());
  return std::fclose(file) == 0;
}

}  // namespace

// Returns whether everything was switched on.
extern "C" bool cupti_capture_start() {
  Capture& one = capture();
  bool ok = succeeded(cuptiSubscribe(&one.subscriber, on_callback, nullptr), "cuptiSubscribe");
  ok = ok && succeeded(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "cuptiSetThreadIdType");
  ok = ok && succeeded(cuptiActivityRegisterCallbacks(request_buffer, complete_buffer), "cuptiActivityRegisterCallbacks");
  for (const CUpti_CallbackIdResource id : kGraphCallbackIds)
    ok = ok && succeeded(cuptiEnableCallback(1, one.subscriber, CUPTI_CB_DOMAIN_RESOURCE, id), "cuptiEnableCallback");
  for (const CUpti_ActivityKind kind : kKinds) ok = ok && succeeded(cuptiActivityEnable(kind), "cuptiActivityEnable");
  one.origin.process_id = static_cast<std::uint32_t>(getpid());
  cuptiGetVersion(&one.origin.cupti_version);
  one.origin.realtime_before = realtime_ns();
  ok = ok && succeeded(cuptiGetTimestamp(&one.origin.cupti_timestamp), "cuptiGetTimestamp");
  one.origin.realtime_after = realtime_ns();
  return ok;
}

// The caller has waited for the device. Returns whether everything was delivered and written.
extern "C" bool cupti_capture_stop(const char* path) {
  Capture& one = capture();
  for (const CUpti_ActivityKind kind : kKinds) cuptiActivityDisable(kind);
  bool ok = succeeded(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  std::size_t dropped = 0;
  ok = ok && succeeded(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), "cuptiActivityGetNumDroppedRecords");
  if (dropped > 0) std::fprintf(stderr, "cupti_capture: %zu records were dropped\n", dropped);
  std::lock_guard lock(one.mutex);
  ok = ok && dropped == 0 && write_file(path, one);
  one.buffers.clear();
  one.graph_callbacks.clear();
  return ok;
}
