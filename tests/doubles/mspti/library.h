// The state of a double: who has subscribed, what is enabled, and the parts that do the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stack>
#include <string>

#include "mindtorch/sources/mspti/mspti_abi.h"
#include "tests/doubles/library_base.h"
#include "tests/doubles/mspti/delivery.h"
#include "tests/doubles/mspti/feed.h"

namespace mspti_double {

// What a client does that MSPTI does not allow.
void report_violation(const std::string& sentence);

class Library : public doubles::LibraryBase {
 public:
  Delivery delivery;
  Feed feed;
  std::atomic<int> synchronizing = 0;  // calls of aclrtSynchronizeDevice under way; reset() waits for them

  abi::Result subscribe(abi::Subscriber* subscriber);
  abi::Result unsubscribe(abi::Subscriber subscriber);
  void set_other_subscriber(bool is_there);

  // The kinds that this version knows.
  bool is_known_kind(std::uint32_t kind) const;
  bool is_enabled(std::uint32_t kind) const;
  abi::Result enable(std::uint32_t kind);
  abi::Result disable(std::uint32_t kind);

  void reset();

 private:
  mutable std::mutex mutex_;
  bool is_subscribed_ = false;
  bool has_other_subscriber_ = false;
  std::set<std::uint32_t> enabled_kinds_;
};

Library& library();

}  // namespace mspti_double
