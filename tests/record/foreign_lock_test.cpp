// The lock of another language is given up for a wait, once, and comes back after the locks of the recorder are free.
#include "mindtorch/record/foreign_lock.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mindtorch::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Writes down what happens to it.
class FakeLock : public ForeignLock {
 public:
  explicit FakeLock(std::vector<std::string>& calls) : calls_(calls) { set_foreign_lock(this); }
  ~FakeLock() override { set_foreign_lock(nullptr); }
  void* give_up() noexcept override {
    if (!held) return nullptr;
    calls_.emplace_back("give up");
    held = false;
    return this;
  }
  void take_back(void* given_up) noexcept override {
    EXPECT_EQ(given_up, this);
    calls_.emplace_back("take back");
    held = true;
  }
  bool held = true;

 private:
  std::vector<std::string>& calls_;
};

// A lock of the recorder.
class OwnLock {
 public:
  explicit OwnLock(std::vector<std::string>& calls) : calls_(calls) { calls_.emplace_back("lock"); }
  ~OwnLock() { calls_.emplace_back("unlock"); }

 private:
  std::vector<std::string>& calls_;
};

TEST(ForeignLock, ComesBackAfterTheLocksTakenBehindTheRegion) {
  std::vector<std::string> calls;
  FakeLock foreign(calls);
  {
    const ForeignLockRegion region;
    const OwnLock own(calls);
    ForeignLockRegion::give_up();
    ForeignLockRegion::give_up();
  }
  EXPECT_THAT(calls, ElementsAre("lock", "give up", "unlock", "take back"));
  EXPECT_TRUE(foreign.held);
}

TEST(ForeignLock, IsLeftAloneByThreadsThatDoNotHoldItOrDoNotWait) {
  std::vector<std::string> calls;
  FakeLock foreign(calls);
  { const ForeignLockRegion never_waits; }
  ForeignLockRegion::give_up();  // outside of a region
  foreign.held = false;
  {
    const ForeignLockRegion region;
    ForeignLockRegion::give_up();
  }
  EXPECT_THAT(calls, IsEmpty());
}

TEST(ForeignLock, WithoutOneAWaitIsAWait) {
  const ForeignLockRegion region;
  ForeignLockRegion::give_up();
}

}  // namespace
}  // namespace mindtorch::record
