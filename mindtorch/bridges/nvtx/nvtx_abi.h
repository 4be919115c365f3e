// The part of NVTX's binary interface that a tool uses, declared by ourselves: nothing of NVIDIA's is needed to build.
//
// NVTX is a set of headers. Each library that uses them has its own copy, which looks for a tool at its first call: it opens the library
// that NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2 with a function that gives access to its table of functions. The
// declarations are compared with the vendor's by a test.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::nvtx {

using RangeId = std::uint64_t;
using Handle = void*;  // of a domain, of a registered string, or of a resource: what the tool has returned

enum MessageType : std::int32_t { kNoMessage = 0, kAsciiMessage = 1, kUnicodeMessage = 2, kRegisteredMessage = 3 };
enum PayloadType : std::int32_t {
  kNoPayload = 0,
  kUint64Payload = 1,
  kInt64Payload = 2,
  kDoublePayload = 3,
  kUint32Payload = 4,
  kInt32Payload = 5,
  kFloatPayload = 6,
};

// nvtxEventAttributes_v2.
struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved0;
  std::uint64_t payload;  // a union
  std::int32_t message_type;
  const void* message;  // a union: const char*, const wchar_t* or the handle of a registered string
};
static_assert(offsetof(EventAttributes, payload) == 24 && offsetof(EventAttributes, message) == 40 && sizeof(EventAttributes) == 48);

inline constexpr int kNoPushPopTracking = -2;

enum Module : std::int32_t { kCore = 1, kCore2 = 5 };
enum CoreFunction : std::uint32_t {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kNameCategoryA = 12,
  kNameCategoryW = 13,
};
enum Core2Function : std::uint32_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainNameCategoryA = 8,
  kDomainNameCategoryW = 9,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
};

extern "C" {
using FunctionPointer = void (*)();
using FunctionTable = FunctionPointer**;  // pointers to the pointers that the program calls; null: this copy of NVTX lacks the function
using GetExportTable = const void* (*)(std::uint32_t table);
}

inline constexpr std::uint32_t kCallbacksTable = 1;

// NvtxExportTableCallbacks.
struct ExportTableCallbacks {
  std::size_t struct_size;
  int (*get_module_function_table)(std::int32_t module, FunctionTable* table, unsigned int* size);
};
static_assert(sizeof(ExportTableCallbacks) == 16);

}  // namespace mindtorch::nvtx
