// The identity of a rank, read with simdjson's DOM: the metadata is small.
#include "mindtorch/ingest/rank_identity.h"

#include <simdjson.h>

#include <string>
#include <string_view>

namespace mindtorch::ingest {
namespace {

using simdjson::dom::element;

std::int64_t integer(simdjson::simdjson_result<element> value) {
  std::int64_t number = -1;
  return value.get_int64().get(number) == simdjson::SUCCESS ? number : -1;
}

std::string text(simdjson::simdjson_result<element> value) {
  std::string_view view;
  return value.get_string().get(view) == simdjson::SUCCESS ? std::string(view) : std::string();
}

// A list of numbers, or a text such as "[0, 1]", which some writers make of it.
std::vector<std::int64_t> rank_list(simdjson::simdjson_result<element> value) {
  simdjson::dom::parser parser;
  const std::string inner = text(value);
  if (!inner.empty()) value = parser.parse(inner);
  std::vector<std::int64_t> ranks;
  simdjson::dom::array items;
  if (value.get_array().get(items) != simdjson::SUCCESS) return ranks;
  for (const element item : items) {
    std::int64_t rank = -1;
    if (item.get_int64().get(rank) == simdjson::SUCCESS) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<trace::RankGroup> groups(simdjson::simdjson_result<element> list) {
  std::vector<trace::RankGroup> found;
  simdjson::dom::array items;
  if (list.get_array().get(items) != simdjson::SUCCESS) return found;
  for (const element item : items) found.push_back({text(item["pg_name"]), rank_list(item["ranks"]), integer(item["collectives"])});
  return found;
}

}  // namespace

trace::RankIdentity rank_identity(const trace::Recording& recording) {
  trace::RankIdentity identity;
  simdjson::dom::parser parser;
  if (const auto host = recording.metadata.find("host_name"); host != recording.metadata.end())
    identity.host = text(parser.parse(host->second));
  const auto info = recording.metadata.find("distributedInfo");
  if (info == recording.metadata.end()) return identity;
  element top;
  if (parser.parse(info->second).get(top) != simdjson::SUCCESS) return identity;
  identity.rank = integer(top["rank"]);
  identity.local_rank = integer(top["local_rank"]);
  identity.world_size = integer(top["world_size"]);
  identity.backend = text(top["backend"]);
  identity.groups = groups(top["pg_config"]);
  if (const std::int64_t until = integer(top["collectives_until_ns"]); until >= 0) identity.counted_until_ns = until;
  return identity;
}

}  // namespace mindtorch::ingest
