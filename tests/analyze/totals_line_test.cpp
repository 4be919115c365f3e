// The last line of a table.
#include <gtest/gtest.h>

#include "mindtorch/analyze/table.h"

namespace mindtorch::analyze {
namespace {

TEST(TotalsLine, SaysWhatWasCounted) { EXPECT_EQ(totals_line("events", 3, 7, {}), "Total events: 3  Count: 7 calls  Lost: 0 events"); }

TEST(TotalsLine, AddsUpLossesByReasonAndNamesWhatIsThereButNotWhole) {
  const std::vector<trace::Loss> losses{{trace::LossReason::kBudget, 5, "thread 1", ""},
                                        {trace::LossReason::kBudget, 2, "thread 2", ""},
                                        {trace::LossReason::kDeviceDropped, 3, "npu:0", ""},
                                        {trace::LossReason::kUnfinished, 1, "thread 1", ""}};
  EXPECT_EQ(totals_line("keys", 2, 9, {.losses = losses}),
            "Total keys: 2  Count: 9 calls  Lost: 10 events (budget 7, device_dropped 3)  Incomplete: unfinished 1");
}

TEST(TotalsLine, SaysHowManyLaunchesAndDeviceRecordsThereAre) {
  EXPECT_EQ(totals_line("keys", 2, 9, {.launches = {.launches = 4, .records = 7}}),
            "Total keys: 2  Count: 9 calls  Launches: 4  Device records: 7  Lost: 0 events");
}

}  // namespace
}  // namespace mindtorch::analyze
