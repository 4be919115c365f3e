// The two ends of a call.
#include "tests/doubles/cupti/api_call.h"

#include <utility>

#include "tests/doubles/cupti/library.h"

namespace cupti_double {
namespace {

constexpr abi::Result kFine = abi::kSuccess;
thread_local abi::Result next_result = abi::kSuccess;

void tell(abi::ApiSite site, std::uint32_t domain, std::uint32_t callback_id, std::uint32_t correlation, const abi::Result& result,
          std::uint64_t& correlation_data) {
  const char* name = library().function_name(domain, callback_id);
  const abi::CallbackData data{.site = site,
                               .padding = 0,
                               .function_name = name != nullptr ? name : "",
                               .function_params = nullptr,
                               .function_return_value = &result,
                               .symbol_name = nullptr,
                               .context = nullptr,
                               .context_uid = 1,
                               .padding2 = 0,
                               .correlation_data = &correlation_data,
                               .correlation_id = correlation};
  library().call_back(domain, callback_id, &data);
}

}  // namespace

ApiCall::ApiCall(std::uint32_t domain, std::uint32_t callback_id)
    : domain_(domain),
      callback_id_(callback_id),
      correlation_(library().next_correlation()),
      result_(std::exchange(next_result, abi::kSuccess)),
      start_(monotonic_now()) {
  tell(abi::kApiEnter, domain_, callback_id_, correlation_, result_, correlation_data_);
}

ApiCall::~ApiCall() {
  tell(abi::kApiExit, domain_, callback_id_, correlation_, result_, correlation_data_);
  library().write_call(domain_, callback_id_, start_, monotonic_now(), correlation_, result_);
}

void ApiCall::fail_next(abi::Result result) { next_result = result; }

InnerCall::InnerCall(std::uint32_t callback_id, std::uint32_t correlation) : callback_id_(callback_id), correlation_(correlation) {
  tell(abi::kApiEnter, abi::kDriverApi, callback_id_, correlation_, kFine, correlation_data_);
}

InnerCall::~InnerCall() { tell(abi::kApiExit, abi::kDriverApi, callback_id_, correlation_, kFine, correlation_data_); }

}  // namespace cupti_double
