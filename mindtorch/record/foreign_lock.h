// ForeignLock: the lock of another language (Python's GIL) that a thread may hold while it records.
//
// A thread that waits for the spill file must not hold it: whoever writes the file may need it to read call stacks.
#pragma once

#include <mutex>

#include "mindtorch/base/export.h"

namespace mindtorch::record {

class MINDTORCH_EXPORT ForeignLock {
 public:
  virtual ~ForeignLock() = default;
  // Gives the lock up if this thread holds it; returns what take_back() needs, null if it did not.
  virtual void* give_up() noexcept = 0;
  virtual void take_back(void* given_up) noexcept = 0;
};

// Installs the process's foreign lock (null removes it); it must outlive every session. Not while a session runs.
MINDTORCH_EXPORT void set_foreign_lock(ForeignLock* lock);

// Stands before the first lock of the recorder that a call takes. What is given up while it lives comes back when it ends, after the locks
// taken behind it are released: a thread never waits for the foreign lock with one of ours in its hands.
class MINDTORCH_EXPORT ForeignLockRegion {
 public:
  ForeignLockRegion() noexcept;
  ~ForeignLockRegion();
  ForeignLockRegion(const ForeignLockRegion&) = delete;
  ForeignLockRegion& operator=(const ForeignLockRegion&) = delete;

  // Called before this thread waits. Does nothing outside of a region, or if the lock was given up already.
  static void give_up() noexcept;

 private:
  ForeignLockRegion* const outer_;
  void* given_up_ = nullptr;
};

// Locks `mutex` inside a region. If another thread has it, the foreign lock is given up for the wait: that thread may itself wait for
// somebody who needs it.
inline std::unique_lock<std::mutex> lock_patiently(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) {
    ForeignLockRegion::give_up();
    lock.lock();
  }
  return lock;
}

}  // namespace mindtorch::record
