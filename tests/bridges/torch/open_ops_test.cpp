// Open ops end in reverse, whatever became of those inside.
#include "mindtorch/bridges/torch/open_ops.h"

#include <gtest/gtest.h>

#include <array>

namespace mindtorch::torch_bridge {
namespace {

std::array<char, 200> ops;
std::array<record::Slot, 200> slots;

TEST(OpenOps, EachOpGivesItsOwnSlotWhenItEnds) {
  OpenOps open;
  for (int i = 0; i < 3; ++i) open.push(&ops[i], &slots[i]);
  for (int i = 3; i-- > 0;) EXPECT_EQ(open.pop(&ops[i]), &slots[i]);
}

TEST(OpenOps, TheLatestOpIsFoundWithoutEndingIt) {
  OpenOps open;
  EXPECT_EQ(open.latest(&ops[0]), nullptr);
  open.push(&ops[0], &slots[0]);
  EXPECT_EQ(open.latest(&ops[0]), &slots[0]);
  EXPECT_EQ(open.latest(&ops[1]), nullptr);
  EXPECT_EQ(open.pop(&ops[0]), &slots[0]);
}

TEST(OpenOps, AnOpThatIsNotOpenGivesNone) {
  OpenOps open;
  EXPECT_EQ(open.pop(&ops[0]), nullptr);
  open.push(&ops[0], &slots[0]);
  EXPECT_EQ(open.pop(&ops[1]), nullptr);
  EXPECT_EQ(open.pop(&ops[0]), &slots[0]);
  EXPECT_EQ(open.pop(&ops[0]), nullptr);
}

TEST(OpenOps, OpsThatNeverEndedGoWithTheOneAroundThem) {
  OpenOps open;
  for (int i = 0; i < 4; ++i) open.push(&ops[i], &slots[i]);
  EXPECT_EQ(open.pop(&ops[1]), &slots[1]);
  EXPECT_EQ(open.pop(&ops[3]), nullptr);
  EXPECT_EQ(open.pop(&ops[0]), &slots[0]);
}

TEST(OpenOps, OfTwoUnderOneAddressTheLaterEndsFirst) {
  OpenOps open;
  open.push(&ops[0], &slots[0]);
  open.push(&ops[0], &slots[1]);
  EXPECT_EQ(open.pop(&ops[0]), &slots[1]);
  EXPECT_EQ(open.pop(&ops[0]), &slots[0]);
}

TEST(OpenOps, WhatIsForgottenStillEndsInItsTurn) {
  OpenOps open;
  open.push(&ops[0], &slots[0]);
  open.forget_slots();
  open.push(&ops[1], &slots[1]);
  EXPECT_EQ(open.pop(&ops[1]), &slots[1]);
  EXPECT_EQ(open.pop(&ops[0]), nullptr);
}

TEST(OpenOps, ItIsFullBeforeItOverflows) {
  OpenOps open;
  std::size_t count = 0;
  while (!open.is_full() && count < ops.size()) {
    open.push(&ops[count], &slots[count]);
    ++count;
  }
  EXPECT_TRUE(open.is_full());
  EXPECT_GT(count, 100u);
  while (count-- > 0) EXPECT_EQ(open.pop(&ops[count]), &slots[count]);
}

}  // namespace
}  // namespace mindtorch::torch_bridge
