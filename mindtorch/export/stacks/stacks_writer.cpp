// Collapsed stacks as text.
#include "mindtorch/export/stacks/stacks_writer.h"

#include "mindtorch/analyze/stacks.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/stacks/flame_tree.h"

namespace mindtorch::exporter {

void write_collapsed_stacks(const analyze::Analysis& analysis, const std::string& path, std::string_view metric) {
  write_output(path, analyze::collapsed_text(flame_stacks(analysis, metric)));
}

}  // namespace mindtorch::exporter
