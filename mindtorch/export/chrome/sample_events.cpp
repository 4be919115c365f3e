// A profile is a tree of calls; an event brings those of its samples that are new.
#include "mindtorch/export/chrome/sample_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/base/text.h"
#include "mindtorch/export/looks.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::exporter::chrome {
namespace {

constexpr std::size_t kLooksInChunk = 1000;
constexpr std::uint32_t kRoot = 1;

// The calls of one thread.
class CallTree {
 public:
  explicit CallTree(const trace::Recording& recording) : recording_(recording) {
    nodes_ = R"j({"id":1,"callFrame":{"functionName":"(root)","scriptId":0}})j";
  }

  std::uint32_t node_of(const Look& look) {
    std::uint32_t node = kRoot;
    const std::span<const std::uint32_t> frames = recording_.stacks.frames_of(look.stack);
    for (std::size_t k = frames.size(); k-- > 0;) {
      node = child(node, frames[k], [&] {
        const trace::Frame& frame = recording_.stacks.frames[frames[k]];
        return fmt::format(R"("functionName":{},"scriptId":0,"url":{},"lineNumber":{})", json_quoted(recording_.names[frame.function]),
                           json_quoted(recording_.names[frame.file]), frame.line - 1);  // from 0
      });
    }
    const std::string_view state = state_frame(look.state);
    if (state.empty()) return node;
    constexpr std::uint64_t kStates = std::uint64_t{1} << 32;  // no frame has such a number
    return child(node, kStates + static_cast<std::uint64_t>(look.state),
                 [&] { return fmt::format(R"("functionName":{},"scriptId":0)", json_quoted(state)); });
  }

  // The nodes that are new since the last call, as JSON.
  std::string take_nodes() { return std::exchange(nodes_, {}); }

 private:
  template <class CallFrame>
  std::uint32_t child(std::uint32_t parent, std::uint64_t frame, CallFrame call_frame) {
    const auto [at, is_new] = ids_.try_emplace({parent, frame}, static_cast<std::uint32_t>(ids_.size()) + kRoot + 1);
    if (is_new)
      fmt::format_to(std::back_inserter(nodes_), R"({}{{"id":{},"parent":{},"callFrame":{{{}}}}})", nodes_.empty() ? "" : ",", at->second,
                     parent, call_frame());
    return at->second;
  }

  const trace::Recording& recording_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> ids_;
  std::string nodes_;
};

std::int64_t micros(std::int64_t ns) { return ns / 1000; }

void append_profile(std::span<const Look> looks, const std::string& place, CallTree tree, std::int64_t offset_ns, Output& out) {
  namespace format = trace::chrome_format;
  const std::int64_t start = micros(looks.front().time_ns + offset_ns);
  const auto begin = [&](std::string_view name, std::int64_t time) {
    return fmt::format(R"({{"ph":"P","cat":"{}","name":"{}",{},"ts":{},"args":{{"data":{{)", format::kProfileCategory, name, place, time);
  };
  out.append(fmt::format("{}\"startTime\":{}}}}}}},\n", begin(format::kProfileStart, start), start));
  std::int64_t before = start;
  for (std::size_t first = 0; first < looks.size(); first += kLooksInChunk) {
    std::string nodes, deltas;
    const std::int64_t chunk_start = micros(looks[first].time_ns + offset_ns);
    for (const Look& look : looks.subspan(first, std::min(kLooksInChunk, looks.size() - first))) {
      const std::int64_t now = micros(look.time_ns + offset_ns);
      const std::string_view comma = nodes.empty() ? "" : ",";
      fmt::format_to(std::back_inserter(nodes), "{}{}", comma, tree.node_of(look));
      fmt::format_to(std::back_inserter(deltas), "{}{}", comma, now - std::exchange(before, now));
    }
    out.append(fmt::format(R"({}"cpuProfile":{{"nodes":[{}],"samples":[{}]}},"timeDeltas":[{}]}}}}}},)"
                           "\n",
                           begin(format::kProfilePart, chunk_start), tree.take_nodes(), nodes, deltas));
  }
}

}  // namespace

void append_samples(const trace::Recording& recording, const Layout& layout, std::int64_t offset_ns, Output& out) {
  if (recording.samples.size() == 0) return;
  const std::vector<std::vector<Look>> looks = looks_of(recording);
  for (trace::TrackId track = 0; track < looks.size(); ++track) {
    if (looks[track].empty()) continue;
    const Row& row = layout.rows[track];
    const std::string place = fmt::format(R"("id":"0x{:x}","pid":{},"tid":{})", track + 1, layout.processes[row.process].pid, row.tid);
    append_profile(looks[track], place, CallTree(recording), offset_ns, out);
  }
}

}  // namespace mindtorch::exporter::chrome
