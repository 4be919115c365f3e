// The last line of a table: what was counted, what was lost.
#include <fmt/core.h>

#include <array>

#include "mindtorch/analyze/table.h"

namespace mindtorch::analyze {

std::string totals_line(std::string_view noun, std::size_t rows, std::int64_t calls, const TableContext& context) {
  std::array<std::uint64_t, trace::kLossReasons> counts{};
  for (const trace::Loss& loss : context.losses) counts[static_cast<std::size_t>(loss.reason)] += loss.count;
  std::uint64_t lost = 0;
  std::string reasons, partial;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto reason = static_cast<trace::LossReason>(i);
    const bool is_there =
        reason == trace::LossReason::kUnfinished || reason == trace::LossReason::kSideData || reason == trace::LossReason::kNoLaunch;
    std::string& list = is_there ? partial : reasons;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", trace::loss_reason_name(reason), counts[i]);
    if (!is_there) lost += counts[i];
  }
  std::string text = fmt::format("Total {}: {}  Count: {} calls  Lost: {} events", noun, rows, calls, lost);
  if (context.launches.launches > 0 || context.launches.records > 0)
    text = fmt::format("Total {}: {}  Count: {} calls  Launches: {}  Device records: {}  Lost: {} events", noun, rows, calls,
                       context.launches.launches, context.launches.records, lost);
  if (!reasons.empty()) text += fmt::format(" ({})", reasons);
  if (!partial.empty()) text += fmt::format("  Incomplete: {}", partial);
  return text;
}

}  // namespace mindtorch::analyze
