// OpFlops: formulas are looked up once per name and applied to each recorded call; then calls inside a counted one are left out.
#include "mindtorch/analyze/op_flops.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mindtorch/analyze/flops.h"

namespace mindtorch::analyze {
namespace {

// Ops that call others for their products. If one of those is recorded, it is counted instead.
bool is_made_of_products(std::string_view op) {
  static constexpr auto kOps = std::to_array<std::string_view>(
      {"aten::matmul", "aten::linear", "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math",
       // A transform (vmap, grad) calls the op again, for all samples at once.
       "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::add", "aten::mul"});
  return std::ranges::find(kOps, op) != kOps.end();
}

// All listed calls with a formula, also those inside one another. A call that was merged into its caller is not listed.
std::vector<OpFlops::Counted> calls_with_flops(const trace::Recording& recording, const EventTree& tree) {
  std::vector<FlopFormula> formula_of_name;
  formula_of_name.reserve(recording.names.size());
  for (const std::string& name : recording.names) formula_of_name.push_back(flop_formula(name));
  std::vector<OpFlops::Counted> found;
  std::vector<Argument> arguments;
  const trace::SideTable<std::int64_t>& inputs = recording.inputs;
  for (std::size_t row = 0; row < inputs.events.size(); ++row) {
    const EventIndex event = inputs.events[row];
    const FlopFormula formula = formula_of_name[recording.events.name[event]];
    if (formula == nullptr || recording.events.kind[event] != trace::EventKind::kOp || !tree.is_averaged(event)) continue;
    read_arguments(inputs.row(row), arguments);
    if (const std::int64_t flops = formula(arguments); flops > 0) found.push_back({event, flops});
  }
  return found;
}

}  // namespace

OpFlops::OpFlops(const trace::Recording& recording, const EventTree& tree) {
  if (!recording.options.flops) return;
  const std::vector<Counted> found = calls_with_flops(recording, tree);
  EventIndex counted_until = 0;  // the end of the subtree of the last op that was counted
  for (std::size_t i = 0; i < found.size(); ++i) {
    const EventIndex event = found[i].event, end = tree.subtree_end(event);
    if (event < counted_until) continue;
    const bool calls_product = i + 1 < found.size() && found[i + 1].event < end;
    if (calls_product && is_made_of_products(recording.names[recording.events.name[event]])) continue;
    counted_.push_back(found[i]);
    counted_until = end;
  }
}

std::int64_t OpFlops::of(EventIndex event) const {
  const auto found = std::ranges::lower_bound(counted_, event, {}, &Counted::event);
  return found != counted_.end() && found->event == event ? found->flops : 0;
}

}  // namespace mindtorch::analyze
