// OpFlops: formulas are looked up once per name and applied to each recorded call.
#include "mindtorch/analyze/op_flops.h"

namespace mindtorch::analyze {

OpFlops::OpFlops(const trace::Recording& recording) : recording_(&recording) {
  if (!enabled()) return;
  formula_of_name_.reserve(recording.names.size());
  for (const std::string& name : recording.names) formula_of_name_.push_back(flop_formula(name));
}

std::int64_t OpFlops::count(EventIndex event, std::span<const std::int64_t> words, std::vector<Argument>& arguments) const {
  const FlopFormula formula = formula_of_name_[recording_->events.name[event]];
  if (formula == nullptr || recording_->events.kind[event] != trace::EventKind::kOp) return 0;
  read_arguments(words, arguments);
  return formula(arguments);
}

std::int64_t OpFlops::of(EventIndex event) const {
  if (!enabled()) return 0;
  std::vector<Argument> arguments;
  return count(event, recording_->inputs.find(event), arguments);
}

std::vector<OpFlops::Counted> OpFlops::all() const {
  std::vector<Counted> found;
  if (!enabled()) return found;
  std::vector<Argument> arguments;
  const trace::SideTable<std::int64_t>& inputs = recording_->inputs;
  for (std::size_t row = 0; row < inputs.events.size(); ++row) {
    const std::span<const std::int64_t> words(inputs.values.data() + inputs.offsets[row], inputs.values.data() + inputs.offsets[row + 1]);
    if (const std::int64_t flops = count(inputs.events[row], words, arguments); flops > 0) found.push_back({inputs.events[row], flops});
  }
  return found;
}

}  // namespace mindtorch::analyze
