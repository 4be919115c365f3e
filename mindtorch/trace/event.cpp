// Names of the vocabulary, as tables and files show them.
#include "mindtorch/trace/event.h"

#include <cstddef>
#include <iterator>

namespace mindtorch::trace {

std::string_view device_type_name(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu: return "CPU";
    case DeviceType::kCuda: return "CUDA";
    case DeviceType::kNpu: return "NPU";
  }
  return "UNKNOWN";
}

std::string_view scalar_type_name(ScalarType type) {
  // By torch's numbers, which stay the same when a release adds types.
  static constexpr std::string_view kNames[] = {
      "unsigned char",
      "signed char",
      "short int",
      "int",
      "long int",
      "c10::Half",
      "float",
      "double",
      "c10::complex<c10::Half>",
      "c10::complex<float>",
      "c10::complex<double>",
      "bool",
      "c10::qint8",
      "c10::quint8",
      "c10::qint32",
      "c10::BFloat16",
      "c10::quint4x2",
      "c10::quint2x4",
      "c10::bits1x8",
      "c10::bits2x4",
      "c10::bits4x2",
      "c10::bits8",
      "c10::bits16",
      "c10::Float8_e5m2",
      "c10::Float8_e4m3fn",
      "c10::Float8_e5m2fnuz",
      "c10::Float8_e4m3fnuz",
      "short unsigned int",
      "unsigned int",
      "long unsigned int",
      "c10::dummy_uint1_7_t<1>",
      "c10::dummy_uint1_7_t<2>",
      "c10::dummy_uint1_7_t<3>",
      "c10::dummy_uint1_7_t<4>",
      "c10::dummy_uint1_7_t<5>",
      "c10::dummy_uint1_7_t<6>",
      "c10::dummy_uint1_7_t<7>",
      "c10::dummy_int1_7_t<1>",
      "c10::dummy_int1_7_t<2>",
      "c10::dummy_int1_7_t<3>",
      "c10::dummy_int1_7_t<4>",
      "c10::dummy_int1_7_t<5>",
      "c10::dummy_int1_7_t<6>",
      "c10::dummy_int1_7_t<7>",
      "c10::Float8_e8m0fnu",
      "c10::Float4_e2m1fn_x2",
      "c10::complex<c10::BFloat16>",
  };
  const auto number = static_cast<std::size_t>(type);
  return number < std::size(kNames) ? kNames[number] : std::string_view();
}

std::string_view memory_category_name(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kParameter: return "PARAMETER";
    case MemoryCategory::kOptimizerState: return "OPTIMIZER_STATE";
    case MemoryCategory::kInput: return "INPUT";
    case MemoryCategory::kTemporary: return "TEMPORARY";
    case MemoryCategory::kActivation: return "ACTIVATION";
    case MemoryCategory::kGradient: return "GRADIENT";
    case MemoryCategory::kAutogradDetail: return "AUTOGRAD_DETAIL";
    case MemoryCategory::kUnknown: return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view thread_state_name(ThreadState state) {
  switch (state) {
    case ThreadState::kUnknown: return "unknown";
    case ThreadState::kRunning: return "running";
    case ThreadState::kWaitsForGil: return "waits_for_gil";
    case ThreadState::kWaitsForLock: return "waits_for_lock";
    case ThreadState::kWaitsForIo: return "waits_for_io";
    case ThreadState::kSleeps: return "sleeps";
    case ThreadState::kCollectsGarbage: return "collects_garbage";
    case ThreadState::kNotScheduled: return "not_scheduled";
  }
  return "unknown";
}

std::string_view loss_reason_name(LossReason reason) {
  switch (reason) {
    case LossReason::kBudget: return "budget";
    case LossReason::kOverwritten: return "overwritten";
    case LossReason::kUnfinished: return "unfinished";
    case LossReason::kDeviceDropped: return "device_dropped";
    case LossReason::kNoDeviceRecord: return "no_device_record";
    case LossReason::kNoLaunch: return "no_launch";
    case LossReason::kSideData: return "side_data";
    case LossReason::kSpillFailed: return "spill_failed";
    case LossReason::kDamagedFile: return "damaged_file";
    case LossReason::kThreadExit: return "thread_exit";
  }
  return "unknown";
}

}  // namespace mindtorch::trace
