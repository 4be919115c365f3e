// Lays the paths out depth first, without recursion: stacks may be deep.
#include "mindtorch/export/stacks/flame_tree.h"

#include <algorithm>
#include <numeric>

namespace mindtorch::exporter {
namespace {

using Id = CallPaths::Id;

// The time of each path with everything below it.
std::vector<std::int64_t> weights_with_children(const CallPaths& paths) {
  std::vector<std::int64_t> weights;
  weights.reserve(paths.paths().size());
  for (const CallPaths::Path& path : paths.paths()) weights.push_back(std::max<std::int64_t>(0, path.weight_ns));
  for (Id id = static_cast<Id>(weights.size() - 1); id > 0; --id) weights[paths.paths()[id].above] += weights[id];
  return weights;
}

// Paths except the root by parent, and among the children of one parent by name.
std::vector<Id> by_parent_and_name(const CallPaths& paths) {
  const auto& all = paths.paths();
  std::vector<Id> order(all.size() - 1);
  std::iota(order.begin(), order.end(), Id{1});
  std::ranges::sort(order, [&](Id left, Id right) {
    if (all[left].above != all[right].above) return all[left].above < all[right].above;
    return paths.text(all[left].frame) < paths.text(all[right].frame);
  });
  return order;
}

}  // namespace

std::vector<FlameNode> flame_tree(const CallPaths& paths) {
  const auto& all = paths.paths();
  const std::vector<std::int64_t> weights = weights_with_children(paths);
  const std::vector<Id> order = by_parent_and_name(paths);
  std::vector<std::uint32_t> first_child(all.size() + 1, 0);  // into `order`
  for (const Id id : order) ++first_child[all[id].above + 1];
  std::partial_sum(first_child.begin(), first_child.end(), first_child.begin());

  std::vector<FlameNode> nodes;
  struct Pending {
    Id path;
    std::int64_t start_ns;
  };
  std::vector<Pending> pending{{CallPaths::kRoot, 0}};
  std::vector<Pending> children;
  while (!pending.empty()) {
    const auto [id, start] = pending.back();
    pending.pop_back();
    nodes.push_back({all[id].frame, weights[id], all[id].depth, start});
    // A path's own time lies in front of that of its children.
    std::int64_t at = start + std::max<std::int64_t>(0, all[id].weight_ns);
    children.clear();
    for (std::uint32_t k = first_child[id]; k < first_child[id + 1]; ++k) {
      if (weights[order[k]] == 0) continue;
      children.push_back({order[k], at});
      at += weights[order[k]];
    }
    pending.insert(pending.end(), children.rbegin(), children.rend());
  }
  return nodes;
}

}  // namespace mindtorch::exporter
