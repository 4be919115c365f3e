// Subscribers, what is enabled, and the records of calls.
#include "tests/doubles/cupti/library.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cupti_double {
namespace {

void copy_name(abi::SubscriberParams* params, const std::string& name) {
  if (params == nullptr || params->old_subscriber_name == nullptr || params->old_subscriber_size == 0) return;
  const std::size_t length = std::min(name.size(), params->old_subscriber_size - 1);
  std::memcpy(params->old_subscriber_name, name.data(), length);
  params->old_subscriber_name[length] = '\0';
}

std::string full_name(const abi::SubscriberParams* params) {
  return std::string("CUPTI for ") + (params != nullptr && params->subscriber_name != nullptr ? params->subscriber_name : "");
}

std::uint32_t thread_id(bool of_the_system) {
  if (of_the_system) return static_cast<std::uint32_t>(syscall(SYS_gettid));
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(reinterpret_cast<void*>(pthread_self())));
}

}  // namespace

Library& library() {
  static auto& one = *new Library();  // clients may use it until the process has ended
  return one;
}

std::uint32_t Library::initial_version() {
  const char* chosen = std::getenv("CUPTI_DOUBLE_VERSION");
  return chosen != nullptr ? static_cast<std::uint32_t>(std::atoi(chosen)) : 130001;
}

void report_violation(const std::string& sentence) { library().add_violation(sentence); }

abi::Result Library::refuse(abi::SubscriberParams* params, const std::string& name) {
  copy_name(params, name);
  return abi::kMultipleSubscribersNotSupported;
}

abi::Result Library::subscribe(abi::Subscriber* subscriber, abi::CallbackFunction callback, void* user, abi::SubscriberParams* params) {
  std::lock_guard lock(mutex_);
  if (subscriber == nullptr || (params != nullptr && params->struct_size < sizeof(abi::SubscriberParams))) return abi::kInvalidParameter;
  if (!other_subscriber_.empty()) return refuse(params, other_subscriber_);
  for (const Tool& tool : tools_)
    if (tool.is_subscribed) return refuse(params, tool.name);
  Tool& tool = tools_[0];
  tool.is_subscribed = true;
  tool.callback = callback;
  tool.user = user;
  tool.name = full_name(params);
  *subscriber = &tool;
  return abi::kSuccess;
}

Tool* Library::free_tool() {
  const auto free = std::find_if(tools_.begin() + 1, tools_.end(), [](const Tool& tool) { return !tool.is_subscribed; });
  return free != tools_.end() ? &*free : nullptr;
}

// All subscribers or none of them use the newer interface, and all of them must want to share the library.
abi::Result Library::subscribe_shared(abi::Subscriber* subscriber, abi::CallbackFunction callback, void* user,
                                      abi::SubscriberParams* params) {
  std::lock_guard lock(mutex_);
  if (subscriber == nullptr || (params != nullptr && params->struct_size < sizeof(abi::SubscriberParams))) return abi::kInvalidParameter;
  const bool shares = params != nullptr && params->struct_size >= sizeof(abi::SharedSubscriberParams) &&
                      reinterpret_cast<const abi::SharedSubscriberParams*>(params)->allow_multiple_subscribers != 0;
  if (!other_subscriber_.empty()) return refuse(params, other_subscriber_);
  if (!tools_[0].kinds.empty()) return refuse(params, "");
  bool is_first = true;
  for (const Tool& tool : tools_) {
    if (!tool.is_subscribed) continue;
    if (&tool == &tools_[0] || !shares || !may_share_) return refuse(params, tool.name);
    if (is_first) copy_name(params, tool.name);
    is_first = false;
  }
  Tool* tool = free_tool();
  if (tool == nullptr) return abi::kOutOfMemory;
  if (is_first) may_share_ = shares;
  tool->is_subscribed = true;
  tool->callback = callback;
  tool->user = user;
  tool->name = full_name(params);
  *subscriber = tool;
  return abi::kSuccess;
}

abi::Result Library::unsubscribe(abi::Subscriber subscriber) {
  Tool* tool = find(subscriber, "cuptiUnsubscribe");
  if (tool == nullptr) return abi::kInvalidParameter;
  std::lock_guard lock(mutex_);
  if (tool == &tools_[0]) {
    // What the classic interface has enabled belongs to the process.
    tool->is_subscribed = false;
    tool->callback = nullptr;
    tool->user = nullptr;
    tool->forget_callbacks();
  } else {
    tool->forget();
  }
  if (std::ranges::none_of(tools_, [](const Tool& each) { return each.is_subscribed; })) has_whole_graphs_ = false;
  return abi::kSuccess;
}

abi::Result Library::enable_callback(bool enable, abi::Subscriber subscriber, std::uint32_t domain, std::uint32_t callback_id) {
  Tool* tool = find(subscriber, "cuptiEnableCallback");
  if (tool == nullptr) return abi::kInvalidParameter;
  std::lock_guard lock(mutex_);
  if (enable) {
    tool->callbacks.insert({domain, callback_id});
    tool->unwanted_callbacks.erase({domain, callback_id});
  } else {
    tool->callbacks.erase({domain, callback_id});
    tool->unwanted_callbacks.insert({domain, callback_id});
  }
  return abi::kSuccess;
}

abi::Result Library::enable_domain(bool enable, abi::Subscriber subscriber, std::uint32_t domain) {
  Tool* tool = find(subscriber, "cuptiEnableDomain");
  if (tool == nullptr) return abi::kInvalidParameter;
  std::lock_guard lock(mutex_);
  std::erase_if(tool->callbacks, [domain](const Function& each) { return each.first == domain; });
  std::erase_if(tool->unwanted_callbacks, [domain](const Function& each) { return each.first == domain; });
  if (enable) {
    tool->domains.insert(domain);
  } else {
    tool->domains.erase(domain);
  }
  return abi::kSuccess;
}

void Library::set_other_subscriber(const char* name) {
  std::lock_guard lock(mutex_);
  other_subscriber_ = name != nullptr ? name : "";
}

std::size_t Library::subscribers() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(tools_, [](const Tool& tool) { return tool.is_subscribed; }));
}

void Library::call_back(std::uint32_t domain, std::uint32_t callback_id, const void* data) {
  std::vector<std::pair<abi::CallbackFunction, void*>> wanted;
  {
    std::lock_guard lock(mutex_);
    for (const Tool& tool : tools_)
      if (tool.callback != nullptr && tool.wants({domain, callback_id})) wanted.emplace_back(tool.callback, tool.user);
  }
  for (const auto& [callback, user] : wanted) callback(user, domain, callback_id, data);
}

bool Library::has_shared_subscribers() const {
  std::lock_guard lock(mutex_);
  return std::any_of(tools_.begin() + 1, tools_.end(), [](const Tool& tool) { return tool.is_subscribed; });
}

Tool& Library::classic(const char* function) {
  if (has_shared_subscribers()) add_violation(std::string(function) + " was called beside the interface of subscribers");
  return tools_[0];
}

Tool* Library::find(abi::Subscriber subscriber, const char* function) {
  std::lock_guard lock(mutex_);
  for (Tool& tool : tools_)
    if (&tool == subscriber && tool.is_subscribed) return &tool;
  add_violation(std::string(function) + " was called for somebody who has not subscribed");
  return nullptr;
}

void Library::reserve_correlations_up_to(std::uint32_t last) {
  std::uint32_t known = last_correlation_;
  while (known < last && !last_correlation_.compare_exchange_weak(known, last)) {
  }
}

void Library::write_call(std::uint32_t domain, std::uint32_t callback_id, std::int64_t start, std::int64_t end, std::uint32_t correlation,
                         abi::Result result) {
  const Tools wanted = call_wanted_by(domain, callback_id);
  for (std::size_t i = 0; i < kTools; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    bool has_system_thread_ids = false;
    {
      std::lock_guard lock(mutex_);
      has_system_thread_ids = tools_[i].has_system_thread_ids;
    }
    const abi::ApiRecord record{.kind = domain == abi::kRuntimeApi ? abi::kRuntime : abi::kDriver,
                                .callback_id = callback_id,
                                .start = clock.from_monotonic(start),
                                .end = clock.from_monotonic(end),
                                .process_id = static_cast<std::uint32_t>(getpid()),
                                .thread_id = thread_id(has_system_thread_ids),
                                .correlation_id = correlation,
                                .return_value = static_cast<std::uint32_t>(result)};
    tools_[i].delivery.append(static_cast<std::uint64_t>(syscall(SYS_gettid)), record_bytes(record, version()));
  }
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
      {{abi::kRuntimeApi, 135}, "cudaEventRecord_v3020"},
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
  cupti_double_reset_sampling();
  reset_base();
  for (Tool& tool : tools_) {
    tool.delivery.reset();
    tool.layouts.reset();
  }
  device.reset();
  graphs.reset();
  clock.set(0, 0);
  set_layouts({});
  event_times = false;
  version_ = initial_version();
  last_correlation_ = 0;
  std::lock_guard lock(mutex_);
  for (Tool& tool : tools_) tool.forget();
  was_classic_ = may_share_ = has_whole_graphs_ = false;
  other_subscriber_.clear();
  function_names_.clear();
}

}  // namespace cupti_double
