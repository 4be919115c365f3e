// The part of CUPTI's binary interface that belongs to one subscriber, as CUPTI 13.3 and later have it: records with the fields that the
// subscriber selects, and several subscribers in one process. Offsets are asserted here and compared with the vendor's headers by a test.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mindtorch/sources/cupti/cupti_abi.h"

namespace mindtorch::sources::cupti {

// Earlier versions have these functions as a beta, or not at all.
inline constexpr std::uint32_t kFirstVersionWithUserDefinedRecords = 130300;
// Before, the records of single functions cannot be switched off when records are user-defined, and ActivityConfig has no options.
inline constexpr std::uint32_t kFirstVersionWithApiOptions = 130400;

// CUpti_SubscriberParams with what 13.2 appended.
struct SharedSubscriberParams {
  std::size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;
  std::size_t old_subscriber_size;
  std::uint8_t allow_multiple_subscribers;
  std::uint8_t padding[7];
};
static_assert(offsetof(SharedSubscriberParams, allow_multiple_subscribers) == 32 && sizeof(SharedSubscriberParams) == 40);

// Numbers of attributes that a subscriber sets for itself; kEnableMultiSubscriberGraphTrace holds for all subscribers.
enum SubscriberAttribute : std::uint32_t {
  kUserDefinedRecords = 11,
  kMultipleSubscriberState = 12,
  kEnableCudaEventDeviceTimestamps = 17,
  kEnableMultiSubscriberGraphTrace = 20,
  kThreadIdType = 21,
};

// CUpti_ActivityFieldSelection.
struct FieldSelection {
  std::size_t struct_size;
  std::size_t num_fields;
  std::int32_t* field_ids;  // the kind's own field first
};
static_assert(sizeof(FieldSelection) == 24);

// CUpti_ActivityConfig; 13.3 has it without the options.
struct ActivityConfig {
  std::size_t struct_size;
  FieldSelection field_selection;
  void* kind_options;  // not used
};
static_assert(offsetof(ActivityConfig, field_selection) == 8 && offsetof(ActivityConfig, kind_options) == 32 &&
              sizeof(ActivityConfig) == 40);

// CUpti_ActivityFieldLayoutEntry.
struct FieldEntry {
  std::size_t struct_size;
  std::int32_t field_id;
  std::size_t offset;
  std::size_t size;
  std::size_t alignment;
};
static_assert(offsetof(FieldEntry, offset) == 16 && offsetof(FieldEntry, size) == 24 && sizeof(FieldEntry) == 40);

// CUpti_ActivityRecordLayout.
struct LayoutOfKind {
  std::size_t struct_size;
  FieldEntry* entries;
  std::size_t num_fields;
  std::size_t record_size;
};
static_assert(offsetof(LayoutOfKind, record_size) == 24 && sizeof(LayoutOfKind) == 32);

// CUpti_BufferCallbackRequestInfo.
struct RequestInfo {
  std::size_t struct_size;
};

// CUpti_BufferCallbackCompleteInfo. Everything that it points to is valid inside the callback only.
struct CompleteInfo {
  std::size_t struct_size;
  std::uint64_t thread_id;
  LayoutOfKind** record_layouts;  // by kind; null for kinds that the buffer does not have
  std::size_t num_record_layouts;
};
static_assert(offsetof(CompleteInfo, record_layouts) == 16 && sizeof(CompleteInfo) == 32);

// The numbers of fields, for each kind of record. The first one of every kind is the kind itself.
inline constexpr std::int32_t kFieldOfKind = 0;
enum KernelField : std::int32_t {
  kKernelRegistersPerThread = 4,
  kKernelStart = 7,
  kKernelEnd = 8,
  kKernelDeviceId = 10,
  kKernelContextId = 11,
  kKernelStreamId = 12,
  kKernelGridX = 13,
  kKernelGridY = 14,
  kKernelGridZ = 15,
  kKernelBlockX = 16,
  kKernelBlockY = 17,
  kKernelBlockZ = 18,
  kKernelStaticSharedMemory = 19,
  kKernelDynamicSharedMemory = 20,
  kKernelCorrelationId = 22,
  kKernelName = 24,
  kKernelGraphNodeId = 31,
};
enum MemcpyField : std::int32_t {
  kMemcpyCopyKind = 1,
  kMemcpySrcKind = 2,
  kMemcpyDstKind = 3,
  kMemcpyBytes = 5,
  kMemcpyStart = 6,
  kMemcpyEnd = 7,
  kMemcpyDeviceId = 8,
  kMemcpyContextId = 9,
  kMemcpyStreamId = 10,
  kMemcpyCorrelationId = 11,
  kMemcpyGraphNodeId = 12,
};
// As the fields of copies up to the stream.
enum Memcpy2Field : std::int32_t {
  kMemcpy2CopyKind = 1,
  kMemcpy2SrcKind = 2,
  kMemcpy2DstKind = 3,
  kMemcpy2Bytes = 5,
  kMemcpy2Start = 6,
  kMemcpy2End = 7,
  kMemcpy2DeviceId = 8,
  kMemcpy2ContextId = 9,
  kMemcpy2StreamId = 10,
  kMemcpy2CorrelationId = 15,
  kMemcpy2GraphNodeId = 16,
};
enum MemsetField : std::int32_t {
  kMemsetBytes = 2,
  kMemsetStart = 3,
  kMemsetEnd = 4,
  kMemsetDeviceId = 5,
  kMemsetContextId = 6,
  kMemsetStreamId = 7,
  kMemsetCorrelationId = 8,
  kMemsetMemoryKind = 10,
  kMemsetGraphNodeId = 11,
};
enum ApiField : std::int32_t {
  kApiCbid = 1,
  kApiStart = 2,
  kApiEnd = 3,
  kApiThreadId = 5,
  kApiCorrelationId = 6,
  kApiReturnValue = 7,
};
enum OverheadField : std::int32_t { kOverheadOverheadKind = 1, kOverheadStart = 4, kOverheadEnd = 5 };
enum SynchronizationField : std::int32_t {
  kSynchronizationType = 1,
  kSynchronizationStart = 2,
  kSynchronizationEnd = 3,
  kSynchronizationCorrelationId = 4,
  kSynchronizationContextId = 5,
  kSynchronizationStreamId = 6,
};
enum GraphTraceField : std::int32_t {
  kGraphTraceCorrelationId = 1,
  kGraphTraceStart = 2,
  kGraphTraceEnd = 3,
  kGraphTraceDeviceId = 4,
  kGraphTraceGraphId = 5,
  kGraphTraceContextId = 6,
  kGraphTraceStreamId = 7,
};
enum EnvironmentField : std::int32_t {
  kEnvironmentDeviceId = 1,
  kEnvironmentTimestamp = 2,
  kEnvironmentEnvironmentKind = 3,
  kEnvironmentEnvironmentKindData = 4,
};
enum CudaEventField : std::int32_t {
  kCudaEventCorrelationId = 1,
  kCudaEventContextId = 2,
  kCudaEventStreamId = 3,
  kCudaEventEventId = 4,
  kCudaEventDeviceId = 5,
  kCudaEventDeviceTimestamp = 6,
};

extern "C" {
using SharedBufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, RequestInfo* info);
using SharedBufferCompleted = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid, CompleteInfo* info);
}

// Every function of a subscriber that we call, by its exported name. A library has all of them, or is used without any.
#define MINDTORCH_CUPTI_SUBSCRIBER_FUNCTIONS(FUNCTION)                                                                                   \
  FUNCTION(cuptiActivityRegisterCallbacks_v2, (Subscriber subscriber, SharedBufferRequested requested, SharedBufferCompleted completed)) \
  FUNCTION(cuptiActivityEnable_v2, (Subscriber subscriber, std::uint32_t kind, ActivityConfig * config))                                 \
  FUNCTION(cuptiActivityDisable_v2, (Subscriber subscriber, std::uint32_t kind, ActivityConfig * config))                                \
  FUNCTION(cuptiActivitySetAttribute_v2, (Subscriber subscriber, std::uint32_t attribute, std::size_t * size, void* value))              \
  FUNCTION(cuptiActivityGetAttribute_v2, (Subscriber subscriber, std::uint32_t attribute, std::size_t * size, void* value))              \
  FUNCTION(cuptiActivityGetNumDroppedRecords_v2, (Subscriber subscriber, void* context, std::uint32_t stream_id, std::size_t* dropped))  \
  FUNCTION(cuptiActivityEnableRuntimeApi_v2, (Subscriber subscriber, std::uint32_t callback_id, std::uint8_t enable))                    \
  FUNCTION(cuptiActivityEnableDriverApi_v2, (Subscriber subscriber, std::uint32_t callback_id, std::uint8_t enable))                     \
  FUNCTION(cuptiGetTimestamp_v2, (Subscriber subscriber, std::uint64_t * ns))

// One pointer for each function, named as the function.
struct SubscriberFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses, readability-identifier-naming): the members have the vendor's names.
#define MINDTORCH_CUPTI_POINTER(name, arguments) Result(*name) arguments = nullptr;
  MINDTORCH_CUPTI_SUBSCRIBER_FUNCTIONS(MINDTORCH_CUPTI_POINTER)
// NOLINTEND(bugprone-macro-parentheses, readability-identifier-naming)
#undef MINDTORCH_CUPTI_POINTER
};

}  // namespace mindtorch::sources::cupti
