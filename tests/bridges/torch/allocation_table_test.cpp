// Live blocks of memory by address: what goes in comes out once, whatever the order and the thread.
#include "mindtorch/bridges/torch/allocation_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace mindtorch::torch_bridge {
namespace {

const void* address(std::uintptr_t number) { return reinterpret_cast<const void*>(0x7F0000000000u + 64 * number); }

TEST(AllocationTable, GivesASizeOnceAndOnlyOfKnownAddresses) {
  AllocationTable table;
  EXPECT_EQ(table.remove(address(1)), 0u);
  EXPECT_TRUE(table.insert(address(1), 256));
  EXPECT_EQ(table.remove(address(2)), 0u);
  EXPECT_EQ(table.remove(address(1)), 256u);
  EXPECT_EQ(table.remove(address(1)), 0u);
}

TEST(AllocationTable, AnAddressThatIsKnownTakesTheNewSize) {
  AllocationTable table;
  table.insert(address(1), 256);
  table.insert(address(1), 512);
  EXPECT_EQ(table.remove(address(1)), 512u);
  EXPECT_EQ(table.remove(address(1)), 0u);
}

TEST(AllocationTable, AgreesWithAMapThroughRandomInsertionsAndRemovals) {
  AllocationTable table;
  std::unordered_map<std::uintptr_t, std::size_t> expected;
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uintptr_t number = random() % 5000;
    if (random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % 1000;
      table.insert(address(number), bytes);
      expected[number] = bytes;
    } else {
      const auto at = expected.find(number);
      ASSERT_EQ(table.remove(address(number)), at == expected.end() ? 0 : at->second) << "after " << i << " steps";
      if (at != expected.end()) expected.erase(at);
    }
  }
  for (const auto& [number, bytes] : expected) EXPECT_EQ(table.remove(address(number)), bytes);
}

TEST(AllocationTable, BlocksOfOneThreadAreFreedByAnother) {
  AllocationTable table;
  constexpr std::uintptr_t kBlocks = 20'000;
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uintptr_t i = 0; i < kBlocks; ++i) table.insert(address(t * kBlocks + i), i + 1);
    });
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  std::vector<std::size_t> wrong(4);
  for (std::uintptr_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uintptr_t i = 0; i < kBlocks; ++i) wrong[t] += table.remove(address(((t + 1) % 4) * kBlocks + i)) != i + 1;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::size_t>(4));
}

}  // namespace
}  // namespace mindtorch::torch_bridge
