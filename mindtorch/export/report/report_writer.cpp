// The report of a recording as a page.
#include "mindtorch/export/report/report_writer.h"

#include <filesystem>

#include "mindtorch/export/report/page_writer.h"
#include "mindtorch/export/report/report_json.h"

namespace mindtorch::exporter {

void write_report(const analyze::Analysis& analysis, const analyze::Report& report, const std::string& path, const std::string& title,
                  const Comparison* comparison) {
  const std::string shown = title.empty() ? std::filesystem::path(path).filename().string() : title;
  write_page(path, shown, report_json(analysis, report, shown, comparison),
             {"format.js", "charts.js", "tables.js", "details.js", "flame.js", "timeline_drawing.js", "timeline.js", "compared.js",
              "frame.js", "causes.js", "efficiency.js", "report.js"});
}

}  // namespace mindtorch::exporter
