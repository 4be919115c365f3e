// A call of the runtime or of the driver by the program: CUPTI's callbacks at both ends, and the record.
#pragma once

#include <cstdint>

#include "tests/doubles/cupti/records.h"

namespace cupti_double {

class ApiCall {
 public:
  // From here to the destruction, on this thread.
  ApiCall(std::uint32_t domain, std::uint32_t callback_id);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  std::uint32_t correlation() const { return correlation_; }
  // A call that a test has told to fail does nothing.
  bool fails() const { return result_ != abi::kSuccess; }
  std::int64_t start() const { return start_; }
  void set_result(abi::Result result) { result_ = result; }

  // The next call of this thread returns this.
  static void fail_next(abi::Result result);

 private:
  const std::uint32_t domain_, callback_id_, correlation_;
  abi::Result result_;
  std::int64_t start_;  // CLOCK_MONOTONIC
  std::uint64_t correlation_data_ = 0;
};

// The call of the driver that the runtime makes within a call of its own: it has that one's correlation, and no record.
class InnerCall {
 public:
  InnerCall(std::uint32_t callback_id, std::uint32_t correlation);
  ~InnerCall();
  InnerCall(const InnerCall&) = delete;
  InnerCall& operator=(const InnerCall&) = delete;

 private:
  const std::uint32_t callback_id_, correlation_;
  std::uint64_t correlation_data_ = 0;
};

}  // namespace cupti_double
