// Gathers time by call path, from the stacks that ops ran in or from the nesting of events.
#include "mindtorch/export/stacks/call_paths.h"

#include <algorithm>
#include <utility>

#include "mindtorch/analyze/frame_labels.h"
#include "mindtorch/analyze/stack_leaves.h"
#include "mindtorch/analyze/stacks.h"
#include "mindtorch/export/layout.h"
#include "mindtorch/export/row_walk.h"

namespace mindtorch::exporter {
namespace {

using trace::EventIndex;

CallPaths paths_of_stacks(const analyze::Analysis& analysis, bool on_device) {
  CallPaths paths;
  const analyze::LeafPaths texts(analysis);
  for (const analyze::StackLeaf& leaf : analyze::stack_leaves(analysis)) {
    const std::int64_t ns = on_device ? leaf.self_device_ns : leaf.self_ns;
    if (ns <= 0) continue;
    CallPaths::Id path = CallPaths::kRoot;
    for (const std::string_view text : texts.of(leaf)) path = paths.child(path, paths.frame(text));
    paths.add(path, ns);
  }
  return paths;
}

// The nesting of events on threads, Python frames included. Steps count as one name.
CallPaths paths_of_nesting(const analyze::Analysis& analysis, bool on_device) {
  const trace::Recording& recording = analysis.recording();
  const analyze::EventNames& names = analysis.names();
  const Layout layout = make_layout(recording);
  CallPaths paths;
  constexpr CallPaths::Frame kUnknown = 0xFFFFFFFF;
  std::vector<CallPaths::Frame> frame_of_key(recording.names.size(), kUnknown);
  struct Open {
    CallPaths::Id path;
    std::int64_t children_ns;
  };
  std::vector<Open> open{{CallPaths::kRoot, 0}};
  const auto begin = [&](EventIndex i) {
    const analyze::EventNames::Key key = names.key(recording.events.name[i]);
    CallPaths::Id path = open.back().path;
    if (key != analyze::EventNames::kHidden) {  // a call that lists leave out is left out here too
      if (frame_of_key[key] == kUnknown) frame_of_key[key] = paths.frame(analyze::call_label(names.text(key)));
      path = paths.child(path, frame_of_key[key]);
    }
    open.push_back({path, 0});
  };
  const auto end = [&](EventIndex i) {
    const Open closed = open.back();
    open.pop_back();
    const std::int64_t duration = recording.events.duration_ns[i];
    open.back().children_ns += duration;
    paths.add(closed.path, on_device ? analysis.launches().self_ns(i) : duration - closed.children_ns);
  };
  // Without the extra lanes: an event that overlaps others in part is not a call, and its time is theirs already.
  for (std::uint32_t track = 0; track < recording.tracks.size(); ++track) {
    if (recording.tracks[track].kind == trace::Track::Kind::kThread) walk_row(recording, layout, track, begin, end, [](EventIndex) {});
  }
  return paths;
}

}  // namespace

CallPaths::CallPaths() : paths_{{kRoot, 0, 0, 0}}, texts_{"all"} {}

CallPaths::Frame CallPaths::frame(std::string_view text) {
  const auto [at, is_new] = frames_.try_emplace(std::string(text), static_cast<Frame>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return at->second;
}

CallPaths::Id CallPaths::child(Id above, Frame frame) {
  const auto [at, is_new] = ids_.try_emplace(std::uint64_t{above} << 32 | frame, static_cast<Id>(paths_.size()));
  if (is_new) paths_.push_back({above, frame, paths_[above].depth + 1, 0});
  return at->second;
}

std::size_t CallPaths::bytes_written_out(std::uint32_t depth) const {
  std::size_t sum = 0;
  std::vector<std::size_t> bytes(paths_.size(), 0);
  for (Id id = 1; id < paths_.size(); ++id) {
    const Path& path = paths_[id];
    if (path.depth > depth) continue;
    bytes[id] = bytes[path.above] + texts_[path.frame].size() + 1;
    if (path.weight_ns > 0) sum += bytes[id];
  }
  return sum;
}

void CallPaths::cut_at(std::uint32_t depth) {
  cut_depth_ = depth;
  CallPaths kept;
  const Frame deeper = kept.frame(kDeeper);
  std::vector<Id> now(paths_.size(), kRoot);  // where the time of each path goes
  for (Id id = 1; id < paths_.size(); ++id) {
    const Path& path = paths_[id];
    if (path.depth < depth) {
      now[id] = kept.child(now[path.above], kept.frame(texts_[path.frame]));
    } else {
      now[id] = path.depth == depth ? kept.child(now[path.above], deeper) : now[path.above];
      ++cut_paths_;
    }
    kept.add(now[id], path.weight_ns);
  }
  kept.cut_depth_ = cut_depth_;
  kept.cut_paths_ = cut_paths_;
  *this = std::move(kept);
}

void CallPaths::bound() {
  std::uint32_t limit = kMostDepth;
  while (limit > kLeastDepth && bytes_written_out(limit) > kMostBytes) limit = std::max(limit / 2, kLeastDepth);
  const bool is_deeper = std::ranges::any_of(paths_, [&](const Path& path) { return path.depth > limit; });
  if (is_deeper) cut_at(limit);
}

CallPaths call_paths(const analyze::Analysis& analysis, std::string_view metric) {
  const bool on_device = analyze::is_device_metric(metric);
  CallPaths paths = paths_of_stacks(analysis, on_device);
  if (paths.paths().size() == 1) paths = paths_of_nesting(analysis, on_device);
  paths.bound();
  return paths;
}

}  // namespace mindtorch::exporter
