// The page with its data. The page itself is in the files of the folder page/, which the build embeds.
#include "mindtorch/export/report/report_writer.h"

#include <filesystem>
#include <string_view>

#include "mindtorch/export/markup.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/report/page_text.h"
#include "mindtorch/export/report/report_json.h"

namespace mindtorch::exporter {

void write_report(const analyze::Analysis& analysis, const analyze::Report& report, const std::string& path, const std::string& title,
                  const Comparison* comparison) {
  const std::string shown = title.empty() ? std::filesystem::path(path).filename().string() : title;
  Output out(path);
  // The markers of report.html are replaced in the order in which they stand there.
  std::string_view rest = page_text("report.html");
  const auto copy_until = [&](std::string_view marker) {
    const std::size_t at = rest.find(marker);
    out.append(rest.substr(0, at));
    rest.remove_prefix(at + marker.size());
  };
  copy_until("{{title}}");
  out.append(markup_escaped(shown));
  copy_until("/*{{style}}*/");
  out.append(page_text("report.css"));
  copy_until("{{data}}");
  out.append(report_json(analysis, report, shown, comparison));
  copy_until("/*{{script}}*/");
  for (const std::string_view file :
       {"format.js", "charts.js", "tables.js", "details.js", "flame.js", "timeline_drawing.js", "timeline.js", "compared.js", "report.js"})
    out.append(page_text(file));
  out.append(rest);
  out.commit();
}

}  // namespace mindtorch::exporter
