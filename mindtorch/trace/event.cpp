// Names of the vocabulary, as tables and files show them.
#include "mindtorch/trace/event.h"

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
  switch (type) {
    case ScalarType::kUint8: return "unsigned char";
    case ScalarType::kInt8: return "signed char";
    case ScalarType::kInt16: return "short int";
    case ScalarType::kInt32: return "int";
    case ScalarType::kInt64: return "long int";
    case ScalarType::kHalf: return "c10::Half";
    case ScalarType::kFloat: return "float";
    case ScalarType::kDouble: return "double";
    case ScalarType::kBool: return "bool";
    case ScalarType::kBFloat16: return "c10::BFloat16";
    case ScalarType::kOther: return "";
  }
  return "";
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
