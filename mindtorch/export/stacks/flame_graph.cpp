// The flame graph as SVG: one box per node with its full name and share as tooltip, and a small script that zooms.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mindtorch/export/markup.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/stacks/flame_tree.h"
#include "mindtorch/export/stacks/stacks_writer.h"

namespace mindtorch::exporter {
namespace {

constexpr double kWidth = 1200, kMargin = 10, kTop = 46, kBottom = 28, kRow = 17;
constexpr double kNarrowest = 0.2;           // boxes thinner than this are not drawn; the part above them is empty
constexpr std::size_t kMostBoxes = 100'000;  // more than a browser shows smoothly
constexpr double kCharacter = 6.6;           // of the font used
constexpr std::size_t kLongestTitle = 400;

constexpr std::string_view kStyle = R"(<style>
  text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: #1b1b1b; pointer-events: none; }
  .title { font: 600 16px system-ui, sans-serif; }
  .note { font: 12px system-ui, sans-serif; fill: #555; }
  g.frame { cursor: pointer; }
  g.frame rect { stroke: #fff; stroke-width: .6; }
  g.frame:hover rect { stroke: #000; }
</style>
)";

// Boxes carry their place as shares of the whole (data-x, data-w); zooming stretches them.
constexpr std::string_view kScript = R"(<script><![CDATA[
(function () {
  var width = 1180, left = 10, character = 6.6, frames = Array.prototype.slice.call(document.querySelectorAll("g.frame"));
  function place(x0, w0, depth) {
    frames.forEach(function (g) {
      var x = (g.dataset.x - x0) / w0, w = g.dataset.w / w0;
      if (+g.dataset.d < depth) { x = 0; w = 1; }
      var begin = Math.max(0, x), end = Math.min(1, x + w), shown = end - begin > 0.0001;
      g.style.display = shown ? "" : "none";
      if (!shown) return;
      var rect = g.querySelector("rect"), text = g.querySelector("text"), room = Math.floor(((end - begin) * width - 6) / character);
      rect.setAttribute("x", left + begin * width);
      rect.setAttribute("width", (end - begin) * width);
      text.setAttribute("x", left + begin * width + 3);
      var name = g.dataset.n;
      text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 1) + "\u2026";
    });
  }
  frames.forEach(function (g) {
    g.addEventListener("click", function () { place(+g.dataset.x, +g.dataset.w, +g.dataset.d); });
  });
})();
]]></script>
)";

// A warm colour that depends on the name alone, so that a function looks the same in every picture.
std::string colour(std::string_view name) {
  std::uint32_t hash = 2166136261;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return fmt::format("hsl({} {}% {}%)", 8 + hash % 44, 78 + hash / 44 % 18, 62 + hash / 792 % 12);
}

std::string time_text(std::int64_t ns) {
  if (ns >= 1000000000) return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
  if (ns >= 1000000) return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
  return fmt::format("{:.3f} us", static_cast<double>(ns) / 1e3);
}

double box_width(const FlameNode& node, std::int64_t total_ns) {
  return static_cast<double>(node.weight_ns) / static_cast<double>(total_ns) * (kWidth - 2 * kMargin);
}

// The width below which boxes are left out so that at most kMostBoxes stay.
double narrowest_box(const std::vector<FlameNode>& nodes, std::int64_t total_ns) {
  double narrowest = kNarrowest;
  const auto is_drawn = [&](const FlameNode& node) { return box_width(node, total_ns) >= narrowest; };
  while (static_cast<std::size_t>(std::ranges::count_if(nodes, is_drawn)) > kMostBoxes) narrowest *= 2;
  return narrowest;
}

std::string box(const FlameNode& node, const std::string& full_name, std::int64_t total_ns, double height) {
  const double x = static_cast<double>(node.start_ns) / static_cast<double>(total_ns);
  const double share = static_cast<double>(node.weight_ns) / static_cast<double>(total_ns);
  const double width = box_width(node, total_ns);
  const double y = height - kBottom - kRow * (node.depth + 1);
  const std::string name = markup_escaped(shortened(full_name, kLongestTitle));
  const double room = (width - 6) / kCharacter;
  const std::string label = room < 3 ? "" : markup_escaped(shortened(full_name, static_cast<std::size_t>(room)));
  return fmt::format(
      "<g class=\"frame\" data-x=\"{:.7f}\" data-w=\"{:.7f}\" data-d=\"{}\" data-n=\"{}\"><title>{} ({}, {:.2f}%)</title>"
      "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\"/>"
      "<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text></g>\n",
      x, share, node.depth, name, name, time_text(node.weight_ns), 100 * share, kMargin + x * (kWidth - 2 * kMargin), y, width, kRow - 1,
      colour(full_name), kMargin + x * (kWidth - 2 * kMargin) + 3, y + 12, label);
}

std::string opening(double height, std::string_view metric, std::int64_t total_ns) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n{2}"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fffdf8\"/>\n"
      "<text class=\"title\" x=\"{3}\" y=\"26\">Flame graph</text>\n"
      "<text class=\"note\" x=\"{4}\" y=\"26\" text-anchor=\"end\">{5}, total {6}</text>\n",
      kWidth, height, kStyle, kMargin, kWidth - kMargin, markup_escaped(metric), time_text(total_ns));
}

// What the picture does not show, for the line below its title.
std::string omissions(const CallPaths& paths, std::size_t narrow, double narrowest) {
  std::string text;
  if (paths.cut_depth() > 0)
    text += fmt::format("{} paths of {} frames or more are drawn as \"{}\". ", paths.cut_paths(), paths.cut_depth(), CallPaths::kDeeper);
  if (narrow > 0) text += fmt::format("{} boxes narrower than {:.1f} px are not drawn.", narrow, narrowest);
  return markup_escaped(text);
}

std::string note(double y, std::string_view text) {
  return fmt::format("<text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y, text);
}

}  // namespace

void write_flame_graph(const analyze::Analysis& analysis, const std::string& path, std::string_view metric) {
  const CallPaths paths = call_paths(analysis, metric);
  const std::vector<FlameNode> nodes = flame_tree(paths);
  const std::int64_t total = std::max<std::int64_t>(1, nodes[0].weight_ns);
  const double narrowest = narrowest_box(nodes, total);
  const std::uint32_t depth = std::ranges::max(nodes, {}, &FlameNode::depth).depth;
  const double height = kTop + kBottom + kRow * (depth + 1);
  Output out(path);
  out.append(opening(height, metric, nodes[0].weight_ns));
  std::size_t narrow = 0;
  for (const FlameNode& node : nodes) {
    if (box_width(node, total) >= narrowest) {
      out.append(box(node, paths.text(node.frame), total, height));
    } else {
      ++narrow;
    }
  }
  out.append(note(kTop - 4, omissions(paths, narrow, narrowest)));
  out.append(note(height - 9, "Width is time. Point at a box for its name, click it to zoom, click \"all\" to go back."));
  out.append(kScript);
  out.append("</svg>\n");
  out.commit();
}

}  // namespace mindtorch::exporter
