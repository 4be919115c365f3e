// How a reference device is built: how many, how large, how its clock runs, how well its activity collector works.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::reference_device {

// The device's own clock. Device i runs with drift_ppm * (i + 1) from offset_ticks * (i + 1), so that no two devices agree.
struct ClockConfig {
  double ticks_per_ns = 1.0;
  double drift_ppm = 35.0;
  std::uint64_t offset_ticks = 7'000'000'000'000;
  double wobble_ns = 0.0;  // amplitude of a slow sine on top of the drift
  double wobble_period_ns = 1e9;
};

// How activity records reach the subscriber, and how many do not.
struct DeliveryConfig {
  std::size_t batch_records = 512;                      // so many must wait before they are written to the subscriber's buffers
  std::size_t channel_capacity = std::size_t{1} << 20;  // records that wait for delivery; more are dropped and counted
  std::uint64_t drop_every = 0;                         // drops each n-th record and counts it; 0 = none
  std::uint64_t blank_every = 0;    // each n-th device record comes with start = end = 0, as when a collector runs dry; 0 = none
  std::uint64_t disorder_seed = 1;  // batches are shuffled and a quarter of each is held back to the next; 0 = in order
};

struct Config {
  int devices = 1;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;  // of each device; committed when touched
  ClockConfig clock;
  DeliveryConfig delivery;
  // What drives the devices' clocks, in nanoseconds; null = CLOCK_MONOTONIC. Any thread.
  std::uint64_t (*host_now)() = nullptr;
  bool keep_truth = false;  // remember when each piece of work really ran, see truth.h
};

}  // namespace mindtorch::reference_device
