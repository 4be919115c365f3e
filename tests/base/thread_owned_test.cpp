// One value a thread, made late and destroyed with the thread.
#include "mindtorch/base/thread_owned.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace mindtorch {
namespace {

std::atomic<int> alive = 0;

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  int value = 7;
};

TEST(ThreadOwned, IsMadeOnFirstUseAndStaysTheSame) {
  std::thread([] {
    EXPECT_EQ(alive, 0);
    Counted* const first = ThreadOwned<Counted>::get();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->value, 7);
    first->value = 8;
    EXPECT_EQ(ThreadOwned<Counted>::get(), first);
    EXPECT_EQ(ThreadOwned<Counted>::get()->value, 8);
    EXPECT_EQ(alive, 1);
  }).join();
}

TEST(ThreadOwned, IsDestroyedWithItsThread) {
  std::thread([] { ThreadOwned<Counted>::get(); }).join();
  EXPECT_EQ(alive, 0);
}

TEST(ThreadOwned, DiffersBetweenThreads) {
  std::thread([] {
    const Counted* const mine = ThreadOwned<Counted>::get();
    std::thread([mine] { EXPECT_NE(ThreadOwned<Counted>::get(), mine); }).join();
  }).join();
}

// Destroyed after the value, because it was made before it.
struct Late {
  ~Late() { seen = ThreadOwned<Counted>::get(); }
  static inline Counted* seen = nullptr;
};

TEST(ThreadOwned, IsNotMadeAgainWhileItsThreadEnds) {
  static Counted marker;
  Late::seen = &marker;
  std::thread([] {
    static thread_local Late late;
    static_cast<void>(late);
    ThreadOwned<Counted>::get();
  }).join();
  EXPECT_EQ(Late::seen, nullptr);
}

}  // namespace
}  // namespace mindtorch
