// A plain client of libcupti for the tests of the double: it keeps all records and graph callbacks that it gets.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/doubles/cupti/records.h"

// The functions of the library, as a client declares them.
#define CUPTI_DOUBLE_DECLARE(name, arguments) extern "C" mindtorch::sources::cupti::Result name arguments;
namespace mindtorch::sources::cupti {
MINDTORCH_CUPTI_FUNCTIONS(CUPTI_DOUBLE_DECLARE, CUPTI_DOUBLE_DECLARE)
}
#undef CUPTI_DOUBLE_DECLARE

namespace cupti_double {

using namespace mindtorch::sources::cupti;  // the functions above

class Client {
 public:
  void subscribe() {
    current() = this;
    abi::SubscriberParams params{sizeof params, "client", nullptr, 0};
    cuptiSubscribe_v2(&subscriber_, &on_callback, this, &params);
    cuptiActivityRegisterCallbacks(&request, &complete);
    cuptiSetThreadIdType(abi::kSystemThreadId);
  }
  void enable(std::initializer_list<std::uint32_t> kinds) {
    for (const std::uint32_t kind : kinds) cuptiActivityEnable(kind);
  }
  void watch_graphs() {
    for (const std::uint32_t id : {abi::kGraphNodeCreated, abi::kGraphNodeCloned})
      cuptiEnableCallback(1, subscriber_, abi::kResourceDomain, id);
  }
  void refuse_buffers(bool refuse) { refuses_ = refuse; }
  void stop() { cuptiUnsubscribe(subscriber_); }

  std::vector<std::string> records() const {
    std::lock_guard lock(mutex_);
    return records_;
  }
  std::vector<std::string> take_records() {
    std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
  }
  std::vector<abi::KernelRecord> kernels() const { return of_kind<abi::KernelRecord>(abi::kConcurrentKernel); }
  std::vector<abi::ApiRecord> calls() const { return of_kind<abi::ApiRecord>(abi::kRuntime); }
  const std::vector<std::uint64_t>& created_nodes() const { return created_; }
  const std::map<std::uint64_t, std::uint64_t>& cloned_nodes() const { return cloned_; }

  static void on_callback(void* user, std::uint32_t, std::uint32_t callback_id, const void* data) {
    auto& client = *static_cast<Client*>(user);
    const auto& graph = *static_cast<const abi::GraphData*>(static_cast<const abi::ResourceData*>(data)->descriptor);
    std::uint64_t node = 0, original = 0;
    cuptiGetGraphNodeId(graph.node, &node);
    if (callback_id == abi::kGraphNodeCreated) {
      client.created_.push_back(node);
    } else {
      cuptiGetGraphNodeId(graph.original_node, &original);
      client.cloned_[node] = original;
    }
  }

 private:
  static constexpr std::size_t kBufferBytes = 4096;  // small, so that buffers are handed over while work goes on

  static Client*& current() {
    static Client* one = nullptr;
    return one;
  }
  static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    *buffer = current()->refuses_ ? nullptr : new std::uint8_t[kBufferBytes];
    *size = kBufferBytes;
    *max_records = 0;
  }
  static void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    abi::Activity* record = nullptr;
    std::uint32_t version = 0;
    cuptiGetVersion(&version);
    std::lock_guard lock(current()->mutex_);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == abi::kSuccess)
      current()->records_.emplace_back(reinterpret_cast<const char*>(record), record_size(record->kind, version));
    delete[] buffer;
  }
  template <class Record>
  std::vector<Record> of_kind(std::uint32_t kind) const {
    std::lock_guard lock(mutex_);
    std::vector<Record> found;
    for (const std::string& record : records_) {
      if (read_value<std::uint32_t>(record.data(), 0) == kind) found.push_back(read_value<Record>(record.data(), 0));
    }
    return found;
  }

  abi::Subscriber subscriber_ = nullptr;
  bool refuses_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> records_;
  std::vector<std::uint64_t> created_;
  std::map<std::uint64_t, std::uint64_t> cloned_;
};

}  // namespace cupti_double
