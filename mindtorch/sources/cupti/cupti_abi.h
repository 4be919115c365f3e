// The part of CUPTI's binary interface that we use, declared by ourselves: nothing of NVIDIA's is needed to build.
//
// Each record struct is the prefix that CUPTI 12.0 to 13.x have in common; a library may append fields, so records are walked with
// cuptiActivityGetNextRecord and never by sizeof. Offsets are asserted here and compared with the vendor's headers by a test.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::sources::cupti {

using Result = std::int32_t;
enum : Result {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kMaxLimitReached = 12,  // the end of a buffer
  kNotReady = 13,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kInvalidKind = 21,
  kNotSupported = 27,
  kVirtualizedDeviceNotSupported = 33,
  kInsufficientPrivileges = 35,
  kMultipleSubscribersNotSupported = 39,
  kVirtualizedDeviceInsufficientPrivileges = 40,
  kUnknownError = 999,
};

// CUpti_ActivityKind.
enum ActivityKind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kEnvironment = 20,
  kMemcpyPeer = 22,  // vendor's MEMCPY2
  kCudaEvent = 36,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kGraphTrace = 51,
};

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, as the one byte that records hold.
enum CopyKind : std::uint8_t { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 8, kHostToHost = 9, kPeerToPeer = 10 };
enum MemoryKind : std::uint8_t { kUnknownMemory = 0, kPageable = 1, kPinned = 2, kDeviceMemory = 3, kArray = 4, kManaged = 5 };

enum SynchronizationType : std::uint32_t {
  kEventSynchronize = 1,
  kStreamWaitEvent = 2,
  kStreamSynchronize = 3,
  kContextSynchronize = 4,
};

enum OverheadKind : std::uint32_t {
  kDriverCompiler = 1,
  kBufferFlush = 1U << 16,
  kInstrumentation = 2U << 16,
  kResource = 3U << 16,
  kModuleLoading = 4U << 16,
  kLazyFunctionLoading = 5U << 16,
  kCommandBufferFull = 6U << 16,
  kBufferRequest = 7U << 16,
  kUvmInit = 8U << 16,
};

// CUpti_ActivityObjectKind: what OverheadRecord::object_id names.
enum ObjectKind : std::uint32_t { kProcessObject = 1, kThreadObject = 2, kDeviceObject = 3, kContextObject = 4, kStreamObject = 5 };

enum EnvironmentKind : std::uint32_t { kSpeed = 1, kTemperature = 2, kPower = 3, kCooling = 4 };

struct Activity {
  std::uint32_t kind;
};

// CUpti_ActivityKernel7 and later (208 bytes in 13.0).
struct KernelRecord {
  std::uint32_t kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::int32_t grid_x, grid_y, grid_z;
  std::int32_t block_x, block_y, block_z;
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation_id;
  std::int64_t grid_id;
  const char* name;  // mangled; the library owns it
  void* reserved0;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout_requested;
  std::uint8_t carveout;
  std::uint8_t padding;
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node_id;  // 0: not launched by a graph
  std::uint32_t shared_memory_limit_config;
  std::uint32_t graph_id;
};
static_assert(offsetof(KernelRecord, registers_per_thread) == 6 && offsetof(KernelRecord, start) == 16 &&
              offsetof(KernelRecord, end) == 24 && offsetof(KernelRecord, device_id) == 40 && offsetof(KernelRecord, context_id) == 44 &&
              offsetof(KernelRecord, stream_id) == 48 && offsetof(KernelRecord, grid_x) == 52 && offsetof(KernelRecord, block_x) == 64 &&
              offsetof(KernelRecord, static_shared_memory) == 76 && offsetof(KernelRecord, dynamic_shared_memory) == 80 &&
              offsetof(KernelRecord, correlation_id) == 92 && offsetof(KernelRecord, name) == 104 &&
              offsetof(KernelRecord, queued) == 120 && offsetof(KernelRecord, submitted) == 128 &&
              offsetof(KernelRecord, shared_memory_executed) == 140 && offsetof(KernelRecord, graph_node_id) == 144 &&
              offsetof(KernelRecord, graph_id) == 156 && sizeof(KernelRecord) == 160);

// CUpti_ActivityMemcpy5 and later.
struct MemcpyRecord {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;  // 1: asynchronous
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t correlation_id;
  std::uint32_t runtime_correlation_id;
  std::uint32_t padding;
  void* reserved0;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
};
static_assert(offsetof(MemcpyRecord, copy_kind) == 4 && offsetof(MemcpyRecord, flags) == 7 && offsetof(MemcpyRecord, bytes) == 8 &&
              offsetof(MemcpyRecord, start) == 16 && offsetof(MemcpyRecord, device_id) == 32 && offsetof(MemcpyRecord, stream_id) == 40 &&
              offsetof(MemcpyRecord, correlation_id) == 44 && offsetof(MemcpyRecord, graph_node_id) == 64 &&
              offsetof(MemcpyRecord, graph_id) == 72);

// CUpti_ActivityMemcpyPtoP4 and later.
struct PeerCopyRecord {
  std::uint32_t kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t source_device_id;
  std::uint32_t source_context_id;
  std::uint32_t destination_device_id;
  std::uint32_t destination_context_id;
  std::uint32_t correlation_id;
  void* reserved0;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
};
static_assert(offsetof(PeerCopyRecord, bytes) == 8 && offsetof(PeerCopyRecord, start) == 16 && offsetof(PeerCopyRecord, device_id) == 32 &&
              offsetof(PeerCopyRecord, stream_id) == 40 && offsetof(PeerCopyRecord, source_device_id) == 44 &&
              offsetof(PeerCopyRecord, destination_device_id) == 52 && offsetof(PeerCopyRecord, correlation_id) == 60 &&
              offsetof(PeerCopyRecord, graph_node_id) == 72 && offsetof(PeerCopyRecord, graph_id) == 80);

// CUpti_ActivityMemset4 and later.
struct MemsetRecord {
  std::uint32_t kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t correlation_id;
  std::uint16_t flags;
  std::uint16_t memory_kind;
  std::uint32_t padding;
  void* reserved0;
  std::uint64_t graph_node_id;
  std::uint32_t graph_id;
};
static_assert(offsetof(MemsetRecord, value) == 4 && offsetof(MemsetRecord, bytes) == 8 && offsetof(MemsetRecord, start) == 16 &&
              offsetof(MemsetRecord, device_id) == 32 && offsetof(MemsetRecord, stream_id) == 40 &&
              offsetof(MemsetRecord, correlation_id) == 44 && offsetof(MemsetRecord, flags) == 48 &&
              offsetof(MemsetRecord, memory_kind) == 50 && offsetof(MemsetRecord, graph_node_id) == 64);

// CUpti_ActivitySynchronization.
struct SynchronizationRecord {
  std::uint32_t kind;
  std::uint32_t type;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t cuda_event_id;
};
static_assert(offsetof(SynchronizationRecord, start) == 8 && offsetof(SynchronizationRecord, correlation_id) == 24 &&
              offsetof(SynchronizationRecord, stream_id) == 32 && sizeof(SynchronizationRecord) == 40);

// CUpti_ActivityAPI: a call of the runtime or of the driver.
struct ApiRecord {
  std::uint32_t kind;
  std::uint32_t callback_id;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process_id;
  std::uint32_t thread_id;  // low half of pthread_self() unless cuptiSetThreadIdType(kSystemThreadId) was called
  std::uint32_t correlation_id;
  std::uint32_t return_value;
};
static_assert(offsetof(ApiRecord, start) == 8 && offsetof(ApiRecord, process_id) == 24 && offsetof(ApiRecord, correlation_id) == 32 &&
              sizeof(ApiRecord) == 40);

// CUpti_ActivityOverhead and later.
struct OverheadRecord {
  std::uint32_t kind;
  std::uint32_t overhead_kind;
  std::uint32_t object_kind;
  std::uint32_t object_id[3];  // thread: {process, thread}; device: {device, context, stream}
  std::uint64_t start;
  std::uint64_t end;
};
static_assert(offsetof(OverheadRecord, object_id) == 12 && offsetof(OverheadRecord, start) == 24 && sizeof(OverheadRecord) == 40);

// CUpti_ActivityGraphTrace and later: one replay of a graph.
struct GraphTraceRecord {
  std::uint32_t kind;
  std::uint32_t correlation_id;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t graph_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
};
static_assert(offsetof(GraphTraceRecord, start) == 8 && offsetof(GraphTraceRecord, device_id) == 24 &&
              offsetof(GraphTraceRecord, stream_id) == 36 && sizeof(GraphTraceRecord) == 40);

// CUpti_ActivityEnvironment: one measurement of a device.
struct EnvironmentRecord {
  std::uint32_t kind;
  std::uint32_t device_id;
  std::uint64_t timestamp;
  std::uint32_t environment_kind;
  // kSpeed: EnvironmentSpeed; kTemperature: degrees Celsius; kPower: EnvironmentPower; kCooling: fan speed in percent.
  std::uint32_t data[5];
};
static_assert(offsetof(EnvironmentRecord, timestamp) == 8 && offsetof(EnvironmentRecord, data) == 20 && sizeof(EnvironmentRecord) == 40);

struct EnvironmentSpeed {
  std::uint32_t sm_clock;      // MHz
  std::uint32_t memory_clock;  // MHz
  std::uint32_t pcie_link_gen;
  std::uint32_t pcie_link_width;
  std::uint32_t clocks_throttle_reasons;
};
static_assert(sizeof(EnvironmentSpeed) == sizeof(EnvironmentRecord::data));

struct EnvironmentPower {
  std::uint32_t power;        // mW
  std::uint32_t power_limit;  // mW
};

// CUpti_ActivityCudaEvent, and what CUPTI of CUDA 12.8 and later appends to it.
struct CudaEventRecord {
  std::uint32_t kind;
  std::uint32_t correlation_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::uint32_t event_id;
  std::uint32_t padding;
  std::uint32_t device_id;  // from here on: since kFirstVersionWithEventTimes
  std::uint32_t padding2;
  void* reserved0;
  std::uint64_t device_timestamp;  // 0 unless cuptiActivityEnableCudaEventDeviceTimestamps(1) was called
  std::uint64_t cuda_event_sync_id;
};
static_assert(offsetof(CudaEventRecord, stream_id) == 12 && offsetof(CudaEventRecord, device_id) == 24 &&
              offsetof(CudaEventRecord, device_timestamp) == 40 && sizeof(CudaEventRecord) == 56);

// ------------------------------------------------------------------------------------------------------------- callbacks
enum CallbackDomain : std::uint32_t { kDriverApi = 1, kRuntimeApi = 2, kResourceDomain = 3, kSynchronizeDomain = 4 };

enum ApiSite : std::uint32_t { kApiEnter = 0, kApiExit = 1 };

// CUpti_CallbackData: of the driver's and the runtime's domain.
struct CallbackData {
  std::uint32_t site;  // ApiSite
  std::uint32_t padding;
  const char* function_name;
  const void* function_params;
  const void* function_return_value;  // at the end of the call: of an int
  const char* symbol_name;
  void* context;
  std::uint32_t context_uid;
  std::uint32_t padding2;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};
static_assert(offsetof(CallbackData, function_return_value) == 24 && offsetof(CallbackData, context_uid) == 48 &&
              offsetof(CallbackData, correlation_data) == 56 && offsetof(CallbackData, correlation_id) == 64);

// Of kResourceDomain.
enum ResourceCallback : std::uint32_t {
  kGraphCreated = 9,
  kGraphDestroyStarting = 10,
  kGraphCloned = 11,
  kGraphNodeCreated = 13,
  kGraphNodeDestroyStarting = 14,
  kGraphExecCreated = 18,
  kGraphExecDestroyStarting = 19,
  kGraphNodeCloned = 20,
};

// CUpti_ResourceData.
struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;  // graph callbacks: GraphData*
};
static_assert(offsetof(ResourceData, descriptor) == 16 && sizeof(ResourceData) == 24);

// CUpti_GraphData.
struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;  // of a clone
  std::int32_t node_type;
  std::int32_t padding;
  void* dependency;
  void* graph_exec;
};
static_assert(offsetof(GraphData, node) == 16 && offsetof(GraphData, original_node) == 24 && offsetof(GraphData, node_type) == 32 &&
              offsetof(GraphData, graph_exec) == 48 && sizeof(GraphData) == 56);

// CUpti_SubscriberParams as 13.0 has it.
struct SubscriberParams {
  std::size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;  // filled when another subscriber is there; at least 64 bytes
  std::size_t old_subscriber_size;
};
static_assert(sizeof(SubscriberParams) == 32);

using Subscriber = void*;
extern "C" {
using CallbackFunction = void (*)(void* user, std::uint32_t domain, std::uint32_t callback_id, const void* data);
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream_id, std::uint8_t* buffer, std::size_t size, std::size_t valid);
}

enum Attribute : std::uint32_t {
  kDeviceBufferSize = 0,
  kDeviceBufferPoolLimit = 2,
  kZeroedOutActivityBuffer = 5,
  kPerThreadActivityBuffer = 9,
};

enum ThreadIdType : std::uint32_t { kDefaultThreadId = 0, kSystemThreadId = 1 };
inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr std::uint32_t kFirstVersionThatTakesNoBuffer = 27;  // before, a refused buffer crashes
inline constexpr std::uint32_t kFirstVersionWithEventTimes = 26;

// Every function that we call, by its exported name. Optional ones may be null.
#define MINDTORCH_CUPTI_FUNCTIONS(REQUIRED, OPTIONAL)                                                                           \
  REQUIRED(cuptiGetVersion, (std::uint32_t * version))                                                                          \
  REQUIRED(cuptiGetResultString, (Result result, const char** text))                                                            \
  REQUIRED(cuptiGetTimestamp, (std::uint64_t * ns))                                                                             \
  REQUIRED(cuptiGetCallbackName, (std::uint32_t domain, std::uint32_t callback_id, const char** name))                          \
  REQUIRED(cuptiSubscribe, (Subscriber * subscriber, CallbackFunction callback, void* user))                                    \
  REQUIRED(cuptiUnsubscribe, (Subscriber subscriber))                                                                           \
  REQUIRED(cuptiEnableCallback, (std::uint32_t enable, Subscriber subscriber, std::uint32_t domain, std::uint32_t callback_id)) \
  REQUIRED(cuptiActivityRegisterCallbacks, (BufferRequested requested, BufferCompleted completed))                              \
  REQUIRED(cuptiActivityEnable, (std::uint32_t kind))                                                                           \
  REQUIRED(cuptiActivityDisable, (std::uint32_t kind))                                                                          \
  REQUIRED(cuptiActivityFlushAll, (std::uint32_t flag))                                                                         \
  REQUIRED(cuptiActivityGetNextRecord, (std::uint8_t * buffer, std::size_t valid, Activity * *record))                          \
  REQUIRED(cuptiActivityGetNumDroppedRecords, (void* context, std::uint32_t stream_id, std::size_t* dropped))                   \
  OPTIONAL(cuptiEnableDomain, (std::uint32_t enable, Subscriber subscriber, std::uint32_t domain))                              \
  OPTIONAL(cuptiActivitySetAttribute, (std::uint32_t attribute, std::size_t * size, void* value))                               \
  OPTIONAL(cuptiActivityEnableRuntimeApi, (std::uint32_t callback_id, std::uint8_t enable))                                     \
  OPTIONAL(cuptiActivityEnableDriverApi, (std::uint32_t callback_id, std::uint8_t enable))                                      \
  OPTIONAL(cuptiActivityEnableCudaEventDeviceTimestamps, (std::uint8_t enable))                                                 \
  OPTIONAL(cuptiSetThreadIdType, (std::uint32_t type))                                                                          \
  OPTIONAL(cuptiGetGraphNodeId, (void* node, std::uint64_t* id))                                                                \
  OPTIONAL(cuptiGetGraphId, (void* graph, std::uint32_t* id))                                                                   \
  OPTIONAL(cuptiSubscribe_v2, (Subscriber * subscriber, CallbackFunction callback, void* user, SubscriberParams* params))

// One pointer for each function, named as the function.
struct Functions {
// NOLINTBEGIN(bugprone-macro-parentheses, readability-identifier-naming): the members have the vendor's names.
#define MINDTORCH_CUPTI_POINTER(name, arguments) Result(*name) arguments = nullptr;
  MINDTORCH_CUPTI_FUNCTIONS(MINDTORCH_CUPTI_POINTER, MINDTORCH_CUPTI_POINTER)
// NOLINTEND(bugprone-macro-parentheses, readability-identifier-naming)
#undef MINDTORCH_CUPTI_POINTER
};

}  // namespace mindtorch::sources::cupti
