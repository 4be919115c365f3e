// DevicePeaks: what a device can do at most, by the unit that computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mindtorch::trace {

// What computes: an element type, and for float64 and float32 whether the units for matrices do.
enum class ComputeUnit : std::uint8_t { kFloat64, kFloat64Tensor, kFloat32, kTf32, kBFloat16, kFloat16, kFloat8, kInt8 };
inline constexpr std::size_t kComputeUnits = 8;
inline constexpr std::array<std::string_view, kComputeUnits> kComputeUnitNames = {"float64",  "float64_tensor", "float32", "tf32",
                                                                                  "bfloat16", "float16",        "float8",  "int8"};
constexpr std::string_view compute_unit_name(ComputeUnit unit) { return kComputeUnitNames[static_cast<std::size_t>(unit)]; }

// Every number is 0 where it is not known. Rates are dense: without the doubling for sparse matrices that datasheets headline.
struct DevicePeaks {
  std::string device;                          // its name, as its driver reports it
  std::string host;                            // of a CPU that was measured: the machine
  std::array<double, kComputeUnits> tflops{};  // by ComputeUnit, in TFLOP/s
  double tbytes = 0;                           // memory bandwidth in TB/s
  double cache_mbytes = 0;                     // the largest cache, in millions of bytes
  double clock_mhz = 0;                        // at which the rates hold
  std::string source;                          // where the numbers are from

  double of(ComputeUnit unit) const { return tflops[static_cast<std::size_t>(unit)]; }
  friend bool operator==(const DevicePeaks&, const DevicePeaks&) = default;
};

}  // namespace mindtorch::trace
