// Intervals: united, subtracted, measured.
#include "mindtorch/analyze/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Interval = Intervals::Interval;

Intervals made_of(std::initializer_list<Interval> list) {
  Intervals made;
  for (const Interval& interval : list) made.add(interval.start, interval.end);
  return made;
}

TEST(Intervals, UnitedOnesAreSortedAndTouchNoOther) {
  EXPECT_THAT(made_of({{30, 40}, {0, 10}, {5, 20}, {20, 25}, {32, 33}}).united().all(), ElementsAre(Interval{0, 25}, Interval{30, 40}));
}

TEST(Intervals, AreUnitedWhetherTheyComeInFewRunsOrInMany) {
  for (const std::int64_t run : {100, 40, 3, 1}) {
    Intervals made;
    for (std::int64_t first = 0; first < 100; first += run) {  // the runs come in reverse order
      for (std::int64_t k = 0; k < run && first + k < 100; ++k) {
        const std::int64_t at = 10 * (99 - first - (run - 1) + k);
        if (at >= 0) made.add(at, at + 5);
      }
    }
    const Intervals united = made.united();
    EXPECT_EQ(united.all().size(), made.all().size());
    EXPECT_TRUE(std::ranges::is_sorted(united.all(), {}, &Interval::start));
  }
}

TEST(Intervals, EmptyOnesAreNotAdded) { EXPECT_THAT(made_of({{5, 5}, {7, 6}}).all(), IsEmpty()); }

TEST(Intervals, WithoutOthersTheRestRemains) {
  const Intervals all = made_of({{0, 10}, {20, 30}, {40, 50}});
  EXPECT_THAT(all.without(made_of({{2, 4}, {8, 22}, {45, 60}})).all(),
              ElementsAre(Interval{0, 2}, Interval{4, 8}, Interval{22, 30}, Interval{40, 45}));
  EXPECT_THAT(all.without(made_of({{0, 50}})).all(), IsEmpty());
  EXPECT_EQ(all.without({}).all(), all.all());
}

TEST(Intervals, CoverOnlyWhatLiesInsideTheAskedTime) {
  const Intervals all = made_of({{0, 10}, {20, 30}});
  EXPECT_EQ(all.covered_ns(5, 25), 10);
  EXPECT_EQ(all.covered_ns(10, 20), 0);
  EXPECT_EQ(all.covered_ns(-5, 100), 20);
  EXPECT_EQ(all.covered_ns(50, 60), 0);
  EXPECT_EQ(all.covered_ns(), 20);
}

}  // namespace
}  // namespace mindtorch::analyze
