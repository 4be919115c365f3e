// What the bridge keeps for a thread: recycled blocks, and an end with the thread.
#include "mindtorch/bridges/torch/bridge_thread.h"

#include <gtest/gtest.h>

#include <thread>

namespace mindtorch::torch_bridge {
namespace {

TEST(BridgeThread, IsOneForEachThread) {
  BridgeThread* here = BridgeThread::current();
  ASSERT_NE(here, nullptr);
  EXPECT_EQ(BridgeThread::current(), here);
  BridgeThread* there = nullptr;
  std::thread([&] { there = BridgeThread::current(); }).join();
  EXPECT_NE(there, here);
}

TEST(BridgeThread, BlocksGivenBackAreTakenAgainLatestFirst) {
  BridgeThread::current();
  void* a = BridgeThread::take_block();
  void* b = BridgeThread::take_block();
  EXPECT_NE(a, b);
  BridgeThread::give_block(a);
  BridgeThread::give_block(b);
  EXPECT_EQ(BridgeThread::take_block(), b);
  EXPECT_EQ(BridgeThread::take_block(), a);
  BridgeThread::give_block(a);
  BridgeThread::give_block(b);
}

TEST(BridgeThread, ABlockMayComeBackOnAThreadThatNeverRanAnOp) {
  void* block = BridgeThread::take_block();
  std::thread([&] { BridgeThread::give_block(block); }).join();  // freed there: the leak checker would see it
}

// Its destructor runs after that of the bridge's own part, which is made later.
struct OpAtTheEnd {
  BridgeThread** seen;
  ~OpAtTheEnd() { *seen = BridgeThread::current(); }
};

TEST(BridgeThread, OpsOfThreadLocalDestructorsFindNone) {
  auto* seen = reinterpret_cast<BridgeThread*>(1);
  std::thread([&] {
    thread_local OpAtTheEnd last{&seen};
    static_cast<void>(last);
    BridgeThread::current();
  }).join();
  EXPECT_EQ(seen, nullptr);
}

}  // namespace
}  // namespace mindtorch::torch_bridge
