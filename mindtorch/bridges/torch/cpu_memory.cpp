// An allocator in front of torch's own. torch's profiler learns of memory only on threads that have been told of it; the allocator is one
// for all threads.
#include "mindtorch/bridges/torch/cpu_memory.h"

#include <c10/core/CPUAllocator.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <limits>
#include <memory>
#include <mutex>

#include "mindtorch/bridges/torch/allocation_table.h"
#include "mindtorch/record/hooks.h"

namespace mindtorch::torch_bridge {
namespace {

// Of the memory that was handed out while recording and has not been freed.
AllocationTable& live_memory() {
  static auto& table = *new AllocationTable;  // never destroyed: memory may be freed after static destructors ran
  return table;
}
// How many bytes these are. The lock gives the changes the order in which they are reported.
class LiveBytes {
 public:
  struct Change {
    record::MemoryMoment when;
    std::int64_t total;
  };
  Change add(std::int64_t bytes) noexcept {
    const std::lock_guard guard(lock_);
    total_ += bytes;
    return {order_.next(), total_};
  }
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }

 private:
  ShortLock lock_;
  std::int64_t total_ = 0;
  record::MemoryOrder order_;
};
constinit LiveBytes live_bytes;

c10::DeleterFnPtr own_deleter = nullptr;  // of torch's allocator; set once, before the first block is handed out

void report(const void* address, std::int64_t bytes) noexcept {
  const LiveBytes::Change change = live_bytes.add(bytes);
  record::record_memory(change.when, record::Device{}, address, bytes, change.total, 0);
}

void lock_for_fork() {
  live_memory().lock();
  live_bytes.lock();
}
void unlock_after_fork() {
  live_bytes.unlock();
  live_memory().unlock();
}

constinit thread_local bool at_work __attribute__((tls_model("initial-exec"))) = false;

// While torch's allocator works for ours on this thread. Blocks are never allocated inside an allocation, so calls do not nest.
struct AtWork {
  AtWork() noexcept { at_work = true; }
  ~AtWork() { at_work = false; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

void report_and_free(void* address) {
  if (const std::size_t bytes = live_memory().remove(address)) report(address, -static_cast<std::int64_t>(bytes));
  const AtWork guard;
  own_deleter(address);
}

// The end of a mapping of shared memory is reported even if its beginning was not. Torch reports it after the memory has been unmapped, and
// the end of a block of its allocator while the block is still there. It does not count mappings among what its allocator has handed out.
bool was_mapping(void* address, std::size_t allocated) {
  if (allocated != 0) return false;
  const int saved_errno = errno;
  unsigned char resident = 0;
  // An address that is not that of a page gives EINVAL, so it is not taken for a mapping.
  const bool unmapped = ::mincore(address, 1, &resident) != 0 && errno == ENOMEM;
  errno = saved_errno;
  return unmapped;
}

class WatchedAllocator final : public c10::Allocator {
 public:
  explicit WatchedAllocator(c10::Allocator* own) : own_(own) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr memory = allocate_or_report(bytes);
    // Always, so that raw_deleter() is true of every block: storages keep this allocator after the session.
    const bool ours = memory.compare_exchange_deleter(own_deleter, report_and_free);
    if (ours && bytes > 0 && record::wants(record::kMemory) && live_memory().insert(memory.get(), bytes))
      report(memory.get(), static_cast<std::int64_t>(bytes));
    return memory;
  }
  bool is_simple_data_ptr(const c10::DataPtr& memory) const override { return own_->is_simple_data_ptr(memory); }
  c10::DeleterFnPtr raw_deleter() const override { return report_and_free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { own_->copy_data(to, from, bytes); }

  c10::Allocator* own() const { return own_; }

 private:
  c10::DataPtr allocate_or_report(std::size_t bytes) {
    const AtWork guard;
    try {
      return own_->allocate(bytes);
    } catch (...) {
      record::record_instant(record::intern_cached("[OutOfMemory]"));
      throw;
    }
  }

  c10::Allocator* const own_;
};

WatchedAllocator* watched = nullptr;  // made once and never deleted: storages refer to it
std::uint8_t priority = 0;

// Torch allows an allocator to be replaced by one of the same or a higher priority. This finds the current priority, so that no later
// caller is kept out.
bool replace_allocator(c10::Allocator* by) noexcept {
  for (int p = 0; p <= std::numeric_limits<std::uint8_t>::max(); ++p) {
    priority = static_cast<std::uint8_t>(p);
    c10::SetAllocator(c10::DeviceType::CPU, by, priority);
    if (c10::GetAllocator(c10::DeviceType::CPU) == by) return true;
  }
  return false;
}

}  // namespace

bool is_watched_allocator_at_work() noexcept { return at_work; }

void report_cpu_memory(void* address, std::int64_t bytes, std::size_t allocated) noexcept {
  const std::size_t known = live_memory().remove(address);
  if (bytes < 0) {
    // Torch remembers sizes by address. What it says of a block that was freed unseen concerns another block.
    if (known != 0 || was_mapping(address, allocated)) report(address, bytes);
    return;
  }
  if (known != 0) live_bytes.add(-static_cast<std::int64_t>(known));  // of a block that was freed unseen
  if (live_memory().insert(address, static_cast<std::size_t>(bytes))) report(address, bytes);
}

const char* watch_cpu_memory() noexcept try {
  c10::Allocator* own = c10::GetAllocator(c10::DeviceType::CPU);
  if (own == watched) return nullptr;
  if (watched == nullptr) {
    own_deleter = own->raw_deleter();
    if (own_deleter == nullptr) return "the CPU allocator that torch uses has no plain deleter, so its memory cannot be watched";
    live_memory();  // is made here: where memory is freed, an exception would end the program
    auto made = std::make_unique<WatchedAllocator>(own);
    if (::pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork) != 0) return "out of memory";
    watched = made.release();
  }
  if (own != watched->own()) return "torch's CPU allocator was replaced after an earlier profile, and only the first one can be watched";
  return replace_allocator(watched) ? nullptr : "torch refused the allocator that would report its memory";
} catch (...) {
  return "out of memory";
}

void unwatch_cpu_memory() noexcept {
  if (watched == nullptr || c10::GetAllocator(c10::DeviceType::CPU) != watched) return;
  c10::SetAllocator(c10::DeviceType::CPU, watched->own(), priority);
}

}  // namespace mindtorch::torch_bridge
