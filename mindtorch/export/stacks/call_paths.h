// Time by call path: the tree behind flame graphs and collapsed stacks, with one node per distinct path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/analyze/analysis.h"

namespace mindtorch::exporter {

class CallPaths {
 public:
  using Id = std::uint32_t;
  using Frame = std::uint32_t;  // a distinct name
  static constexpr Id kRoot = 0;

  struct Path {
    Id above;  // smaller than the path's own id
    Frame frame;
    std::uint32_t depth;     // 1: outermost; 0: the root, which is not a call
    std::int64_t weight_ns;  // at the end of the path, without what lies below it
  };

  CallPaths();

  Frame frame(std::string_view text);
  Id child(Id above, Frame frame);
  void add(Id path, std::int64_t weight_ns) { paths_[path].weight_ns += weight_ns; }

  const std::vector<Path>& paths() const { return paths_; }
  Frame frame_count() const { return static_cast<Frame>(texts_.size()); }
  const std::string& text(Frame frame) const { return texts_[frame]; }

  // Text with each path written out grows with the square of the depth. This gathers the time of frames below a depth in one frame
  // kDeeper, such that the paths written out take at most kMostBytes, or are at most kLeastDepth deep, and never deeper than kMostDepth.
  void bound();
  // The depth that bound() cut at, 0 if nothing was cut; and how many paths were gathered.
  std::uint32_t cut_depth() const { return cut_depth_; }
  std::size_t cut_paths() const { return cut_paths_; }

  static constexpr std::string_view kDeeper = "[deeper frames]";
  static constexpr std::uint32_t kMostDepth = 1000, kLeastDepth = 32;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

 private:
  std::size_t bytes_written_out(std::uint32_t depth) const;
  void cut_at(std::uint32_t depth);

  std::vector<Path> paths_;
  std::unordered_map<std::uint64_t, Id> ids_;  // by (above, frame)
  std::vector<std::string> texts_;
  std::unordered_map<std::string, Frame> frames_;
  std::uint32_t cut_depth_ = 0;
  std::size_t cut_paths_ = 0;
};

// The Python functions that ops ran in, with the op as the last frame (analyze/stack_leaves.h). Without recorded stacks, the nesting of
// events on each thread, which is a call stack too. Bounded. Weights are the metric. Throws InvalidArgument unless
// analyze::supported_stack_metrics() lists it.
CallPaths call_paths(const analyze::Analysis& analysis, std::string_view metric);

}  // namespace mindtorch::exporter
