// The configuration of the reference devices: how many, how large, how their clocks run, how reliable the activity collector is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::reference_device {

// The clock of a device. Device i has the drift drift_ppm * (i + 1) and the offset offset_ticks * (i + 1), so that no two devices agree.
struct ClockConfig {
  double ticks_per_ns = 1.0;
  double drift_ppm = 35.0;
  std::uint64_t offset_ticks = 7'000'000'000'000;
  double wobble_ns = 0.0;  // amplitude of a slow sine on top of the drift
  double wobble_period_ns = 1e9;
};

// How activity records are delivered, and how many are lost.
struct DeliveryConfig {
  std::size_t batch_records = 512;                      // records are written to the subscriber's buffers when so many wait
  std::size_t channel_capacity = std::size_t{1} << 20;  // records that wait for delivery; more are dropped and counted
  std::uint64_t drop_every = 0;                         // drops each n-th record and counts it; 0: drops none
  std::uint64_t blank_every = 0;    // each n-th device record has start = end = 0, as when a collector lacks resources; 0: none has
  std::uint64_t disorder_seed = 1;  // batches are shuffled and a quarter of each is held back for the next one; 0: records stay in order
};

struct Config {
  int devices = 1;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;  // of each device; committed when touched
  ClockConfig clock;
  DeliveryConfig delivery;
  // The time that drives the clocks of the devices, in nanoseconds; null: CLOCK_MONOTONIC. Called from any thread.
  std::uint64_t (*host_now)() = nullptr;
  bool keep_truth = false;  // keep the times at which work really ran: see truth.h
};

}  // namespace mindtorch::reference_device
