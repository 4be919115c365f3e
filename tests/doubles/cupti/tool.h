// A tool that uses the library: who it is, what it has enabled, and its buffers. The users of the classic interface are one tool to the
// library; from 13.3 on each subscriber is one of its own.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "tests/doubles/cupti/delivery.h"
#include "tests/doubles/cupti/layouts.h"

namespace cupti_double {

using Function = std::pair<std::uint32_t, std::uint32_t>;  // domain, callback id

// What does not guard itself is guarded by the library's lock.
struct Tool {
  Layouts layouts;
  Delivery delivery{layouts};
  bool is_subscribed = false;
  std::string name;
  abi::CallbackFunction callback = nullptr;
  void* user = nullptr;
  bool is_user_defined = false;
  bool has_system_thread_ids = false;
  std::set<std::uint32_t> kinds;
  std::set<std::uint32_t> domains;        // whose callbacks it wants
  std::set<Function> callbacks;           // others that it wants
  std::set<Function> unwanted_callbacks;  // of its domains
  std::set<Function> disabled_functions;

  bool wants(const Function& function) const {
    return callbacks.contains(function) || (domains.contains(function.first) && !unwanted_callbacks.contains(function));
  }
  void forget_callbacks() {
    domains.clear();
    callbacks.clear();
    unwanted_callbacks.clear();
  }
  // As if it had never been there, except for buffers that it has yet to get back.
  void forget() {
    is_subscribed = is_user_defined = has_system_thread_ids = false;
    callback = nullptr;
    user = nullptr;
    kinds.clear();
    forget_callbacks();
    disabled_functions.clear();
  }
};

}  // namespace cupti_double
