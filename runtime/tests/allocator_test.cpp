// Tests of the caching allocator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "mindtorch/record/session.h"
#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/cpu_backend.h"
#include "mindtorch/runtime/functions.h"
#include "tests/support/rounds.h"

namespace mindtorch {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Memory with a limit, and a count of what is out.
class LimitedMemory : public RawMemory {
 public:
  explicit LimitedMemory(std::size_t limit) : limit_(limit) {}
  void* reserve(std::size_t bytes) override {
    if (used_ + bytes > limit_) return nullptr;
    used_ += bytes;
    return std::aligned_alloc(4096, bytes);
  }
  void release(void* data, std::size_t bytes) override {
    used_ -= bytes;
    std::free(data);
  }
  Amount amount() const override { return {limit_ - used_, limit_}; }
  std::size_t used() const { return used_; }

 private:
  std::size_t limit_, used_ = 0;
};

class AllocatorTest : public ::testing::Test {
 protected:
  LimitedMemory memory{64 * kMiB};
  CachingAllocator allocator{Device(kNPU), memory};
};

TEST_F(AllocatorTest, RoundsTo512BytesAndCountsIt) {
  MemoryBlock* block = allocator.allocate(1);
  EXPECT_EQ(allocator.memory_allocated(), 512);
  EXPECT_EQ(allocator.memory_reserved(), static_cast<std::int64_t>(2 * kMiB));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data) % 512, 0u);
  allocator.free(block);
  EXPECT_EQ(allocator.memory_allocated(), 0);
  EXPECT_EQ(allocator.max_memory_allocated(), 512);
}

TEST_F(AllocatorTest, GivesAFreedBlockOutAgain) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70'000}, 5 * kMiB}) {
    MemoryBlock* block = allocator.allocate(bytes);
    void* data = block->data;
    allocator.free(block);
    MemoryBlock* again = allocator.allocate(bytes);
    EXPECT_EQ(again->data, data) << bytes;
    allocator.free(again);
  }
}

TEST_F(AllocatorTest, NothingIsAllocatedForNoBytes) {
  EXPECT_EQ(allocator.allocate(0), nullptr);
  allocator.free(nullptr);
  EXPECT_EQ(allocator.memory_reserved(), 0);
}

TEST_F(AllocatorTest, LargeBlocksAreSplitAndMergedAgain) {
  MemoryBlock* a = allocator.allocate(4 * kMiB);
  MemoryBlock* b = allocator.allocate(4 * kMiB);
  MemoryBlock* c = allocator.allocate(4 * kMiB);
  EXPECT_EQ(allocator.memory_reserved(), static_cast<std::int64_t>(20 * kMiB));
  EXPECT_EQ(static_cast<char*>(b->data) - static_cast<char*>(a->data), static_cast<std::ptrdiff_t>(4 * kMiB));
  allocator.free(a);
  allocator.free(c);
  allocator.free(b);
  MemoryBlock* whole = allocator.allocate(20 * kMiB);
  EXPECT_EQ(allocator.memory_reserved(), static_cast<std::int64_t>(20 * kMiB));
  allocator.free(whole);
}

TEST_F(AllocatorTest, CachedMemoryIsGivenBackBeforeGivingUp) {
  allocator.free(allocator.allocate(30 * kMiB));
  MemoryBlock* block = allocator.allocate(50 * kMiB);
  EXPECT_EQ(memory.used(), 50 * kMiB);
  EXPECT_EQ(allocator.memory_stats().at("num_alloc_retries"), 1);
  allocator.free(block);
}

TEST_F(AllocatorTest, OutOfMemorySaysWhatWasAskedAndWhatThereIs) {
  MemoryBlock* block = allocator.allocate(40 * kMiB);
  try {
    allocator.allocate(30 * kMiB);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("npu:0 out of memory. Tried to allocate 31457280 bytes"),
                                               ::testing::HasSubstr("41943040 bytes are allocated")));
  }
  EXPECT_EQ(allocator.memory_stats().at("num_ooms"), 1);
  allocator.free(block);
}

TEST_F(AllocatorTest, EmptyCacheKeepsWhatIsInUse) {
  MemoryBlock* kept = allocator.allocate(1000);
  allocator.free(allocator.allocate(5 * kMiB));
  allocator.free(allocator.allocate(1000));
  allocator.empty_cache();
  EXPECT_EQ(memory.used(), 2 * kMiB);
  allocator.free(kept);
  allocator.empty_cache();
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(allocator.memory_reserved(), 0);
}

TEST_F(AllocatorTest, PeaksAndStatisticsFollowTorch) {
  MemoryBlock* a = allocator.allocate(1000);
  MemoryBlock* b = allocator.allocate(2 * kMiB);
  allocator.free(b);
  const auto stats = allocator.memory_stats();
  EXPECT_EQ(stats.at("allocated_bytes.all.current"), 1024);
  EXPECT_EQ(stats.at("allocated_bytes.all.peak"), 1024 + static_cast<std::int64_t>(2 * kMiB));
  EXPECT_EQ(stats.at("allocated_bytes.large_pool.freed"), static_cast<std::int64_t>(2 * kMiB));
  EXPECT_EQ(stats.at("requested_bytes.small_pool.current"), 1000);
  EXPECT_EQ(stats.at("allocation.all.allocated"), 2);
  EXPECT_EQ(stats.at("segment.all.current"), 2);
  allocator.reset_peak_memory_stats();
  EXPECT_EQ(allocator.max_memory_allocated(), 1024);
  allocator.reset_accumulated_memory_stats();
  EXPECT_EQ(allocator.memory_stats().at("allocation.all.allocated"), 0);
  allocator.free(a);
}

TEST_F(AllocatorTest, RandomUseFromTwoThreadsNeverOverlapsAndLeaksNothing) {
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<MemoryBlock*, std::size_t>> held;
    for (int i = 0; i < 3000; ++i) {
      if (held.size() < 20 && random() % 2 == 0) {
        const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 2'000'000 : 5000);
        MemoryBlock* block = allocator.allocate(bytes);
        std::memset(block->data, static_cast<int>(seed), std::min<std::size_t>(bytes, 600));
        held.emplace_back(block, bytes);
      } else if (!held.empty()) {
        std::swap(held[random() % held.size()], held.back());
        const auto [block, bytes] = held.back();
        held.pop_back();
        for (std::size_t k = 0; k < std::min<std::size_t>(bytes, 600); ++k) ASSERT_EQ(static_cast<unsigned char*>(block->data)[k], seed);
        allocator.free(block);
      }
    }
    for (const auto& [block, bytes] : held) allocator.free(block);
  };
  std::thread other(work, 1u);
  work(2u);
  other.join();
  EXPECT_EQ(allocator.memory_allocated(), 0);
  allocator.empty_cache();
  EXPECT_EQ(memory.used(), 0u);
}

// Each report says what the one before it has left, and no address is given out twice.
void expect_consistent(const trace::MemoryColumns& memory) {
  std::set<std::uint64_t> live;
  for (std::size_t r = 0; r < memory.size(); ++r) {
    const std::int64_t before = r == 0 ? 0 : memory.total_allocated[r - 1];
    ASSERT_EQ(before + memory.bytes[r], memory.total_allocated[r]) << "report " << r;
    const bool fits = memory.bytes[r] > 0 ? live.insert(memory.address[r]).second : live.erase(memory.address[r]) == 1;
    ASSERT_TRUE(fits) << "report " << r;
  }
}

// Runs what another thread does between an allocation and its report.
class InterruptedMemory : public LimitedMemory {
 public:
  using LimitedMemory::LimitedMemory;
  StreamId current_stream() const override { return stream; }
  void wait_for_stream(StreamId) override { std::thread(meanwhile).join(); }

  StreamId stream = 1;
  std::function<void()> meanwhile;
};

TEST(AllocatorReports, AreInTheOrderOfTheTotalsAlsoIfAThreadIsInterruptedBeforeItReports) {
  InterruptedMemory memory(64 * kMiB);
  CachingAllocator allocator(Device(kNPU), memory);
  auto session = record::Session::prepare({.memory = true});
  session->start();
  allocator.free(allocator.allocate(512));
  memory.stream = 2;
  memory.meanwhile = [&] { allocator.free(allocator.allocate(4096)); };
  allocator.free(allocator.allocate(512));  // the block was used on the other stream
  const trace::Recording recording = session->stop();
  EXPECT_THAT(recording.memory.bytes, ::testing::ElementsAre(512, -512, 512, 4096, -4096, -512));
  expect_consistent(recording.memory);
}

TEST(AllocatorReports, OfManyThreadsAreInTheOrderOfTheTotals) {
  LimitedMemory memory(64 * kMiB);
  CachingAllocator allocator(Device(kNPU), memory);
  auto session = record::Session::prepare({.memory = true});
  session->start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < tests::rounds(20'000); ++i) allocator.free(allocator.allocate(512));
    });
  for (std::thread& thread : threads) thread.join();
  const trace::Recording recording = session->stop();
  EXPECT_EQ(recording.memory.size(), 8u * static_cast<std::size_t>(tests::rounds(20'000)));
  expect_consistent(recording.memory);
}

TEST(CpuAllocator, CountsTheBytesOfTensors) {
  empty({1});
  const std::int64_t before = cpu_allocator().memory_allocated();
  const Tensor x = empty({5});
  EXPECT_EQ(cpu_allocator().memory_allocated() - before, 20);
  const Tensor view = x.view({5, 1});
  EXPECT_EQ(cpu_allocator().memory_allocated() - before, 20);
}

TEST(CpuAllocator, TensorsOfAFailedOpAreFreed) {
  const Tensor a = ones({3}), b = ones({4});
  const std::int64_t before = cpu_allocator().memory_allocated();
  EXPECT_THROW(a + b, Error);
  EXPECT_THROW(cat({a.view({1, 3}), b.view({1, 4})}), Error);
  EXPECT_EQ(cpu_allocator().memory_allocated(), before);
}

}  // namespace
}  // namespace mindtorch
