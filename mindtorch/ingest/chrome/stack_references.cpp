// References are replaced, and the frames that stood for them removed.
#include "mindtorch/ingest/chrome/stack_references.h"

#include <algorithm>
#include <unordered_map>

#include "mindtorch/trace/interning.h"

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::int64_t kNotAReference = -1;

// The id that a stack refers to.
std::int64_t reference_of(const trace::Stacks& stacks, trace::StackId stack) {
  const auto frames = stacks.frames_of(stack);
  if (frames.size() != 1) return kNotAReference;
  const trace::Frame& frame = stacks.frames[frames[0]];
  return frame.file == 0 && frame.function == 0 && frame.line < 0 ? -1 - std::int64_t{frame.line} : kNotAReference;
}

}  // namespace

void resolve_stack_references(const std::vector<std::pair<std::int64_t, trace::StackId>>& stack_of_id, trace::Stacks& stacks) {
  std::vector<std::int64_t> references(stacks.size());
  for (trace::StackId s = 0; s < stacks.size(); ++s) references[s] = reference_of(stacks, s);
  if (std::ranges::count(references, kNotAReference) == std::ssize(references)) return;

  trace::Stacks real;
  trace::StackInterner interner;
  std::vector<trace::StackId> new_ids(stacks.size());
  std::vector<trace::Frame> frames;
  for (trace::StackId s = 0; s < stacks.size(); ++s) {
    if (references[s] != kNotAReference) continue;
    frames.clear();
    for (const std::uint32_t frame : stacks.frames_of(s)) frames.push_back(stacks.frames[frame]);
    new_ids[s] = interner.intern(real, frames);
  }
  const std::unordered_map<std::int64_t, trace::StackId> known(stack_of_id.begin(), stack_of_id.end());
  for (std::size_t row = 0; row < stacks.of_event.events.size(); ++row) {
    trace::StackId stack = stacks.of_event.values[row];
    if (references[stack] != kNotAReference) {
      const auto found = known.find(references[stack]);
      if (found == known.end() || references[found->second] != kNotAReference) continue;
      stack = found->second;
    }
    real.of_event.add(stacks.of_event.events[row], {&new_ids[stack], 1});
  }
  stacks = std::move(real);
}

}  // namespace mindtorch::ingest::chrome
