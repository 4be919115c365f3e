// Blocks that are dropped while they are read.
#include "mindtorch/record/held_blocks.h"

#include <gtest/gtest.h>

#include "mindtorch/record/block_pool.h"

namespace mindtorch::record {
namespace {

TEST(HeldBlocks, ABlockThatIsDroppedWhileItIsHeldComesBackAfterwards) {
  HeldBlocks held;
  void* const block = BlockPool::instance().take();
  EXPECT_FALSE(held.keep_for_reader(block));
  held.hold(block);
  const std::size_t free_before = BlockPool::instance().free_bytes();
  EXPECT_TRUE(held.keep_for_reader(block));
  EXPECT_EQ(BlockPool::instance().free_bytes(), free_before);
  held.let_go();
  EXPECT_EQ(BlockPool::instance().free_bytes(), free_before + kBlockBytes);
  EXPECT_FALSE(held.keep_for_reader(block));
}

}  // namespace
}  // namespace mindtorch::record
