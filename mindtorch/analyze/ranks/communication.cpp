// Adds up the matched collectives.
#include "mindtorch/analyze/ranks/communication.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mindtorch::analyze {

std::vector<CommunicationRow> communication(const Matching& matching) {
  std::map<std::tuple<std::string_view, std::string_view, std::int64_t>, CommunicationRow> rows;
  for (const MatchedCollective& collective : matching.collectives) {
    if (collective.parts.empty() || collective.is_unfinished) continue;
    CommunicationRow& row = rows[{collective.name, collective.group, collective.bytes}];
    std::int64_t shortest = INT64_MAX;
    double sum = 0;
    for (const CollectivePart& part : collective.parts) {
      shortest = std::min(shortest, part.duration_ns());
      sum += static_cast<double>(part.duration_ns()) * 1e-9;
    }
    ++row.count;
    row.ranks = std::max(row.ranks, collective.parts.size());
    row.seconds += sum / static_cast<double>(collective.parts.size());
    row.transfer_seconds += static_cast<double>(shortest) * 1e-9;
    row.bus_bandwidth += bus_factor(collective.kind, collective.parts.size()) * static_cast<double>(collective.bytes);
  }
  std::vector<CommunicationRow> result;
  for (auto& [key, row] : rows) {
    std::tie(row.name, row.group, row.bytes) = key;
    row.waiting_seconds = row.seconds - row.transfer_seconds;
    const bool has_bandwidth = row.bytes > 0 && row.transfer_seconds > 0;
    row.bandwidth = has_bandwidth ? static_cast<double>(row.bytes) * static_cast<double>(row.count) / row.transfer_seconds : 0;
    row.bus_bandwidth = has_bandwidth ? row.bus_bandwidth / row.transfer_seconds : 0;
    result.push_back(std::move(row));
  }
  std::ranges::stable_sort(result, std::ranges::greater{}, &CommunicationRow::seconds);
  return result;
}

}  // namespace mindtorch::analyze
