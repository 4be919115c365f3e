// Device memory: addresses, translation, running out, joining.
#include "mindtorch/reference_device/device_memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "mindtorch/base/error.h"

namespace mindtorch::reference_device {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void* take(DeviceMemory& memory, std::size_t bytes) {
  void* address = nullptr;
  EXPECT_EQ(memory.allocate(bytes, &address), Result::kSuccess);
  return address;
}

TEST(DeviceMemory, GivesAlignedAddressesOfItsOwnWindow) {
  DeviceMemory memory(0, kMiB);
  void* first = take(memory, 1);
  void* second = take(memory, 1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) - reinterpret_cast<std::uintptr_t>(first), DeviceMemory::kAlignment);
  EXPECT_TRUE(memory.owns(first));
  int on_host = 0;
  EXPECT_FALSE(memory.owns(&on_host));
}

TEST(DeviceMemoryDeathTest, CrashesAHostThatTouchesADeviceAddress) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  DeviceMemory memory(0, kMiB);
  auto* address = static_cast<volatile char*>(take(memory, 16));
  EXPECT_DEATH(*address = 1, "");
}

TEST(DeviceMemory, LetsKernelsReadBackWhatTheyWrote) {
  DeviceMemory memory(0, kMiB);
  int* address = static_cast<int*>(take(memory, 4 * sizeof(int)));
  memory.view().at(address)[3] = 42;
  EXPECT_EQ(memory.view().at(address + 3)[0], 42);
  EXPECT_EQ(memory.view().at(static_cast<int*>(nullptr)), nullptr);
}

TEST(DeviceMemory, RefusesToTranslateAForeignAddress) {
  DeviceMemory memory(0, kMiB);
  int on_host = 0;
  EXPECT_THROW(memory.view().at(&on_host), InvalidArgument);
}

TEST(DeviceMemory, RunsOutAndRecovers) {
  DeviceMemory memory(0, kMiB);
  void* all = take(memory, kMiB);
  EXPECT_EQ(memory.free_bytes(), 0u);
  void* more = all;
  EXPECT_EQ(memory.allocate(1, &more), Result::kOutOfMemory);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(memory.release(all), Result::kSuccess);
  EXPECT_EQ(memory.free_bytes(), kMiB);
  EXPECT_EQ(memory.allocate(2 * kMiB, &more), Result::kOutOfMemory);
  EXPECT_EQ(take(memory, kMiB), all);
}

TEST(DeviceMemory, KnowsLiveRangesToTheByte) {
  DeviceMemory memory(0, kMiB);
  auto* address = static_cast<char*>(take(memory, 100));
  EXPECT_TRUE(memory.is_live(address, 100));
  EXPECT_TRUE(memory.is_live(address + 60, 40));
  EXPECT_TRUE(memory.is_live(address + 100, 0));
  EXPECT_FALSE(memory.is_live(address + 60, 41));
  EXPECT_FALSE(memory.is_live(address + 200, 1));
  EXPECT_FALSE(memory.is_live(address, static_cast<std::size_t>(-1)));
  EXPECT_EQ(memory.release(address), Result::kSuccess);
  EXPECT_FALSE(memory.is_live(address, 1));
}

TEST(DeviceMemory, AcceptsOnlyTheBeginningOfALiveAllocationForRelease) {
  DeviceMemory memory(0, kMiB);
  auto* address = static_cast<char*>(take(memory, 2000));
  EXPECT_EQ(memory.release(address + 512), Result::kInvalidAddress);
  EXPECT_EQ(memory.release(address), Result::kSuccess);
  EXPECT_EQ(memory.release(address), Result::kInvalidAddress);
}

TEST(DeviceMemory, JoinsNeighboursWhateverTheOrderOfReleases) {
  DeviceMemory memory(0, kMiB);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks;
    for (void* block = nullptr; memory.allocate(random() % 40'000 + 1, &block) == Result::kSuccess;) blocks.push_back(block);
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (void* block : blocks) ASSERT_EQ(memory.release(block), Result::kSuccess);
    EXPECT_EQ(memory.release(take(memory, kMiB)), Result::kSuccess) << "the whole memory is one piece again";
  }
}

}  // namespace
}  // namespace mindtorch::reference_device
