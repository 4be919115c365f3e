// Subscribers, and what is enabled.
#include "tests/doubles/mspti/library.h"

#include <cstdlib>
#include <cstring>

namespace mspti_double {
namespace {

// The one subscriber's handle; only its address matters.
int subscriber_handle;

// The vendor's library looks for its name in the variable, and does not ask whether the loader has found the file.
bool believes_to_be_preloaded() {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload != nullptr && std::strstr(preload, "libmspti.so") != nullptr;
}

// From 26.2 on, the runtime itself reports copies, memsets and allocations.
bool needs_preload(std::uint32_t kind) {
  const bool is_of_memory = kind == abi::kMemory || kind == abi::kMemset || kind == abi::kMemcpy;
  return kind == abi::kHccl || (is_of_memory && MSPTI_DOUBLE_VERSION < 262);
}

}  // namespace

Library& library() {
  static auto& one = *new Library();  // clients may use it until the process has ended
  return one;
}

void report_violation(const std::string& sentence) { library().add_violation(sentence); }

abi::Result Library::subscribe(abi::Subscriber* subscriber) {
  {
    std::lock_guard lock(mutex_);
    if (subscriber == nullptr) return abi::kInvalidParameter;
    if (is_subscribed_ || has_other_subscriber_ || std::getenv("MSPTI_DOUBLE_OTHER_SUBSCRIBER") != nullptr)
      return abi::kMultipleSubscribersNotSupported;
    is_subscribed_ = true;
    *subscriber = &subscriber_handle;
  }
  feed.connect();
  return abi::kSuccess;
}

abi::Result Library::unsubscribe(abi::Subscriber subscriber) {
  {
    std::lock_guard lock(mutex_);
    if (subscriber != &subscriber_handle || !is_subscribed_) {
      add_violation("a client unsubscribed that was not subscribed");
      return abi::kInvalidParameter;
    }
    is_subscribed_ = false;
    enabled_kinds_.clear();
  }
  feed.disconnect();
  delivery.hand_back_hoard();
  return abi::kSuccess;
}

void Library::set_other_subscriber(bool is_there) {
  std::lock_guard lock(mutex_);
  has_other_subscriber_ = is_there;
}

bool Library::is_known_kind(std::uint32_t kind) const {
  if (abi::record_size(kind) == 0) return false;
  return MSPTI_DOUBLE_VERSION >= 260 || kind <= abi::kCommunication;
}

bool Library::is_enabled(std::uint32_t kind) const {
  std::lock_guard lock(mutex_);
  return enabled_kinds_.contains(kind);
}

abi::Result Library::enable(std::uint32_t kind) {
  if (!is_known_kind(kind)) return abi::kInvalidParameter;
  if (MSPTI_DOUBLE_VERSION >= 260 && needs_preload(kind) && !believes_to_be_preloaded()) return abi::kWithoutPreload;
  {
    std::lock_guard lock(mutex_);
    if (!is_subscribed_) add_violation("a kind was enabled without a subscription");
    if (!delivery.is_registered()) add_violation("a kind was enabled before callbacks were registered");
    // Before 26.0 the library notices devices only through its wrapper of aclrtSetDevice: it accepts the kind and records nothing.
    if (MSPTI_DOUBLE_VERSION >= 260 || believes_to_be_preloaded()) enabled_kinds_.insert(kind);
  }
  feed.collect();
  return abi::kSuccess;
}

abi::Result Library::disable(std::uint32_t kind) {
  {
    std::lock_guard lock(mutex_);
    enabled_kinds_.erase(kind);
  }
  feed.collect();
  feed.pull(true);
  return abi::kSuccess;
}

void Library::reset() {
  // A source that has given up waiting leaves a call behind, which uses the device until it ends.
  for (int calls_left = synchronizing; calls_left != 0; calls_left = synchronizing) synchronizing.wait(calls_left);
  reset_base();
  feed.reset();
  delivery.reset();
  std::lock_guard lock(mutex_);
  is_subscribed_ = false;
  has_other_subscriber_ = false;
  enabled_kinds_.clear();
}

}  // namespace mspti_double
