// The table: a look at all rows for the columns and sums, then the rows that are shown.
#include "mindtorch/analyze/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "mindtorch/analyze/table_survey.h"
#include "mindtorch/analyze/text_width.h"
#include "mindtorch/analyze/units.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

constexpr std::size_t kNumberWidth = 12;
constexpr std::string_view kSpacing = "  ";

class TableText {
 public:
  TableText(const TableRows& rows, const TableContext& context, const TableOptions& options)
      : rows_(rows), context_(context), options_(options) {}

  std::string write() {
    look_at_all();
    define_columns();
    write_head();
    write_rows();
    write_foot();
    return std::move(out_);
  }

 private:
  struct Column {
    std::string header;
    std::size_t width;
    bool left = false;
  };

  void look_at_all() {
    std::vector<Field> sort_keys;
    for (std::size_t i = 0; i < rows_.size; ++i) {
      const Average row = rows_.row(i);
      survey_.add(row);
      if (i == 0) use_device_ = row.use_device;
      if (!options_.sort_by.empty()) sort_keys.push_back(field(row, options_.sort_by, rows_.type_name));
    }
    order_.resize(rows_.size);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!sort_keys.empty()) std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) { return sort_keys[a] > sort_keys[b]; });
    if (use_device_.empty() && survey_.has_device_time) throw Error("use_device is None, but there is device performance data.");
    std::ranges::transform(use_device_, std::back_inserter(device_),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    with_flops_ = context_.with_flops && survey_.smallest_flops > 0;
    with_device_memory_ = context_.profile_memory && !use_device_.empty() && survey_.has_device_memory;
  }

  void number_column(std::string header) { columns_.push_back({std::move(header), kNumberWidth}); }

  void define_columns() {
    const std::size_t name_width = column_width(survey_.longest_key, options_.max_name_column_width);
    columns_.push_back({"Name", name_width});
    if (survey_.has_overloads) columns_.push_back({"Overload Name", name_width});
    for (const char* header : {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"}) number_column(header);
    if (survey_.has_device_time) {
      for (const char* header : {"Self {}", "Self {} %", "{} total", "{} time avg"})
        number_column(fmt::format(fmt::runtime(header), device_));
    }
    if (context_.profile_memory) {
      number_column("CPU Mem");
      number_column("Self CPU Mem");
    }
    if (with_device_memory_) {
      number_column(device_ + " Mem");
      number_column("Self " + device_ + " Mem");
    }
    number_column("# of Calls");
    if (survey_.has_nodes) number_column("Node ID");
    shapes_width_ = column_width(survey_.longest_shapes, options_.max_shapes_column_width);
    if (survey_.has_shapes) columns_.push_back({"Input Shapes", shapes_width_});
    if (survey_.has_stacks) {
      source_width_ = column_width(survey_.longest_frame, options_.max_src_column_width);
      source_column_ = columns_.size();
      columns_.push_back({"Source Location", source_width_, true});
    }
    if (with_flops_) {
      flop_unit_ = flop_unit(survey_.smallest_flops);
      number_column(fmt::format("Total {}", flop_unit_.name));
    }
  }

  void line(std::string_view text) { out_.append(text).push_back('\n'); }

  void cells(const std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t length = text_length(texts[i]);
      const std::size_t padding = length < columns_[i].width ? columns_[i].width - length : 0;
      if (!columns_[i].left) out_.append(padding, ' ');
      out_.append(texts[i]);
      if (columns_[i].left) out_.append(padding, ' ');
      out_.append(kSpacing);
    }
    out_.push_back('\n');
  }

  void rule() {
    for (const Column& column : columns_) out_.append(column.width, '-').append(kSpacing);
    out_.push_back('\n');
  }

  void write_head() {
    std::size_t length = 0;
    for (const Column& column : columns_) length += column.width + kSpacing.size();
    const std::string double_rule(length - kSpacing.size(), '=');
    if (options_.header) {
      line(double_rule);
      line(*options_.header);
    }
    if (options_.top_level_events_only) {
      line(double_rule);
      line("This report only display top-level ops statistics");
    }
    rule();
    std::vector<std::string> headers;
    for (const Column& column : columns_) headers.push_back(column.header);
    cells(headers);
    rule();
  }

  void write_rows() {
    std::int64_t shown = 0;
    for (const std::size_t i : order_) {
      if (shown == options_.row_limit) break;
      const Average row = rows_.row(i);
      if (options_.top_level_events_only && row.parent != kNoEvent) continue;
      ++shown;
      cells(cells_of(row));
      if (survey_.has_stacks) write_outer_frames(row);
    }
  }

  // The other frames below the innermost one, then an empty line.
  void write_outer_frames(const Average& row) {
    std::vector<std::string> texts(columns_.size());
    for (std::size_t i = 1; i < row.stack.size(); ++i) {
      texts[source_column_] = fit_path(valid_utf8(row.stack[i]), source_width_);
      cells(texts);
    }
    texts[source_column_].clear();
    cells(texts);
  }

  std::string time(double us) const { return format_time(us, options_.time_unit); }

  // torch's share of the whole. A row that calls itself counts nested calls twice: beyond the whole, only its outermost calls are taken.
  std::string cpu_total_share(const Average& row) const {
    if (row.is_async) return "0";
    std::int64_t part = row.cpu_time_total_ns;
    if (part > survey_.self_cpu_ns && row.outermost_cpu_time_ns > 0) part = row.outermost_cpu_time_ns;
    return share(part, survey_.self_cpu_ns);
  }

  static std::string share(std::int64_t part_ns, std::int64_t total_ns) {
    return format_share(static_cast<double>(std::min(part_ns, total_ns)) / 1000.0, static_cast<double>(total_ns) / 1000.0);
  }

  std::vector<std::string> cells_of(const Average& row) const {
    std::vector<std::string> texts{fit_name(valid_utf8(row.key), options_.max_name_column_width)};
    if (survey_.has_overloads) texts.push_back(fit_name(valid_utf8(row.overload_name), options_.max_name_column_width));
    texts.push_back(share(row.self_cpu_time_total_ns, survey_.self_cpu_ns));
    texts.push_back(time(row.self_cpu_time_total()));
    texts.push_back(cpu_total_share(row));
    texts.push_back(time(row.cpu_time_total()));
    texts.push_back(time(row.cpu_time()));
    if (survey_.has_device_time) {
      const bool is_span = row.is_user_annotation && row.device_type != trace::DeviceType::kCpu;
      texts.push_back(time(row.self_device_time_total()));
      texts.push_back(is_span ? "--" : share(row.self_device_time_total_ns, survey_.self_device_ns));
      texts.push_back(time(row.device_time_total()));
      texts.push_back(time(row.device_time()));
    }
    if (context_.profile_memory) {
      texts.push_back(format_memory(row.cpu_memory_usage));
      texts.push_back(format_memory(row.self_cpu_memory_usage));
    }
    if (with_device_memory_) {
      texts.push_back(format_memory(row.device_memory_usage));
      texts.push_back(format_memory(row.self_device_memory_usage));
    }
    texts.push_back(fmt::format("{}", row.count));
    if (survey_.has_nodes) texts.push_back(fmt::format("{}", row.node_id));
    if (survey_.has_shapes) texts.push_back(row.input_shapes ? shapes_text(*row.input_shapes).substr(0, shapes_width_) : "");
    if (survey_.has_stacks) texts.push_back(row.stack.empty() ? "" : fit_path(valid_utf8(row.stack.front()), source_width_));
    if (with_flops_) texts.push_back(row.flops <= 0 ? "--" : fmt::format("{:8.3f}", static_cast<double>(row.flops) * flop_unit_.factor));
    return texts;
  }

  void write_foot() {
    rule();
    line(fmt::format("Self CPU time total: {}", time(static_cast<double>(survey_.self_cpu_ns) / 1000.0)));
    if (survey_.has_device_time)
      line(fmt::format("Self {} time total: {}", device_, time(static_cast<double>(survey_.self_device_ns) / 1000.0)));
    line(totals_line(rows_.noun, rows_.size, survey_.calls, context_));
  }

  const TableRows& rows_;
  const TableContext& context_;
  const TableOptions& options_;
  TableSurvey survey_;
  std::string use_device_, device_;
  bool with_flops_ = false, with_device_memory_ = false;
  std::vector<std::size_t> order_;
  std::vector<Column> columns_;
  std::size_t shapes_width_ = 0, source_width_ = 0, source_column_ = 0;
  FlopUnit flop_unit_;
  std::string out_;
};

}  // namespace

TableContext table_context(const trace::Recording& recording) {
  return {recording.options.memory || recording.memory.size() > 0, recording.options.flops, recording.losses, count_launches(recording)};
}

std::string table(const TableRows& rows, const TableContext& context, const TableOptions& options) {
  if (rows.size == 0) return context.losses.empty() ? "" : totals_line(rows.noun, 0, 0, context) + "\n";
  return TableText(rows, context, options).write();
}

std::string table(const std::vector<Average>& rows, const TableContext& context, const TableOptions& options) {
  return table({.size = rows.size(), .row = [&](std::size_t i) { return rows[i]; }}, context, options);
}

}  // namespace mindtorch::analyze
