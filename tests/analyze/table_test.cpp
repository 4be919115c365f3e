// The table: layout and cells on small cases; torch's own output is compared byte for byte in test_table_parity.py.
#include "mindtorch/analyze/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/base/error.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Average row(std::string key, std::int64_t self_ns, std::int64_t total_ns, std::int64_t count = 1) {
  Average average;
  average.key = std::move(key);
  average.count = count;
  average.self_cpu_time_total_ns = self_ns;
  average.cpu_time_total_ns = total_ns;
  return average;
}

TEST(Table, LooksLikeTorchs) {
  const std::vector<Average> rows{row("aten::mm", 1500000, 2000000, 2), row("aten::t", 500000, 500000)};
  EXPECT_EQ(table(rows, {}),
            "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
            "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
            "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
            "    aten::mm        75.00%       1.500ms       100.00%       2.000ms       1.000ms             2  \n"
            "     aten::t        25.00%     500.000us        25.00%     500.000us     500.000us             1  \n"
            "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
            "Self CPU time total: 2.000ms\n"
            "Total keys: 2  Count: 3 calls  Lost: 0 events\n");
}

TEST(Table, NoRowsIsNoTextUnlessSomethingWasLost) {
  EXPECT_EQ(table(std::vector<Average>{}, {}), "");
  EXPECT_EQ(table(std::vector<Average>{}, {.losses = {{trace::LossReason::kBudget, 5, "", ""}}}),
            "Total keys: 0  Count: 0 calls  Lost: 5 events (budget 5)\n");
}

TEST(Table, AnUnknownSortKeyIsTorchsError) {
  try {
    table({row("a", 1, 1)}, {}, {.sort_by = "zz"});
    FAIL();
  } catch (const NoSuchAttribute& error) {
    EXPECT_STREQ(error.what(), "'FunctionEventAvg' object has no attribute 'zz'");
  }
}

TEST(Table, EveryFieldSortsDescendingAndKeepsTheOrderOfEqualRows) {
  std::vector<Average> rows{row("b", 1, 5), row("a", 3, 5), row("c", 2, 5)};
  const auto names = [&](const std::string& sort_by) {
    const auto text = lines(table(rows, {}, {.sort_by = sort_by}));
    return std::string{text[3][4], text[4][4], text[5][4]};
  };
  EXPECT_EQ(names("self_cpu_time_total"), "acb");
  EXPECT_EQ(names("cpu_time_total"), "bac");
  EXPECT_EQ(names("key"), "cba");
  for (const std::string_view field : field_names()) EXPECT_NO_THROW(table(rows, {}, {.sort_by = std::string(field)})) << field;
  EXPECT_EQ(names("self_cuda_time_total"), names("self_device_time_total"));
}

TEST(Table, FlopsAndSourceStandUnderTheirOwnHeaders) {
  Average one = row("aten::mm", 10, 10);
  one.flops = 2500;
  one.stack = {"a.py:1:f", "b.py:2:g"};
  const auto text = lines(table({one}, {.with_flops = true}));
  const std::size_t source = text[1].find("Source Location");
  EXPECT_LT(source, text[1].find("Total KFLOPs"));
  EXPECT_EQ(text[3].substr(source, 8), "a.py:1:f");
  EXPECT_THAT(text[3], HasSubstr("   2.500  "));
  EXPECT_EQ(text[4].substr(source, 8), "b.py:2:g");
  EXPECT_EQ(text[4].size(), text[3].size());
  EXPECT_EQ(text[5], std::string(text[3].size(), ' '));
}

TEST(Table, ASpanOnTheDeviceHasNoShare) {
  Average kernel = row("gemm", 0, 0), span = row("forward", 0, 0);
  for (Average* average : {&kernel, &span}) {
    average->device_type = trace::DeviceType::kNpu;
    average->use_device = "npu";
  }
  kernel.self_device_time_total_ns = kernel.device_time_total_ns = 1000;
  span.self_device_time_total_ns = span.device_time_total_ns = 50000;
  span.is_user_annotation = true;
  const std::string text = table({kernel, span}, {});
  EXPECT_THAT(text, HasSubstr("100.00%"));
  EXPECT_THAT(text, Not(HasSubstr("5000.00%")));
  EXPECT_THAT(text, HasSubstr("            --  "));
  EXPECT_THAT(text, HasSubstr("Self NPU time total: 1.000us"));
}

TEST(Table, DeviceTimeWithoutADeviceIsAnError) {
  Average kernel = row("gemm", 0, 0);
  kernel.self_device_time_total_ns = 5;
  EXPECT_THROW(table({kernel}, {}), Error);
}

TEST(Table, WidthsCountCodePointsAndNamesAreNeverInvalidText) {
  const auto text = lines(table({row("\xC3\xA4\xC3\xB6", 1, 1), row("bad \xFF", 1, 1)}, {}));
  EXPECT_EQ(text[0].substr(0, 11), "---------  ");
  EXPECT_EQ(text[3].substr(0, 13), "       \xC3\xA4\xC3\xB6  ");
  EXPECT_EQ(text[4].substr(0, 13), "    bad \xEF\xBF\xBD  ");
}

TEST(Table, WidthLimitsMayBeTinyButNotNegative) {
  const std::vector<Average> rows{row("aten::addmm", 1, 1)};
  for (const std::int64_t width : {0, 1, 2, 3, 4, 5}) EXPECT_NO_THROW(table(rows, {}, {.max_name_column_width = width})) << width;
  EXPECT_THAT(table(rows, {}, {.max_name_column_width = 6}), HasSubstr("ate...  "));
  EXPECT_THROW(table(rows, {}, {.max_name_column_width = -1}), InvalidArgument);
}

TEST(Table, EventsHaveATableToo) {
  Maker maker;
  maker.shapes(maker.op("aten::mm", 0, 4000), {{2, 3}, {3, 4}});
  maker.op("aten::t", 1000, 1000);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::string text = analysis.events().table({.sort_by = "self_cpu_time_total", .top_level_events_only = true});
  EXPECT_THAT(text, HasSubstr("[[2, 3], [3, 4]]"));
  EXPECT_THAT(text, HasSubstr("This report only display top-level ops statistics"));
  EXPECT_THAT(text, Not(HasSubstr("aten::t ")));
  EXPECT_THAT(text, HasSubstr("Total events: 2  Count: 2 calls"));
  try {
    analysis.events().table({.sort_by = "zz"});
    FAIL();
  } catch (const NoSuchAttribute& error) {
    EXPECT_STREQ(error.what(), "'FunctionEvent' object has no attribute 'zz'");
  }
}

TEST(Table, NoShareExceedsAHundredOnAnyRecording) {
  const std::regex percent(R"((-?\d+\.\d\d)%)");
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const trace::Recording recording = random_recording(seed, 120);
    const Analysis analysis(recording);
    for (const std::string& text : {key_averages(analysis).table({.row_limit = -1}), analysis.events().table({.row_limit = -1})}) {
      for (std::sregex_iterator at(text.begin(), text.end(), percent), end; at != end; ++at) ASSERT_LE(std::stod((*at)[1]), 100.0) << text;
    }
  }
}

TEST(Table, SameRecordingSameText) {
  const trace::Recording recording = random_recording(5, 300);
  EXPECT_EQ(key_averages(Analysis(recording)).table({.sort_by = "count"}), key_averages(Analysis(recording)).table({.sort_by = "count"}));
}

}  // namespace
}  // namespace mindtorch::analyze
