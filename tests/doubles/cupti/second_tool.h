// A second tool beside the source that is tested: it records kernels through an interface of its own, with two fields each.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "mindtorch/sources/cupti/cupti_abi_v2.h"

// The functions of the library, as a client declares them.
#define CUPTI_DOUBLE_DECLARE(name, arguments) extern "C" mindtorch::sources::cupti::Result name arguments;
namespace mindtorch::sources::cupti {
MINDTORCH_CUPTI_SUBSCRIBER_FUNCTIONS(CUPTI_DOUBLE_DECLARE)
CUPTI_DOUBLE_DECLARE(cuptiSubscribe_v2, (Subscriber * subscriber, CallbackFunction callback, void* user, SubscriberParams* params))
CUPTI_DOUBLE_DECLARE(cuptiUnsubscribe, (Subscriber subscriber))
CUPTI_DOUBLE_DECLARE(cuptiActivityFlushAll, (std::uint32_t flag))
}  // namespace mindtorch::sources::cupti
#undef CUPTI_DOUBLE_DECLARE

namespace cupti_double {

class SecondTool {
 public:
  bool subscribe(bool shares) {
    using namespace mindtorch::sources::cupti;
    kernels() = 0;
    SharedSubscriberParams params{sizeof params, "second tool", nullptr, 0, shares, {}};
    if (cuptiSubscribe_v2(&subscriber_, &ignore, nullptr, reinterpret_cast<SubscriberParams*>(&params)) != kSuccess) return false;
    std::uint8_t on = 1;
    std::size_t size = sizeof on;
    cuptiActivitySetAttribute_v2(subscriber_, kUserDefinedRecords, &size, &on);
    cuptiActivityRegisterCallbacks_v2(subscriber_, &request, &complete);
    std::array<std::int32_t, 2> fields = {kFieldOfKind, kKernelStart};
    ActivityConfig config{offsetof(ActivityConfig, kind_options), {sizeof(FieldSelection), fields.size(), fields.data()}, nullptr};
    return cuptiActivityEnable_v2(subscriber_, kConcurrentKernel, &config) == kSuccess;
  }
  // The number of kernels that it got.
  std::uint64_t stop() {
    using namespace mindtorch::sources::cupti;
    cuptiActivityFlushAll(kFlushForced);
    cuptiUnsubscribe(subscriber_);
    return kernels();
  }

 private:
  static constexpr std::size_t kBufferBytes = 4096;

  static std::atomic<std::uint64_t>& kernels() {
    static std::atomic<std::uint64_t> count{0};
    return count;
  }
  static void ignore(void*, std::uint32_t, std::uint32_t, const void*) {}
  static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, mindtorch::sources::cupti::RequestInfo*) {
    *buffer = new std::uint8_t[kBufferBytes];
    *size = kBufferBytes;
    *max_records = 0;
  }
  static void complete(std::uint8_t* buffer, std::size_t, std::size_t valid, mindtorch::sources::cupti::CompleteInfo* info) {
    kernels() += valid / info->record_layouts[mindtorch::sources::cupti::kConcurrentKernel]->record_size;
    delete[] buffer;
  }

  mindtorch::sources::cupti::Subscriber subscriber_ = nullptr;
};

}  // namespace cupti_double
