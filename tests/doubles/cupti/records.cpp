// Sizes and offsets of records.
#include "tests/doubles/cupti/records.h"

namespace cupti_double {
namespace {

// Versions before 13.0 are counted from 1; later ones are 13yyzz.
constexpr std::uint32_t kCuda13 = 130000;
constexpr std::uint32_t kCuda13Update1 = 130100;
constexpr std::uint32_t kCuda13Update2 = 130200;
constexpr std::uint32_t kCuda13Update4 = 130400;

std::size_t kernel_size(std::uint32_t version) {
  if (version < kCuda13) return 208;
  if (version < kCuda13Update1) return 216;
  if (version < kCuda13Update2) return 224;
  return version < kCuda13Update4 ? 232 : 248;
}

}  // namespace

std::size_t record_size(std::uint32_t kind, std::uint32_t version) {
  switch (kind) {
    case abi::kConcurrentKernel: return kernel_size(version);
    case abi::kMemcpy: return version < kCuda13 ? 88 : version < kCuda13Update4 ? 96 : 112;
    case abi::kMemset: return version < kCuda13Update4 ? 88 : 104;
    case abi::kMemcpyPeer: return 96;
    case abi::kRuntime:
    case abi::kDriver: return 40;
    case abi::kOverhead:
    case abi::kSynchronization:
    case abi::kGraphTrace: return 56;
    case abi::kCudaEvent: return version < abi::kFirstVersionWithEventTimes ? 24 : 56;
    case abi::kEnvironment: return 40;
    case abi::kExternalCorrelation: return 24;
    default: return 0;
  }
}

std::size_t start_offset(std::uint32_t kind) {
  switch (kind) {
    case abi::kRuntime:
    case abi::kDriver: return offsetof(abi::ApiRecord, start);
    case abi::kSynchronization: return offsetof(abi::SynchronizationRecord, start);
    case abi::kGraphTrace: return offsetof(abi::GraphTraceRecord, start);
    case abi::kOverhead: return offsetof(abi::OverheadRecord, start);
    default: return offsetof(abi::KernelRecord, start);  // copies and memsets have theirs there too
  }
}

bool is_device_kind(std::uint32_t kind) {
  return kind == abi::kConcurrentKernel || kind == abi::kMemcpy || kind == abi::kMemcpyPeer || kind == abi::kMemset ||
         kind == abi::kGraphTrace;
}

}  // namespace cupti_double
