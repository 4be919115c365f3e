// NameTable: the names of the process and their ids. Internal to record.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "mindtorch/trace/event.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::record {

// Any thread may use it. A name is never removed.
class NameTable {
 public:
  trace::NameId intern(std::string_view text);
  // The reference is valid for the life of the table.
  const std::string& text(trace::NameId id);
  std::size_t size() const { return count_.load(std::memory_order_acquire); }

  // For fork(): the child must not inherit a table that another thread was changing.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::deque<std::string> texts_{""};  // a deque never moves its elements
  trace::IdTable ids_;                 // of all texts but the empty one; a node per text would cost a cache miss for each look-up
  std::atomic<std::size_t> count_{1};
};

// The table of the process. It is never destroyed, because threads may record after static destructors ran.
NameTable& name_table();

}  // namespace mindtorch::record
