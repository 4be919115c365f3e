// A page with its data. The page itself is in the files of the folder page/, which the build embeds.
#include "mindtorch/export/report/page_writer.h"

#include "mindtorch/export/markup.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/report/page_text.h"

namespace mindtorch::exporter {

void write_page(const std::string& path, std::string_view title, std::string_view data, std::initializer_list<std::string_view> scripts) {
  Output out(path);
  // The markers of report.html are replaced in the order in which they stand there.
  std::string_view rest = page_text("report.html");
  const auto copy_until = [&](std::string_view marker) {
    const std::size_t at = rest.find(marker);
    out.append(rest.substr(0, at));
    rest.remove_prefix(at + marker.size());
  };
  copy_until("{{title}}");
  out.append(markup_escaped(title));
  copy_until("/*{{style}}*/");
  out.append(page_text("report.css"));
  copy_until("{{data}}");
  out.append(data);
  copy_until("/*{{script}}*/");
  for (const std::string_view file : scripts) out.append(page_text(file));
  out.append(rest);
  out.commit();
}

}  // namespace mindtorch::exporter
