// Finds the arrow of an event.
#include "python/src/profiler/event_flows.h"

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/export/flows.h"
#include "python/src/gil.h"

namespace mindtorch::python {
namespace {

using Ends = std::unordered_map<analyze::EventIndex, FlowEnd>;

void add(Ends& ends, const std::vector<exporter::Flow>& flows, int type) {
  for (const exporter::Flow& flow : flows) {
    ends[flow.from] = {flow.id, type, true};
    ends[flow.to] = {flow.id, type, false};
  }
}

Ends find_ends(const analyze::Analysis& analysis) {
  Ends ends;
  add(ends, exporter::forward_backward_flows(analysis.recording()), 1);
  add(ends, exporter::launch_flows(analysis), 2);
  return ends;
}

struct Answers {
  std::weak_ptr<const analyze::Analysis> analysis;
  Ends ends;
};

const Ends& ends_of(const std::shared_ptr<const analyze::Analysis>& analysis) {
  static auto& last = *new Answers();
  if (last.analysis.lock() == analysis) return last.ends;
  Answers found{analysis, {}};
  {
    const ReleasedGil unlocked;
    found.ends = find_ends(*analysis);
  }
  last = std::move(found);
  return last.ends;
}

}  // namespace

FlowEnd flow_of(const EventHandle& handle) {
  const Ends& ends = ends_of(handle.analysis);
  const auto at = ends.find(handle.event.index());
  return at == ends.end() ? FlowEnd{} : at->second;
}

}  // namespace mindtorch::python
