// JSON and CSV of averages and events. Read back by Python's own json and csv in test_tabular.py.
#include "mindtorch/export/tabular/tabular.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/base/text.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::exporter {
namespace {

using analyze::Analysis;
using analyze::key_averages;
using analyze::Maker;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kHostile{"\"quoted\"",   "back\\slash", "new\nline\r\x01",         "comma, \"and\" quote",
                                        "bad \xFF\xC3", "</script>",   std::string(1 << 20, 'x'), ""};

trace::Recording hostile_recording() {
  Maker maker;
  std::int64_t time = 0;
  for (const std::string& name : kHostile) maker.stack(maker.op(name, time += 100, 50), {{name, 1, name}});
  maker.builder().recording().options.stacks = true;
  maker.builder().recording().losses = {{trace::LossReason::kBudget, 3, "thread \"1\"", "too\nmuch"}};
  return maker.finish();
}

TEST(Tabular, AnyNameGivesValidJson) {
  const trace::Recording recording = hostile_recording();
  const Analysis analysis(recording);
  EXPECT_TRUE(is_json(averages_json(key_averages(analysis, {.group_by_stack_n = 3}))));
  EXPECT_TRUE(is_json(events_json(analysis.events())));
}

TEST(Tabular, TimesAreExactMicroseconds) {
  Maker maker;
  maker.op("a", 0, 1234567);
  maker.op("b", 5, 7);
  const trace::Recording recording = maker.finish();
  const std::string json = averages_json(key_averages(Analysis(recording)));
  EXPECT_THAT(json, HasSubstr("\"cpu_time_total\":1234.567"));
  EXPECT_THAT(json, HasSubstr("\"self_cpu_time_total\":1234.560"));
  EXPECT_THAT(json, HasSubstr("\"cpu_time_total\":0.007"));
  EXPECT_THAT(json, HasSubstr("\"total\":{\"key\":\"Total\""));
}

TEST(Tabular, WhatWasNotRecordedIsAbsent) {
  Maker maker;
  maker.op("a", 0, 10);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::string json = events_json(analysis.events());
  for (const char* key : {"stack", "input_shapes", "flops", "memory_allocated"}) EXPECT_THAT(json, Not(HasSubstr(key)));
  EXPECT_THAT(json, HasSubstr("\"kind\":\"op\""));
}

TEST(Tabular, CsvQuotesWhatNeedsIt) {
  Maker maker;
  maker.op("a, \"b\"", 0, 10);
  const trace::Recording recording = maker.finish();
  const std::string csv = averages_csv(key_averages(Analysis(recording)));
  EXPECT_THAT(csv, HasSubstr("key,overload_name,device_type,"));
  EXPECT_THAT(csv, HasSubstr("\r\n\"a, \"\"b\"\"\",,CPU,,1,0.010,"));
}

TEST(Tabular, TextComesInPiecesThatMakeTheWhole) {
  Maker maker;
  for (int i = 0; i < 3000; ++i) maker.op("op" + std::to_string(i), i * 10, 5);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  std::string whole;
  std::size_t pieces = 0, largest = 0;
  write_events_json(analysis.events(), [&](std::string_view piece) {
    whole += piece;
    ++pieces;
    largest = std::max(largest, piece.size());
  });
  EXPECT_EQ(whole, events_json(analysis.events()));
  EXPECT_GT(pieces, 5u);
  EXPECT_LT(largest, 70000u);
}

TEST(Tabular, AnEmptyRecordingIsStillWellFormed) {
  const trace::Recording recording;
  const Analysis analysis(recording);
  EXPECT_TRUE(is_json(averages_json(key_averages(analysis))));
  EXPECT_EQ(events_json(analysis.events()), "{\"events\":[],\n\"losses\":[]}\n");
  EXPECT_THAT(events_csv(analysis.events()), testing::StartsWith("id,name,kind,"));
}

}  // namespace
}  // namespace mindtorch::exporter
