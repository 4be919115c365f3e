// The memory of the logs: blocks come back, and arenas go back to the system.
#include "mindtorch/record/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace mindtorch::record {
namespace {

TEST(BlockPool, BlocksAreDistinctAlignedAndWritable) {
  BlockPool& pool = BlockPool::instance();
  std::set<void*> blocks;
  for (int i = 0; i < 100; ++i) {
    void* block = pool.take();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kBlockBytes, 0u);
    std::memset(block, i, kBlockBytes);
    blocks.insert(block);
  }
  EXPECT_EQ(blocks.size(), 100u);
  for (void* block : blocks) pool.give_back(block);
}

TEST(BlockPool, TheBlockGivenBackLastIsTakenFirst) {
  BlockPool& pool = BlockPool::instance();
  void* a = pool.take();
  void* b = pool.take();
  pool.give_back(a);
  EXPECT_EQ(pool.take(), a);
  pool.give_back(a);
  pool.give_back(b);
}

TEST(BlockPool, TrimReturnsUnusedArenasAndSparesThoseInUse) {
  BlockPool& pool = BlockPool::instance();
  std::vector<void*> blocks;
  for (int i = 0; i < 320; ++i) blocks.push_back(pool.take());
  const std::size_t mapped = pool.mapped_bytes();
  void* survivor = blocks[100];
  for (void* block : blocks)
    if (block != survivor) pool.give_back(block);
  pool.trim(0);
  EXPECT_LT(pool.mapped_bytes(), mapped);
  EXPECT_GT(pool.mapped_bytes(), 0u);
  std::memset(survivor, 1, kBlockBytes);
  // What is left of the survivor's arena can still be used.
  void* again = pool.take();
  std::memset(again, 2, kBlockBytes);
  pool.give_back(again);
  pool.give_back(survivor);
  pool.trim(0);
  EXPECT_EQ(pool.mapped_bytes(), 0u);
  EXPECT_EQ(pool.free_bytes(), 0u);
}

}  // namespace
}  // namespace mindtorch::record
