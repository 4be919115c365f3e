// Turns buffers of the reference device's activity records into a DeviceBatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "mindtorch/record/source.h"
#include "mindtorch/reference_device/activity.h"

namespace mindtorch::sources {

class ReferenceDecoder {
 public:
  // Clock 0 of the batch is the session's, clock 1 + i that of device i.
  ReferenceDecoder();

  // Sets the samples of each device's clock.
  void set_samples(std::vector<std::vector<record::BracketedSample>> samples);
  void count_dropped(std::uint64_t count) { dropped_by_device_ += count; }
  // Records without a time or of an unknown kind cannot be placed: they are counted as dropped.
  void decode(const std::uint8_t* buffer, std::size_t valid);
  // The records that have been decoded so far.
  record::DeviceBatch& batch() { return batch_; }
  record::DeviceBatch finish();

 private:
  std::uint32_t detail(std::initializer_list<trace::Attribute> row);
  void add(const reference_device::ApiActivity& activity);
  void add(const reference_device::DeviceActivity& activity, record::DeviceRecord record);

  record::DeviceBatch batch_;
  std::uint64_t dropped_by_device_ = 0;
  std::uint64_t without_time_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace mindtorch::sources
