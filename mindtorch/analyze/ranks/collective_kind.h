// CollectiveKind: what a collective does, whatever the library calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

enum class CollectiveKind : std::uint8_t {
  kOther,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBarrier,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSend,
  kReceive,
};

MINDTORCH_EXPORT std::string_view collective_kind_name(CollectiveKind kind);  // "all_reduce", ...

// From the names of NCCL's and HCCL's kernels, of Gloo's scopes and of torch's parameters: "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
// "gloo:all_reduce", "_allgather_base", "hcom_allReduce_".
MINDTORCH_EXPORT CollectiveKind collective_kind(std::string_view name);

// True if no rank can finish before all ranks have begun. Ranks wait for each other there, and clocks can be compared.
constexpr bool is_synchronising(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kBarrier;
}

// True for calls in which two ranks take part and the others of the group do not.
constexpr bool is_between_two(CollectiveKind kind) { return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive; }

// The bytes that each rank's link carries for each byte of the message, as nccl-tests define the bus bandwidth.
MINDTORCH_EXPORT double bus_factor(CollectiveKind kind, std::size_t ranks);

}  // namespace mindtorch::analyze
