// The page about a job.
#include "mindtorch/export/report/job_writer.h"

#include "mindtorch/export/report/job_json.h"
#include "mindtorch/export/report/page_writer.h"

namespace mindtorch::exporter {

void write_job_report(const analyze::Job& job, const std::string& path, const std::string& title) {
  write_page(path, title, job_page_json(job, title), {"format.js", "charts.js", "tables.js", "frame.js", "job_charts.js", "job.js"});
}

}  // namespace mindtorch::exporter
