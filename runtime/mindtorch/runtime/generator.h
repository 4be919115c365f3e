// Random numbers from Philox counters. The numbers of a call depend only on the seed and on how many numbers were drawn before, not on
// threads or devices.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch {

// A position in the stream of random numbers.
struct PhiloxState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // in blocks of four 32-bit numbers
  void map_addresses(const AddressMap&) {}
};

// Block `index` of the stream that starts at `state`: Philox 4x32, ten rounds.
inline std::array<std::uint32_t, 4> philox(const PhiloxState& state, std::uint64_t index) {
  const std::uint64_t position = state.offset + index;
  std::array<std::uint32_t, 4> c{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), 0, 0};
  std::uint32_t key0 = static_cast<std::uint32_t>(state.seed), key1 = static_cast<std::uint32_t>(state.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

// Hands out parts of the stream. Thread-safe.
class MINDTORCH_EXPORT Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_{seed, 0} {}
  void manual_seed(std::uint64_t seed);
  std::uint64_t initial_seed() const;
  // Reserves the next `blocks` blocks for the caller and returns the position of the first.
  PhiloxState reserve(std::uint64_t blocks);
  PhiloxState get_state() const;
  void set_state(const PhiloxState& state);

 private:
  mutable std::mutex mutex_;
  PhiloxState state_;
};

// The generator that ops use by default. All devices share it, so that a program draws the same numbers on each device.
MINDTORCH_EXPORT Generator& default_generator();
MINDTORCH_EXPORT void manual_seed(std::uint64_t seed);

}  // namespace mindtorch
