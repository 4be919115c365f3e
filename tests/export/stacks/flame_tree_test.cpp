// Where call paths lie in a flame graph.
#include "mindtorch/export/stacks/flame_tree.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mindtorch::exporter {
namespace {

using testing::ElementsAre;

void add(CallPaths& paths, const std::vector<std::string>& frames, std::int64_t weight_ns) {
  CallPaths::Id at = CallPaths::kRoot;
  for (const std::string& frame : frames) at = paths.child(at, paths.frame(frame));
  paths.add(at, weight_ns);
}

std::vector<std::string> texts(const CallPaths& paths) {
  std::vector<std::string> lines;
  for (const FlameNode& node : flame_tree(paths)) {
    lines.push_back(std::string(node.depth, ' ') + paths.text(node.frame) + " " + std::to_string(node.start_ns) + "+" +
                    std::to_string(node.weight_ns));
  }
  return lines;
}

TEST(FlameTree, NodesNestAndLieSideBySide) {
  CallPaths paths;
  add(paths, {"c"}, 2);
  add(paths, {"a", "d"}, 4);
  add(paths, {"a", "b"}, 5);
  add(paths, {"a"}, 3);
  EXPECT_THAT(texts(paths), ElementsAre("all 0+14", " a 0+12", "  b 3+5", "  d 8+4", " c 12+2"));
}

TEST(FlameTree, PathsThatTookNoTimeAreLeftOut) {
  CallPaths paths;
  add(paths, {"a", "nothing"}, 0);
  add(paths, {"a", "something"}, 1);
  EXPECT_THAT(texts(paths), ElementsAre("all 0+1", " a 0+1", "  something 0+1"));
  EXPECT_THAT(texts(CallPaths()), ElementsAre("all 0+0"));
}

TEST(FlameTree, DeepRecursionIsNoProblem) {
  CallPaths paths;
  add(paths, std::vector<std::string>(20000, "f"), 1);
  EXPECT_EQ(flame_tree(paths).size(), 20001U);
}

}  // namespace
}  // namespace mindtorch::exporter
