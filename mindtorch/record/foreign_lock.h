// ForeignLock: the lock of another language (Python's GIL) that a thread may hold while it records.
//
// A thread that waits for the spill file must not hold it: the spill thread may need it to read call stacks.
#pragma once

#include <mutex>

#include "mindtorch/base/export.h"

namespace mindtorch::record {

class MINDTORCH_EXPORT ForeignLock {
 public:
  virtual ~ForeignLock() = default;
  // Releases the lock if this thread holds it. Returns the argument for take_back(), or null if the thread does not hold the lock.
  virtual void* give_up() noexcept = 0;
  virtual void take_back(void* given_up) noexcept = 0;
};

// Installs the process's foreign lock; null removes it. The lock must outlive every session. Must not be called while a session runs.
MINDTORCH_EXPORT void set_foreign_lock(ForeignLock* lock);

// Declare a region before the first lock of the recorder that a function takes. A foreign lock that is given up inside the region is taken
// back when the region ends, after the recorder's locks are released. Therefore a thread never waits for the foreign lock while it holds a
// lock of the recorder.
class MINDTORCH_EXPORT ForeignLockRegion {
 public:
  ForeignLockRegion() noexcept;
  ~ForeignLockRegion();
  ForeignLockRegion(const ForeignLockRegion&) = delete;
  ForeignLockRegion& operator=(const ForeignLockRegion&) = delete;

  // Gives up the foreign lock before this thread waits. Does nothing outside of a region, or if the lock was given up already.
  static void give_up() noexcept;

 private:
  ForeignLockRegion* const outer_;
  void* given_up_ = nullptr;
};

// Locks `mutex` inside a region. If another thread holds it, the foreign lock is given up during the wait, because that thread may itself
// be waiting for a thread that needs the foreign lock.
inline std::unique_lock<std::mutex> lock_patiently(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) {
    ForeignLockRegion::give_up();
    lock.lock();
  }
  return lock;
}

}  // namespace mindtorch::record
