// The memory timeline as an HTML page: stacked areas by category in SVG, legend with peaks, the overall peak and the steps marked.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "mindtorch/export/html/memory_timeline_writer.h"

namespace mindtorch::exporter {
namespace {

using analyze::MemoryTimeline;

constexpr std::size_t kCategories = trace::kMemoryCategories;
constexpr std::size_t kColumns = 1200;  // what a screen can show; more moments than that are thinned out, the highest of each column stays
constexpr double kPlotWidth = 1000, kPlotHeight = 420, kLeftMargin = 80, kRightMargin = 40;
constexpr std::int64_t kMostTicks = 10;  // of the axis of time, the one at 0 not counted
constexpr double kLeastBetweenLines = 4, kLeastBetweenNumbers = 60;

constexpr std::array<std::string_view, kCategories> kColours = {"#2f7d4f", "#d39b22", "#3b3b46", "#9673c9",
                                                                "#d6493f", "#2f5fb3", "#5aa7d6", "#9a9a9a"};
constexpr std::array<std::string_view, kCategories> kLabels = {"Parameter",  "Optimizer state", "Input",           "Temporary",
                                                               "Activation", "Gradient",        "Autograd detail", "Unknown"};

// Bytes of each category from a moment on.
struct Column {
  std::int64_t time_us = 0;
  std::array<std::int64_t, kCategories> bytes{};
  std::int64_t total = 0;
};

std::vector<Column> columns_of(const MemoryTimeline& timeline) {
  std::vector<Column> all;
  for (std::size_t i = 0; i < timeline.times_us.size(); ++i) {
    Column column{timeline.times_us[i] - timeline.times_us[0]};
    for (std::size_t c = 0; c < kCategories; ++c) column.total += column.bytes[c] = timeline.sizes[i][c + 1];
    // Several changes in one microsecond: what counts is the last, unless one before was higher.
    if (!all.empty() && all.back().time_us == column.time_us && all.back().total <= column.total) all.pop_back();
    all.push_back(column);
  }
  return all;
}

// At most about two moments for each column of the screen: the highest and the last.
std::vector<Column> thinned(const std::vector<Column>& all) {
  if (all.size() <= 2 * kColumns) return all;
  std::vector<Column> kept;
  const std::int64_t span = std::max<std::int64_t>(1, all.back().time_us);
  for (std::size_t begin = 0; begin < all.size();) {
    const std::int64_t bucket = all[begin].time_us * static_cast<std::int64_t>(kColumns) / (span + 1);
    std::size_t end = begin, highest = begin;
    for (; end < all.size() && all[end].time_us * static_cast<std::int64_t>(kColumns) / (span + 1) == bucket; ++end) {
      if (all[end].total > all[highest].total) highest = end;
    }
    kept.push_back(all[highest]);
    if (highest != end - 1) kept.push_back(all[end - 1]);
    begin = end;
  }
  return kept;
}

std::string bytes_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= std::int64_t{1} << 30) return fmt::format("{:.2f} GiB", value / (1 << 30));
  if (bytes >= std::int64_t{1} << 20) return fmt::format("{:.2f} MiB", value / (1 << 20));
  if (bytes >= std::int64_t{1} << 10) return fmt::format("{:.2f} KiB", value / (1 << 10));
  return fmt::format("{} B", bytes);
}

// A round number of bytes, about a quarter of the peak.
std::int64_t grid_step(std::int64_t peak) {
  std::int64_t step = 1;
  while (step * 4 < peak) step *= 2;
  return step;
}

// The smallest of 1, 2, 5, 10, 20, ... that is not below `least`.
std::int64_t round_step(std::int64_t least) {
  for (std::int64_t power = 1;; power *= 10)
    for (const std::int64_t digit : {1, 2, 5})
      if (digit * power >= least) return digit * power;
}

struct Unit {
  std::int64_t size;
  std::string_view name;
};

// A number of units, without zeros behind the point.
std::string tick_text(std::int64_t value, Unit unit) {
  return fmt::format("{:g} {}", static_cast<double>(value) / static_cast<double>(unit.size), unit.name);
}

Unit time_unit(std::int64_t span_us) {
  if (span_us >= 1'000'000) return {1'000'000, "s"};
  return span_us >= 1000 ? Unit{1000, "ms"} : Unit{1, "us"};
}

Unit bytes_unit(std::int64_t step) {
  if (step >= std::int64_t{1} << 30) return {std::int64_t{1} << 30, "GiB"};
  if (step >= std::int64_t{1} << 20) return {std::int64_t{1} << 20, "MiB"};
  return step >= std::int64_t{1} << 10 ? Unit{std::int64_t{1} << 10, "KiB"} : Unit{1, "B"};
}

class Page {
 public:
  Page(const MemoryTimeline& timeline, std::span<const StepMark> marks)
      : timeline_(timeline), marks_(marks), columns_(thinned(columns_of(timeline))) {
    for (const Column& column : columns_) top_ = std::max(top_, column.total);
    span_us_ = columns_.empty() ? 1 : std::max<std::int64_t>(1, columns_.back().time_us);
  }

  std::string text() {
    const bool cpu = timeline_.device.type == trace::DeviceType::kCpu;
    const std::string device = cpu ? "CPU" : fmt::format("{} {}", trace::device_type_name(timeline_.device.type), timeline_.device.index);
    std::string page = fmt::format(kHead, device, bytes_text(timeline_.peak), timeline_.entries.size());
    page += fmt::format("<svg id=\"picture\" viewBox=\"{} -40 {} {}\" role=\"img\" aria-label=\"Memory by category over time\">\n",
                        -kLeftMargin, kLeftMargin + kPlotWidth + kRightMargin, kPlotHeight + 80);
    append_grid(page);
    for (std::size_t c = 0; c < kCategories; ++c) append_area(page, c);
    append_marks(page);
    append_peak(page);
    page += fmt::format("<line id=\"cursor\" y1=\"0\" y2=\"{}\"/></svg>\n", kPlotHeight);
    append_legend(page);
    append_data(page);
    page += kTail;
    return page;
  }

 private:
  double x(std::int64_t time_us) const { return kPlotWidth * static_cast<double>(time_us) / static_cast<double>(span_us_); }
  double y(std::int64_t bytes) const { return kPlotHeight * (1 - static_cast<double>(bytes) / static_cast<double>(top_)); }

  void append_grid(std::string& page) const {
    const std::int64_t bytes_step = grid_step(top_);
    for (std::int64_t bytes = 0; bytes <= top_; bytes += bytes_step) {
      fmt::format_to(
          std::back_inserter(page),
          "<line class=\"grid\" x1=\"0\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"y\" x=\"-8\" y=\"{:.1f}\">{}</text>\n",
          kPlotWidth, y(bytes), y(bytes), y(bytes) + 4, tick_text(bytes, bytes_unit(bytes_step)));
    }
    const std::int64_t time_step = round_step((span_us_ + kMostTicks - 1) / kMostTicks);
    for (std::int64_t time = 0; time <= span_us_; time += time_step) {
      fmt::format_to(std::back_inserter(page), "<text class=\"x\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", x(time), kPlotHeight + 20,
                     tick_text(time, time_unit(span_us_)));
    }
  }

  // A line where a step begins, if it begins in the picture. Where lines would lie close together, only some have a number, and where they
  // would cover the picture there are only some lines.
  void append_marks(std::string& page) const {
    if (columns_.empty()) return;
    double last_line = -kPlotWidth, last_number = -kPlotWidth;
    for (const StepMark& mark : marks_) {
      const std::int64_t time = mark.unix_us - timeline_.times_us[0];
      if (time < 0 || time > span_us_ || x(time) - last_line < kLeastBetweenLines) continue;
      last_line = x(time);
      fmt::format_to(std::back_inserter(page), "<line class=\"step\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"-16\" y2=\"{1}\"/>", last_line,
                     kPlotHeight);
      if (last_line - last_number >= kLeastBetweenNumbers && last_line + kLeastBetweenNumbers <= kPlotWidth + kRightMargin) {
        last_number = last_line;
        fmt::format_to(std::back_inserter(page), "<text class=\"step\" x=\"{:.1f}\" y=\"-7\">step {}</text>", last_line + 4, mark.number);
      }
      page += '\n';
    }
  }

  // From the sum of the categories below up to that sum with this one, in steps: memory does not grow on a slope.
  void append_area(std::string& page, std::size_t category) const {
    if (timeline_.category_peaks[category] == 0) return;
    std::vector<std::int64_t> lower(columns_.size()), upper(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      for (std::size_t c = 0; c < category; ++c) lower[i] += columns_[i].bytes[c];
      upper[i] = lower[i] + columns_[i].bytes[category];
    }
    std::string path;
    const auto add = [&](double px, std::int64_t bytes) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", px, y(bytes));
    };
    const auto end_of = [&](std::size_t i) { return i + 1 < columns_.size() ? x(columns_[i + 1].time_us) : kPlotWidth; };
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      add(x(columns_[i].time_us), upper[i]);
      add(end_of(i), upper[i]);
    }
    for (std::size_t i = columns_.size(); i-- > 0;) {
      add(end_of(i), lower[i]);
      add(x(columns_[i].time_us), lower[i]);
    }
    fmt::format_to(std::back_inserter(page), "<path fill=\"{}\" d=\"{}Z\"><title>{}</title></path>\n", kColours[category], path,
                   kLabels[category]);
  }

  void append_peak(std::string& page) const {
    if (timeline_.peak_unix_ns < 0 || columns_.empty()) return;
    const double px = std::clamp(x(timeline_.peak_unix_ns / 1000 - timeline_.times_us[0]), 0.0, kPlotWidth);
    fmt::format_to(std::back_inserter(page),
                   "<circle class=\"peak\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\"/><text class=\"peak\" x=\"{2:.1f}\" y=\"{3:.1f}\" "
                   "text-anchor=\"{4}\">peak {5}</text>\n",
                   px, y(timeline_.peak), px > kPlotWidth / 2 ? px - 8 : px + 8, y(timeline_.peak) + 4,
                   px > kPlotWidth / 2 ? "end" : "start", bytes_text(timeline_.peak));
  }

  void append_legend(std::string& page) const {
    page += "<table><thead><tr><th></th><th>Category</th><th>Peak</th><th>At the pointer</th></tr></thead><tbody>\n";
    for (std::size_t c = kCategories; c-- > 0;) {
      if (timeline_.category_peaks[c] == 0) continue;
      fmt::format_to(std::back_inserter(page),
                     "<tr><td><i style=\"background:{}\"></i></td><td>{}</td><td>{}</td><td data-category=\"{}\"></td></tr>\n", kColours[c],
                     kLabels[c], bytes_text(timeline_.category_peaks[c]), c);
    }
    fmt::format_to(std::back_inserter(page),
                   "<tr class=\"all\"><td></td><td>All together</td><td>{}</td><td data-category=\"all\"></td></tr></tbody></table>\n",
                   bytes_text(timeline_.peak));
  }

  void append_data(std::string& page) const {
    page += "<script type=\"application/json\" id=\"data\">{\"span\":" + std::to_string(span_us_) + ",\"rows\":[";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      fmt::format_to(std::back_inserter(page), "{}[{}", i == 0 ? "" : ",", columns_[i].time_us);
      for (const std::int64_t bytes : columns_[i].bytes) fmt::format_to(std::back_inserter(page), ",{}", bytes);
      page += ']';
    }
    page += "]}</script>\n";
  }

  static constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<title>Memory timeline: {0}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1c1c22; --dim: #6b6b76; --line: #d9d9e0; --paper: #fff; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #ececf1; --dim: #a0a0ab; --line: #3a3a44; --paper: #17171b; }} }}
body {{ font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 24px auto; max-width: 1100px; padding: 0 16px; }}
h1 {{ font-size: 20px; margin: 0 0 4px; }}
p {{ color: var(--dim); margin: 0 0 16px; }}
svg {{ width: 100%; height: auto; display: block; }}
svg text {{ font: 11px system-ui, sans-serif; fill: var(--dim); }}
text.y {{ text-anchor: end; }} text.x {{ text-anchor: middle; }}
line.grid {{ stroke: var(--line); }} line.step {{ stroke: var(--ink); stroke-opacity: .5; stroke-dasharray: 2 3; }}
text.peak {{ font-weight: 600; font-size: 12px; fill: var(--ink); }} circle.peak {{ fill: var(--ink); stroke: var(--paper); stroke-width: 1.5; }}
#cursor {{ stroke: var(--ink); stroke-dasharray: 3 3; visibility: hidden; }}
table {{ border-collapse: collapse; margin-top: 12px; }}
th {{ text-align: left; color: var(--dim); font-weight: 500; }}
td, th {{ padding: 3px 18px 3px 0; font-variant-numeric: tabular-nums; }}
td:nth-child(n+3), th:nth-child(n+3) {{ text-align: right; min-width: 90px; }}
tr.all td {{ border-top: 1px solid var(--line); font-weight: 600; }}
i {{ display: inline-block; width: 12px; height: 12px; border-radius: 2px; }}
</style></head><body>
<h1>Memory timeline: {0}</h1>
<p>Peak {1} allocated; {2} changes recorded. Point at the picture for the values at a moment.</p>
)";

  static constexpr std::string_view kTail = R"(<script>
(function () {
  var data = JSON.parse(document.getElementById("data").textContent), rows = data.rows, picture = document.getElementById("picture");
  var cursor = document.getElementById("cursor"), cells = document.querySelectorAll("[data-category]");
  function size(bytes) {
    var units = ["B", "KiB", "MiB", "GiB"], unit = 0;
    while (bytes >= 1024 && unit < 3) { bytes /= 1024; ++unit; }
    return (unit ? bytes.toFixed(2) : bytes) + " " + units[unit];
  }
  picture.addEventListener("mousemove", function (event) {
    var point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    if (!rows.length || point.x < 0 || point.x > 1000) return;
    var time = point.x / 1000 * data.span, low = 0, high = rows.length - 1;
    while (low < high) { var middle = (low + high + 1) >> 1; if (rows[middle][0] <= time) low = middle; else high = middle - 1; }
    var row = rows[low], all = row.slice(1).reduce(function (a, b) { return a + b; }, 0);
    cells.forEach(function (cell) { cell.textContent = size(cell.dataset.category === "all" ? all : row[+cell.dataset.category + 1]); });
    cursor.setAttribute("x1", point.x); cursor.setAttribute("x2", point.x); cursor.style.visibility = "visible";
  });
})();
</script></body></html>
)";

  const MemoryTimeline& timeline_;
  std::span<const StepMark> marks_;
  std::vector<Column> columns_;
  std::int64_t top_ = 1;
  std::int64_t span_us_ = 1;
};

}  // namespace

std::string memory_timeline_page(const MemoryTimeline& timeline, std::span<const StepMark> marks) { return Page(timeline, marks).text(); }

}  // namespace mindtorch::exporter
