// The part of CUPTI's interface for PM sampling that we use, declared by ourselves and compared with the vendor's headers by a test.
//
// Each call takes one struct that begins with the size of what the caller knows of it, up to and including the last field.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mindtorch/sources/cupti/cupti_abi.h"

namespace mindtorch::sources::cupti {

using HostObject = void;      // CUpti_Profiler_Host_Object: knows metrics
using SamplingObject = void;  // CUpti_PmSampling_Object: samples one device

enum ProfilerType : std::uint32_t { kPmSamplingProfiler = 1 };
enum TriggerMode : std::uint32_t { kGpuSysclkInterval = 0, kGpuTimeInterval = 1 };
enum AppendMode : std::uint32_t { kKeepOldest = 0, kKeepLatest = 1 };
enum DecodeStopReason : std::uint32_t { kStoppedOtherwise = 0, kCounterDataFull = 1, kEndOfRecords = 2 };

struct ProfilerInitializeParams {
  std::size_t struct_size;
  void* priv;
};
struct GetChipNameParams {
  std::size_t struct_size;
  void* priv;
  std::size_t device_index;
  const char* chip_name;  // out
};
struct GetCounterAvailabilityParams {
  std::size_t struct_size;
  void* priv;
  std::size_t device_index;
  std::size_t counter_availability_image_size;  // out if the image is null
  std::uint8_t* counter_availability_image;
};
struct HostInitializeParams {
  std::size_t struct_size;
  void* priv;
  std::uint32_t profiler_type;
  const char* chip_name;
  const std::uint8_t* counter_availability_image;
  HostObject* host_object;  // out
};
struct HostDeinitializeParams {
  std::size_t struct_size;
  void* priv;
  HostObject* host_object;
};
struct ConfigAddMetricsParams {
  std::size_t struct_size;
  void* priv;
  HostObject* host_object;
  const char** metric_names;
  std::size_t num_metrics;
};
struct GetConfigImageSizeParams {
  std::size_t struct_size;
  void* priv;
  HostObject* host_object;
  std::size_t config_image_size;  // out
};
struct GetConfigImageParams {
  std::size_t struct_size;
  void* priv;
  HostObject* host_object;
  std::size_t config_image_size;
  std::uint8_t* config_image;
};
struct GetNumOfPassesParams {
  std::size_t struct_size;
  void* priv;
  std::size_t config_image_size;
  std::uint8_t* config_image;
  std::size_t num_of_passes;  // out
};
struct SamplingEnableParams {
  std::size_t struct_size;
  void* priv;
  std::size_t device_index;
  SamplingObject* sampling_object;  // out
};
// Of cuptiPmSamplingDisable, Start and Stop.
struct SamplingObjectParams {
  std::size_t struct_size;
  void* priv;
  SamplingObject* sampling_object;
};
struct SetConfigParams {
  std::size_t struct_size;
  void* priv;
  SamplingObject* sampling_object;
  std::size_t config_size;
  const std::uint8_t* config;
  std::size_t hardware_buffer_size;
  std::uint64_t sampling_interval;  // of kGpuTimeInterval: nanoseconds
  std::uint32_t trigger_mode;
  std::uint32_t append_mode;
};
struct GetCounterDataSizeParams {
  std::size_t struct_size;
  void* priv;
  SamplingObject* sampling_object;
  const char** sampled_metric_names;
  std::size_t num_metrics;
  std::uint32_t max_samples;
  std::size_t counter_data_size;  // out
};
struct CounterDataInitializeParams {
  std::size_t struct_size;
  void* priv;
  SamplingObject* sampling_object;
  std::size_t counter_data_size;
  std::uint8_t* counter_data;
};
struct DecodeDataParams {
  std::size_t struct_size;
  void* priv;
  SamplingObject* sampling_object;
  std::uint8_t* counter_data_image;
  std::size_t counter_data_image_size;
  std::uint32_t decode_stop_reason;  // out
  std::uint8_t overflow;             // out
};
struct GetCounterDataInfoParams {
  std::size_t struct_size;
  void* priv;
  const std::uint8_t* counter_data_image;
  std::size_t counter_data_image_size;
  std::size_t num_total_samples;      // out
  std::size_t num_populated_samples;  // out
  std::size_t num_completed_samples;  // out
};
struct GetSampleInfoParams {
  std::size_t struct_size;
  void* priv;
  SamplingObject* sampling_object;
  const std::uint8_t* counter_data_image;
  std::size_t counter_data_image_size;
  std::size_t sample_index;
  std::uint64_t start_timestamp;  // out
  std::uint64_t end_timestamp;    // out
};
struct EvaluateToGpuValuesParams {
  std::size_t struct_size;
  void* priv;
  HostObject* host_object;
  const std::uint8_t* counter_data_image;
  std::size_t counter_data_image_size;
  std::size_t range_index;  // that of the sample
  const char** metric_names;
  std::size_t num_metrics;
  double* metric_values;  // out
};

// A call of these structs with the size of what we declare of it.
#define MINDTORCH_CUPTI_SIZE_UP_TO(type, last) (offsetof(type, last) + sizeof(type::last))

#define MINDTORCH_CUPTI_PM_FUNCTIONS(FUNCTION)                                                \
  FUNCTION(cuptiProfilerInitialize, (ProfilerInitializeParams * params))                      \
  FUNCTION(cuptiDeviceGetChipName, (GetChipNameParams * params))                              \
  FUNCTION(cuptiPmSamplingGetCounterAvailability, (GetCounterAvailabilityParams * params))    \
  FUNCTION(cuptiProfilerHostInitialize, (HostInitializeParams * params))                      \
  FUNCTION(cuptiProfilerHostDeinitialize, (HostDeinitializeParams * params))                  \
  FUNCTION(cuptiProfilerHostConfigAddMetrics, (ConfigAddMetricsParams * params))              \
  FUNCTION(cuptiProfilerHostGetConfigImageSize, (GetConfigImageSizeParams * params))          \
  FUNCTION(cuptiProfilerHostGetConfigImage, (GetConfigImageParams * params))                  \
  FUNCTION(cuptiProfilerHostGetNumOfPasses, (GetNumOfPassesParams * params))                  \
  FUNCTION(cuptiPmSamplingEnable, (SamplingEnableParams * params))                            \
  FUNCTION(cuptiPmSamplingDisable, (SamplingObjectParams * params))                           \
  FUNCTION(cuptiPmSamplingSetConfig, (SetConfigParams * params))                              \
  FUNCTION(cuptiPmSamplingGetCounterDataSize, (GetCounterDataSizeParams * params))            \
  FUNCTION(cuptiPmSamplingCounterDataImageInitialize, (CounterDataInitializeParams * params)) \
  FUNCTION(cuptiPmSamplingStart, (SamplingObjectParams * params))                             \
  FUNCTION(cuptiPmSamplingStop, (SamplingObjectParams * params))                              \
  FUNCTION(cuptiPmSamplingDecodeData, (DecodeDataParams * params))                            \
  FUNCTION(cuptiPmSamplingGetCounterDataInfo, (GetCounterDataInfoParams * params))            \
  FUNCTION(cuptiPmSamplingCounterDataGetSampleInfo, (GetSampleInfoParams * params))           \
  FUNCTION(cuptiProfilerHostEvaluateToGpuValues, (EvaluateToGpuValuesParams * params))

struct PmFunctions {
// NOLINTBEGIN(bugprone-macro-parentheses, readability-identifier-naming): the members have the vendor's names.
#define MINDTORCH_CUPTI_POINTER(name, arguments) Result(*name) arguments = nullptr;
  MINDTORCH_CUPTI_PM_FUNCTIONS(MINDTORCH_CUPTI_POINTER)
// NOLINTEND(bugprone-macro-parentheses, readability-identifier-naming)
#undef MINDTORCH_CUPTI_POINTER
};

}  // namespace mindtorch::sources::cupti
