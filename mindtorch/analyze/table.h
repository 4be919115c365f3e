// The table of averages or events: torch's text for the same data, byte for byte, and one more line with the number of events that were
// counted and lost.
//
// Differs from torch where torch is wrong: with both FLOPs and stacks the cells stand under their own headers; the device share of an
// annotation (whose span is not work) is "--"; no share exceeds 100 %.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/average.h"
#include "mindtorch/analyze/launch_links.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

struct TableOptions {
  std::string sort_by;                                    // a name field() knows, descending; empty: the order of the rows
  std::int64_t row_limit = 100;                           // negative: all
  std::optional<std::int64_t> max_src_column_width = 75;  // unset: no limit
  std::optional<std::int64_t> max_name_column_width = 55;
  std::optional<std::int64_t> max_shapes_column_width = 80;
  std::optional<std::string> header;
  bool top_level_events_only = false;
  std::string time_unit;  // "s", "ms", "us"; anything else: each value chooses
};

// Data of a table that is not in its rows.
struct TableContext {
  bool profile_memory = false;
  bool with_flops = false;
  std::vector<trace::Loss> losses;
  LaunchCounts launches;
};
MINDTORCH_EXPORT TableContext table_context(const trace::Recording& recording);

// Rows that are made one at a time, so that a table of a million events need not hold them in memory.
struct TableRows {
  std::size_t size = 0;
  std::function<Average(std::size_t)> row;
  std::string_view noun = "keys";                   // what the last line calls them
  std::string_view type_name = "FunctionEventAvg";  // what an unknown sort_by is missing from
};

// Throws NoSuchAttribute for an unknown sort_by, InvalidArgument for a negative width, Error if rows have device time but no device. Empty
// for no rows and no losses.
MINDTORCH_EXPORT std::string table(const TableRows& rows, const TableContext& context, const TableOptions& options = {});
MINDTORCH_EXPORT std::string table(const std::vector<Average>& rows, const TableContext& context, const TableOptions& options = {});

// The last line: "Total keys: 12  Count: 345 calls  Lost: 7 events (budget 5, device_dropped 2)". What is there but not whole (unfinished
// events, lost stacks) is named after it. Where a device worked, the line also says how many launches and device records there are.
MINDTORCH_EXPORT std::string totals_line(std::string_view noun, std::size_t rows, std::int64_t calls, const TableContext& context);

}  // namespace mindtorch::analyze
