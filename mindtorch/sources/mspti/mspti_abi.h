// The part of MSPTI's binary interface that we use, declared by ourselves: nothing of Huawei's is needed to build.
//
// The vendor packs its records: a member follows the one before it without padding, and the whole is padded to a multiple of eight bytes.
// Members must therefore be copied, never referred to. Records lie one after the other in a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::sources::mspti {

using Result = std::int32_t;
enum : Result {
  kSuccess = 0,
  kInvalidParameter = 1,
  kMultipleSubscribersNotSupported = 2,
  kMaxLimitReached = 3,  // the end of a buffer
  kDeviceOffline = 4,
  kQueueEmpty = 5,
  kWithoutPreload = 6,
  kNotInitialized = 7,
  kInvalidKind = 8,
  kParameterSizeNotSufficient = 9,
  kInnerError = 999,
};

// msptiActivityKind. Libraries before 26.0 end with kCommunication.
enum ActivityKind : std::uint32_t {
  kMarker = 1,
  kKernel = 2,
  kApi = 3,
  kHccl = 4,
  kMemory = 5,
  kMemset = 6,
  kMemcpy = 7,
  kExternalCorrelation = 8,
  kCommunication = 9,
  kAclApi = 10,
  kNodeApi = 11,
  kRuntimeApi = 12,
};

enum MarkerFlag : std::uint32_t {
  kInstantaneous = 1,
  kRangeStart = 2,
  kRangeEnd = 4,
  kInstantaneousWithDevice = 8,
  kRangeStartWithDevice = 16,
  kRangeEndWithDevice = 32,
};
enum MarkerSource : std::uint32_t { kFromHost = 0, kFromDevice = 1 };
enum MemoryOperation : std::uint32_t { kAllocation = 0, kRelease = 1 };
enum CopyKind : std::uint32_t { kUnknownCopy = 0, kHostToHost = 1, kHostToDevice = 2, kDeviceToHost = 3, kDeviceToDevice = 4 };

inline constexpr std::uint32_t kNoStream = 0xFFFFFFFF;

#define MINDTORCH_MSPTI_RECORD struct __attribute__((packed, aligned(8)))

MINDTORCH_MSPTI_RECORD Activity { std::uint32_t kind; };

// Times of kernels are the device's, converted by the library to nanoseconds since 1970.
MINDTORCH_MSPTI_RECORD KernelRecord {
  std::uint32_t kind;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t stream_id;
  std::uint64_t correlation_id;
  const char* type;  // "KERNEL_AICORE"; these texts exist until the process ends
  const char* name;
};
static_assert(offsetof(KernelRecord, start) == 4 && offsetof(KernelRecord, device_id) == 20 &&
              offsetof(KernelRecord, correlation_id) == 28 && offsetof(KernelRecord, type) == 36 && offsetof(KernelRecord, name) == 44 &&
              sizeof(KernelRecord) == 56);

// Of the kinds API, ACL_API, NODE_API and RUNTIME_API.
MINDTORCH_MSPTI_RECORD ApiRecord {
  std::uint32_t kind;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process_id;
  std::uint32_t thread_id;
  std::uint64_t correlation_id;  // the thread's latest id when the call ended, whether this call made it or an earlier one
  const char* name;
};
static_assert(offsetof(ApiRecord, process_id) == 20 && offsetof(ApiRecord, correlation_id) == 28 && offsetof(ApiRecord, name) == 36 &&
              sizeof(ApiRecord) == 48);

MINDTORCH_MSPTI_RECORD HcclRecord {
  std::uint32_t kind;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t stream_id;
  double bandwidth;  // GB/s
  const char* name;
  const char* communicator;
};
static_assert(offsetof(HcclRecord, bandwidth) == 28 && offsetof(HcclRecord, communicator) == 44 && sizeof(HcclRecord) == 56);

// Times of allocations, copies and memsets are those of the call on the host, also for calls that return before the work is done.
MINDTORCH_MSPTI_RECORD MemoryRecord {
  std::uint32_t kind;
  std::uint32_t operation;
  std::uint32_t memory_kind;
  std::uint64_t correlation_id;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t process_id;
  std::uint32_t device_id;
  std::uint32_t stream_id;
};
static_assert(offsetof(MemoryRecord, correlation_id) == 12 && offsetof(MemoryRecord, address) == 36 &&
              offsetof(MemoryRecord, process_id) == 52 && sizeof(MemoryRecord) == 64);

MINDTORCH_MSPTI_RECORD MemsetRecord {
  std::uint32_t kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t stream_id;
  std::uint64_t correlation_id;
  std::uint8_t is_async;
};
static_assert(offsetof(MemsetRecord, bytes) == 8 && offsetof(MemsetRecord, correlation_id) == 40 && sizeof(MemsetRecord) == 56);

MINDTORCH_MSPTI_RECORD MemcpyRecord {
  std::uint32_t kind;
  std::uint32_t copy_kind;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device_id;
  std::uint32_t stream_id;
  std::uint64_t correlation_id;
  std::uint8_t is_async;
};
static_assert(offsetof(MemcpyRecord, copy_kind) == 4 && offsetof(MemcpyRecord, correlation_id) == 40 && sizeof(MemcpyRecord) == 56);

MINDTORCH_MSPTI_RECORD ExternalCorrelationRecord {
  std::uint32_t kind;
  std::uint32_t external_kind;
  std::uint64_t external_id;
  std::uint64_t correlation_id;
};
static_assert(sizeof(ExternalCorrelationRecord) == 24);

MINDTORCH_MSPTI_RECORD CommunicationRecord {
  std::uint32_t kind;
  std::uint32_t data_type;
  std::uint64_t count;
  std::uint32_t device_id;
  std::uint32_t stream_id;
  std::uint64_t start;
  std::uint64_t end;
  const char* algorithm;
  const char* name;
  const char* communicator;
  std::uint64_t correlation_id;
};
static_assert(offsetof(CommunicationRecord, device_id) == 16 && offsetof(CommunicationRecord, algorithm) == 40 &&
              offsetof(CommunicationRecord, correlation_id) == 64 && sizeof(CommunicationRecord) == 72);

MINDTORCH_MSPTI_RECORD MarkerRecord {
  std::uint32_t kind;
  std::uint32_t flag;
  std::uint32_t source;
  std::uint64_t timestamp;
  std::uint64_t id;                 // the same on both ends of a range
  std::uint32_t process_or_device;  // by `source`
  std::uint32_t thread_or_stream;
  const char* name;  // empty at the end of a range and on the device
  const char* domain;
};
static_assert(offsetof(MarkerRecord, timestamp) == 12 && offsetof(MarkerRecord, process_or_device) == 28 &&
              offsetof(MarkerRecord, name) == 36 && sizeof(MarkerRecord) == 56);

using Subscriber = void*;
using CallbackFunction = void (*)(void* user, std::uint32_t domain, std::uint32_t callback_id, const void* data);
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
using BufferCompleted = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid);

// Every function that we call, by its exported name. Optional ones may be null; they came with the 26.2 line.
#define MINDTORCH_MSPTI_FUNCTIONS(REQUIRED, OPTIONAL)                                                   \
  REQUIRED(msptiSubscribe, (Subscriber * subscriber, CallbackFunction callback, void* user))            \
  REQUIRED(msptiUnsubscribe, (Subscriber subscriber))                                                   \
  REQUIRED(msptiActivityRegisterCallbacks, (BufferRequested requested, BufferCompleted completed))      \
  REQUIRED(msptiActivityEnable, (std::uint32_t kind))                                                   \
  REQUIRED(msptiActivityDisable, (std::uint32_t kind))                                                  \
  REQUIRED(msptiActivityFlushAll, (std::uint32_t flag))                                                 \
  OPTIONAL(msptiGetVersion, (std::uint32_t * version))                                                  \
  OPTIONAL(msptiGetTimestamp, (std::uint64_t * ns))                                                     \
  OPTIONAL(msptiActivityGetStructSize, (std::uint32_t kind, std::uint32_t version, std::size_t * size)) \
  OPTIONAL(msptiActivityGetNumDroppedRecords, (void* context, std::uint32_t stream_id, std::size_t* dropped))

// One pointer for each function, named as the function.
struct Functions {
// NOLINTBEGIN(bugprone-macro-parentheses, readability-identifier-naming): the members have the vendor's names.
#define MINDTORCH_MSPTI_POINTER(name, arguments) Result(*name) arguments = nullptr;
  MINDTORCH_MSPTI_FUNCTIONS(MINDTORCH_MSPTI_POINTER, MINDTORCH_MSPTI_POINTER)
// NOLINTEND(bugprone-macro-parentheses, readability-identifier-naming)
#undef MINDTORCH_MSPTI_POINTER
};

// The size of a record as the declarations above have it; 0: unknown kind.
constexpr std::size_t record_size(std::uint32_t kind) {
  switch (kind) {
    case kMarker: return sizeof(MarkerRecord);
    case kKernel: return sizeof(KernelRecord);
    case kApi:
    case kAclApi:
    case kNodeApi:
    case kRuntimeApi: return sizeof(ApiRecord);
    case kHccl: return sizeof(HcclRecord);
    case kMemory: return sizeof(MemoryRecord);
    case kMemset: return sizeof(MemsetRecord);
    case kMemcpy: return sizeof(MemcpyRecord);
    case kExternalCorrelation: return sizeof(ExternalCorrelationRecord);
    case kCommunication: return sizeof(CommunicationRecord);
    default: return 0;
  }
}

}  // namespace mindtorch::sources::mspti
