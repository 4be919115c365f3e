// Gives up and takes back the lock of another language.
#include "mindtorch/record/foreign_lock.h"

#include <atomic>

namespace mindtorch::record {
namespace {

std::atomic<ForeignLock*> foreign_lock{nullptr};
constinit thread_local ForeignLockRegion* innermost = nullptr;

}  // namespace

void set_foreign_lock(ForeignLock* lock) { foreign_lock.store(lock, std::memory_order_release); }

ForeignLockRegion::ForeignLockRegion() noexcept : outer_(innermost) { innermost = this; }

ForeignLockRegion::~ForeignLockRegion() {
  innermost = outer_;
  if (given_up_ != nullptr) foreign_lock.load(std::memory_order_acquire)->take_back(given_up_);
}

void ForeignLockRegion::give_up() noexcept {
  ForeignLock* const lock = foreign_lock.load(std::memory_order_acquire);
  if (lock == nullptr || innermost == nullptr || innermost->given_up_ != nullptr) return;
  innermost->given_up_ = lock->give_up();
}

}  // namespace mindtorch::record
