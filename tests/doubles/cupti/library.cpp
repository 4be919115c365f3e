// Subscribers, what is enabled, and the records of calls.
#include "tests/doubles/cupti/library.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cupti_double {
namespace {

// The one subscriber's handle; only its address matters.
int subscriber_handle;

void copy_name(abi::SubscriberParams* params, const std::string& name) {
  if (params == nullptr || params->old_subscriber_name == nullptr || params->old_subscriber_size == 0) return;
  const std::size_t length = std::min(name.size(), params->old_subscriber_size - 1);
  std::memcpy(params->old_subscriber_name, name.data(), length);
  params->old_subscriber_name[length] = '\0';
}

}  // namespace

Library& library() {
  static auto& one = *new Library();  // clients may use it until the process has ended
  return one;
}

void report_violation(const std::string& sentence) { library().add_violation(sentence); }

abi::Result Library::subscribe(abi::Subscriber* subscriber, abi::CallbackFunction callback, void* user, abi::SubscriberParams* params) {
  std::lock_guard lock(mutex_);
  if (subscriber == nullptr || (params != nullptr && params->struct_size < sizeof(abi::SubscriberParams))) return abi::kInvalidParameter;
  if (!other_subscriber_.empty() || user_ != nullptr || callback_ != nullptr) {
    copy_name(params, other_subscriber_.empty() ? subscriber_name_ : other_subscriber_);
    return abi::kMultipleSubscribersNotSupported;
  }
  callback_ = callback;
  user_ = user;
  subscriber_name_ = std::string("CUPTI for ") + (params != nullptr && params->subscriber_name != nullptr ? params->subscriber_name : "");
  *subscriber = &subscriber_handle;
  return abi::kSuccess;
}

abi::Result Library::unsubscribe(abi::Subscriber subscriber) {
  std::lock_guard lock(mutex_);
  if (subscriber != &subscriber_handle || callback_ == nullptr) {
    add_violation("a client unsubscribed that was not subscribed");
    return abi::kInvalidParameter;
  }
  callback_ = nullptr;
  user_ = nullptr;
  enabled_callbacks_.clear();
  return abi::kSuccess;
}

abi::Result Library::enable_callback(bool enable, abi::Subscriber subscriber, std::uint32_t domain, std::uint32_t callback_id) {
  std::lock_guard lock(mutex_);
  if (subscriber != &subscriber_handle || callback_ == nullptr) return abi::kInvalidParameter;
  if (enable) {
    enabled_callbacks_.insert({domain, callback_id});
  } else {
    enabled_callbacks_.erase({domain, callback_id});
  }
  return abi::kSuccess;
}

void Library::set_other_subscriber(const char* name) {
  std::lock_guard lock(mutex_);
  other_subscriber_ = name != nullptr ? name : "";
}

void Library::call_back(std::uint32_t domain, std::uint32_t callback_id, const void* data) {
  abi::CallbackFunction callback = nullptr;
  void* user = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!enabled_callbacks_.contains({domain, callback_id})) return;
    callback = callback_;
    user = user_;
  }
  if (callback != nullptr) callback(user, domain, callback_id, data);
}

bool Library::is_enabled(std::uint32_t kind) const {
  std::lock_guard lock(mutex_);
  return enabled_kinds_.contains(kind);
}

void Library::enable(std::uint32_t kind, bool on) {
  std::lock_guard lock(mutex_);
  if (on) {
    enabled_kinds_.insert(kind);
  } else {
    enabled_kinds_.erase(kind);
  }
}

bool Library::is_function_enabled(std::uint32_t domain, std::uint32_t callback_id) const {
  std::lock_guard lock(mutex_);
  return !disabled_functions_.contains({domain, callback_id});
}

void Library::enable_function(std::uint32_t domain, std::uint32_t callback_id, bool on) {
  std::lock_guard lock(mutex_);
  if (on) {
    disabled_functions_.erase({domain, callback_id});
  } else {
    disabled_functions_.insert({domain, callback_id});
  }
}

std::uint32_t Library::thread_id() const {
  if (system_thread_ids_) return static_cast<std::uint32_t>(syscall(SYS_gettid));
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(reinterpret_cast<void*>(pthread_self())));
}

void Library::reserve_correlations_up_to(std::uint32_t last) {
  std::uint32_t known = last_correlation_;
  while (known < last && !last_correlation_.compare_exchange_weak(known, last)) {
  }
}

void Library::write_call(std::uint32_t domain, std::uint32_t callback_id, std::int64_t start, std::int64_t end, std::uint32_t correlation) {
  const std::uint32_t kind = domain == abi::kRuntimeApi ? abi::kRuntime : abi::kDriver;
  if (!is_enabled(kind) || !is_function_enabled(domain, callback_id)) return;
  const abi::ApiRecord record{.kind = kind,
                              .callback_id = callback_id,
                              .start = clock.from_monotonic(start),
                              .end = clock.from_monotonic(end),
                              .process_id = static_cast<std::uint32_t>(getpid()),
                              .thread_id = thread_id(),
                              .correlation_id = correlation,
                              .return_value = 0};
  delivery.append(static_cast<std::uint64_t>(syscall(SYS_gettid)), record_bytes(record, version()));
}

void Library::set_function_name(std::uint32_t domain, std::uint32_t callback_id, const std::string& name) {
  const char* kept = keep(name);
  std::lock_guard lock(mutex_);
  function_names_[{domain, callback_id}] = kept;
}

const char* Library::function_name(std::uint32_t domain, std::uint32_t callback_id) {
  static const std::map<Function, const char*> known = {
      {{abi::kRuntimeApi, 10}, "cudaGetLastError_v3020"},
      {{abi::kRuntimeApi, 17}, "cudaGetDevice_v3020"},
      {{abi::kRuntimeApi, 41}, "cudaMemcpyAsync_v3020"},
      {{abi::kRuntimeApi, 51}, "cudaMemsetAsync_v3020"},
      {{abi::kRuntimeApi, 131}, "cudaStreamSynchronize_v3020"},
      {{abi::kRuntimeApi, 161}, "cudaMemcpyPeerAsync_v4000"},
      {{abi::kRuntimeApi, 165}, "cudaDeviceSynchronize_v3020"},
      {{abi::kRuntimeApi, 211}, "cudaLaunchKernel_v7000"},
      {{abi::kRuntimeApi, 311}, "cudaGraphLaunch_v10000"},
      {{abi::kRuntimeApi, 314}, "cudaGraphDestroy_v10000"},
      {{abi::kRuntimeApi, 315}, "cudaStreamBeginCapture_v10000"},
      {{abi::kRuntimeApi, 319}, "cudaStreamEndCapture_v10000"},
      {{abi::kRuntimeApi, 418}, "cudaGraphInstantiateWithFlags_v11040"},
      {{abi::kDriverApi, 307}, "cuLaunchKernel"},
      {{abi::kDriverApi, 514}, "cuGraphLaunch"},
      {{abi::kDriverApi, 652}, "cuLaunchKernelEx"},
  };
  std::lock_guard lock(mutex_);
  if (const auto found = function_names_.find({domain, callback_id}); found != function_names_.end()) return found->second;
  const auto found = known.find({domain, callback_id});
  return found == known.end() ? nullptr : found->second;
}

void Library::reset() {
  reset_base();
  delivery.reset();
  device.reset();
  graphs.reset();
  clock.set(0, 0);
  version_ = 130001;
  last_correlation_ = 0;
  system_thread_ids_ = false;
  std::lock_guard lock(mutex_);
  callback_ = nullptr;
  user_ = nullptr;
  other_subscriber_.clear();
  enabled_callbacks_.clear();
  enabled_kinds_.clear();
  disabled_functions_.clear();
  function_names_.clear();
}

}  // namespace cupti_double
