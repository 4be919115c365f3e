// What the bridge keeps for a thread begins with its first op and ends with the thread.
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

TEST(BridgeThread, HasJoinedNoSessionBeforeItsFirstOp) {
  std::thread([] { EXPECT_EQ(bridge_thread->state, ~std::uint64_t{0}); }).join();
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
