// Torch's thread ids and ours.
#include "mindtorch/bridges/torch/thread_numbers.h"

#include <gtest/gtest.h>

namespace mindtorch::torch_bridge {
namespace {

TEST(ThreadNumbers, AThreadThatNeverRecordedHasNone) { EXPECT_EQ(thread_number_of(77), 0u); }

TEST(ThreadNumbers, AThreadIsFoundByTorchsId) {
  note_thread_number(5, 2);
  note_thread_number(6, 9);
  EXPECT_EQ(thread_number_of(5), 2u);
  EXPECT_EQ(thread_number_of(6), 9u);
  note_thread_number(5, 3);
  EXPECT_EQ(thread_number_of(5), 3u);
}

TEST(ThreadNumbers, ALaterThreadOfTheSameEntryIsNotTakenForAnEarlierOne) {
  note_thread_number(10, 1);
  note_thread_number(10 + 4096, 2);
  EXPECT_EQ(thread_number_of(10 + 4096), 2u);
  EXPECT_EQ(thread_number_of(10), 0u);
}

}  // namespace
}  // namespace mindtorch::torch_bridge
