// Collectives by name.
#include "mindtorch/analyze/ranks/collective_kind.h"

#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace mindtorch::analyze {
namespace {

// In this order: "reducescatter" holds "reduce" and "scatter", "allgather" holds "gather".
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 13> kParts = {{{"allreduce", CollectiveKind::kAllReduce},
                                                                                 {"allgather", CollectiveKind::kAllGather},
                                                                                 {"reducescatter", CollectiveKind::kReduceScatter},
                                                                                 {"alltoall", CollectiveKind::kAllToAll},
                                                                                 {"barrier", CollectiveKind::kBarrier},
                                                                                 {"broadcast", CollectiveKind::kBroadcast},
                                                                                 {"sendrecv", CollectiveKind::kSend},
                                                                                 {"reduce", CollectiveKind::kReduce},
                                                                                 {"gather", CollectiveKind::kGather},
                                                                                 {"scatter", CollectiveKind::kScatter},
                                                                                 {"send", CollectiveKind::kSend},
                                                                                 {"recv", CollectiveKind::kReceive},
                                                                                 {"receive", CollectiveKind::kReceive}}};

constexpr std::array<std::string_view, 12> kNames = {"other",     "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier",
                                                     "broadcast", "reduce",     "gather",     "scatter",        "send",       "recv"};

}  // namespace

std::string_view collective_kind_name(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

CollectiveKind collective_kind(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const auto& [part, kind] : kParts) {
    if (letters.find(part) != std::string::npos) return kind;
  }
  return CollectiveKind::kOther;
}

double bus_factor(CollectiveKind kind, std::size_t ranks) {
  if (ranks < 2) return 1;
  const double n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::kAllReduce: return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll: return (n - 1) / n;
    default: return 1;
  }
}

}  // namespace mindtorch::analyze
