// The table of peaks, and the formulas for devices that are not in it.
#include "mindtorch/analyze/efficiency/device_peaks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "mindtorch/base/error.h"

namespace mindtorch::analyze {
namespace {

using trace::ComputeUnit;
using trace::DevicePeaks;
using trace::DeviceProperties;

struct KnownDevice {
  std::string_view name;                            // all words of it are words of the device's name
  int multiprocessors;                              // 0: not compared
  std::array<double, trace::kComputeUnits> tflops;  // float64, float64_tensor, float32, tf32, bfloat16, float16, float8, int8
  double tbytes;
  double cache_mbytes;
  double clock_mhz;
  std::string_view source;
};

constexpr std::string_view kH100 = "NVIDIA H100 datasheet, without sparsity", kH200 = "NVIDIA H200 datasheet, without sparsity",
                           kA100 = "NVIDIA A100 datasheet, without sparsity", kAda = "NVIDIA Ada architecture whitepaper, without sparsity",
                           kAmpere = "NVIDIA GA102 architecture whitepaper, without sparsity",
                           kBlackwell = "NVIDIA Blackwell datasheet, without sparsity", kVolta = "NVIDIA V100 datasheet",
                           kTuring = "NVIDIA T4 datasheet", kInstinct = "AMD Instinct data sheet, without sparsity",
                           kHopperChina = "published tables of torchtitan and verl", kGrace = "NVIDIA GH200 datasheet, without sparsity";

// The first row that fits is taken, so that longer names stand before shorter ones.
constexpr auto kDevices = std::to_array<KnownDevice>({
    {"H200 NVL", 132, {30.0, 60.0, 60.0, 417.5, 835.5, 835.5, 1671, 1671}, 4.8, 50, 0, kH200},
    {"H200", 132, {33.5, 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9}, 4.8, 50, 1830, kH200},
    {"GH200 480GB", 132, {33.5, 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9}, 4.0, 50, 1830, kGrace},
    {"H100 PCIe", 114, {25.6, 51.2, 51.2, 378, 756, 756, 1513, 1513}, 2.0, 50, 0, kH100},
    {"H100 NVL", 132, {30.0, 60.0, 60.0, 417.5, 835.5, 835.5, 1671, 1671}, 3.9, 50, 0, kH100},
    {"H100", 132, {33.5, 66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9}, 3.35, 50, 1830, kH100},
    {"H800", 132, {0, 0, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9}, 3.35, 50, 1830, kHopperChina},
    {"H20", 78, {0, 0, 44, 74, 148, 148, 296, 296}, 4.0, 60, 0, kHopperChina},
    {"A100 SXM4 40GB", 108, {9.7, 19.5, 19.5, 156, 312, 312, 0, 624}, 1.555, 40, 1410, kA100},
    {"A100 PCIE 40GB", 108, {9.7, 19.5, 19.5, 156, 312, 312, 0, 624}, 1.555, 40, 1410, kA100},
    {"A100 80GB PCIe", 108, {9.7, 19.5, 19.5, 156, 312, 312, 0, 624}, 1.935, 40, 1410, kA100},
    {"A100", 108, {9.7, 19.5, 19.5, 156, 312, 312, 0, 624}, 2.039, 40, 1410, kA100},
    {"A800", 108, {9.7, 19.5, 19.5, 156, 312, 312, 0, 624}, 2.039, 40, 1410, kHopperChina},
    {"A30", 56, {5.2, 10.3, 10.3, 82, 165, 165, 0, 330}, 0.933, 24, 1440, "NVIDIA A30 datasheet, without sparsity"},
    {"A10G", 80, {0, 0, 35, 35, 70, 70, 0, 140}, 0.6, 6, 1710, "NVIDIA A10G datasheet, without sparsity"},
    {"A10", 72, {0, 0, 31.2, 62.5, 125, 125, 0, 250}, 0.6, 6, 1695, "NVIDIA A10 datasheet, without sparsity"},
    {"A40", 84, {0, 0, 37.4, 74.8, 149.7, 149.7, 0, 299.3}, 0.696, 6, 1740, kAmpere},
    {"RTX 3090", 82, {0.56, 0, 35.6, 35.6, 71, 71, 0, 284}, 0.936, 6, 1695, kAmpere},
    {"L4", 58, {0, 0, 30.3, 60, 121, 121, 242.5, 242.5}, 0.3, 48, 2040, kAda},
    {"L40S", 142, {0, 0, 91.6, 183, 362, 362, 733, 733}, 0.864, 96, 2520, kAda},
    {"L40", 142, {0, 0, 90.5, 90.5, 181, 181, 362, 362}, 0.864, 96, 2490, kAda},
    {"RTX 6000 Ada", 142, {1.4, 0, 91.1, 182.1, 364.2, 364.2, 728.5, 728.5}, 0.96, 96, 2505, kAda},
    {"RTX 4090", 128, {1.3, 0, 82.6, 82.6, 165.2, 165.2, 330.3, 660.6}, 1.008, 72, 2520, kAda},
    {"RTX 5090", 170, {1.6, 0, 104.8, 104.8, 209.5, 209.5, 419, 838}, 1.792, 96, 2407, kBlackwell},
    {"GB200", 0, {40, 40, 80, 1250, 2500, 2500, 5000, 5000}, 8.0, 126, 0, kBlackwell},
    {"B200", 148, {37, 37, 75, 1125, 2250, 2250, 4500, 4500}, 8.0, 126, 0, kBlackwell},
    {"V100", 80, {7.8, 0, 15.7, 0, 0, 125, 0, 0}, 0.9, 6, 1530, kVolta},
    {"T4", 40, {0.25, 0, 8.1, 0, 0, 65, 0, 130}, 0.32, 4, 1590, kTuring},
    {"MI355X", 0, {78.6, 78.6, 157.3, 0, 2516.6, 2516.6, 5033.2, 5033.2}, 8.0, 256, 2400, kInstinct},
    {"MI350X", 0, {72.1, 72.1, 144.2, 0, 2309.6, 2309.6, 4614, 4614}, 8.0, 256, 2200, kInstinct},
    {"MI325X", 304, {81.7, 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9}, 6.0, 256, 2100, kInstinct},
    {"MI300X", 304, {81.7, 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9}, 5.3, 256, 2100, kInstinct},
    {"MI250X", 0, {23.9, 47.9, 47.9, 0, 191.5, 191.5, 0, 191.5}, 1.638, 8, 1700, "AMD Instinct data sheet, one of the two dies"},
    {"MI250", 0, {22.6, 45.3, 45.3, 0, 181, 181, 0, 181}, 1.638, 8, 1700, "AMD Instinct data sheet, one of the two dies"},
    {"MI210", 104, {22.6, 45.3, 45.3, 0, 181, 181, 0, 181}, 1.638, 8, 1700, kInstinct},
    {"Ascend910B", 0, {0, 0, 0, 0, 354, 354, 0, 0}, 0, 0, 0, "published table of verl; bins of this device differ"},
});

// FLOPs of one multiprocessor in one clock, by compute capability.
struct Architecture {
  int major, minor;
  std::array<double, trace::kComputeUnits> per_clock;  // of boards for data centers and workstations
  bool has_slower_boards;                              // GeForce boards add up products in float32 at half this speed
};

constexpr auto kArchitectures = std::to_array<Architecture>({
    {7, 0, {64, 0, 128, 0, 0, 1024, 0, 0}, false},
    {7, 5, {4, 0, 128, 0, 0, 1024, 0, 2048}, true},
    {8, 0, {64, 128, 128, 1024, 2048, 2048, 0, 4096}, false},
    {8, 6, {4, 0, 256, 512, 1024, 1024, 0, 2048}, true},
    {8, 9, {4, 0, 256, 512, 1024, 1024, 2048, 2048}, true},
    {9, 0, {128, 256, 256, 2048, 4096, 4096, 8192, 8192}, false},
    {10, 0, {128, 128, 256, 4096, 8192, 8192, 16384, 16384}, false},
    {12, 0, {4, 0, 256, 512, 1024, 1024, 2048, 2048}, true},
});

std::int64_t number_of(const DeviceProperties& device, std::string_view key) {
  const auto found = std::ranges::find(device.numbers, key, &trace::DeviceProperty::key);
  return found == device.numbers.end() ? 0 : found->value;
}

bool is_word_character(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found(1);
  for (const char c : text) {
    if (is_word_character(c)) {
      found.back() += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    } else if (!found.back().empty()) {
      found.emplace_back();
    }
  }
  if (found.back().empty()) found.pop_back();
  return found;
}

bool has_all_words(const std::vector<std::string>& name, std::string_view wanted) {
  return std::ranges::all_of(words(wanted), [&](const std::string& word) { return std::ranges::find(name, word) != name.end(); });
}

}  // namespace

std::optional<DevicePeaks> listed_peaks(const DeviceProperties& device) {
  const std::vector<std::string> name = words(device.name);
  if (std::ranges::find(name, "MIG") != name.end() || std::ranges::find(name, "LAPTOP") != name.end()) return std::nullopt;
  const auto* const found = std::ranges::find_if(kDevices, [&](const KnownDevice& each) {
    const std::int64_t multiprocessors = number_of(device, "numSms");
    return has_all_words(name, each.name) && (each.multiprocessors == 0 || multiprocessors == 0 || multiprocessors == each.multiprocessors);
  });
  if (found == kDevices.end()) return std::nullopt;
  return DevicePeaks{.device = device.name,
                     .host = {},
                     .tflops = found->tflops,
                     .tbytes = found->tbytes,
                     .cache_mbytes = found->cache_mbytes,
                     .clock_mhz = found->clock_mhz,
                     .source = std::string(found->source)};
}

bool names_device(std::string_view listed, std::string_view name) { return !listed.empty() && has_all_words(words(name), listed); }

std::optional<DevicePeaks> computed_peaks(const DeviceProperties& device) {
  const std::int64_t multiprocessors = number_of(device, "numSms"), kilohertz = number_of(device, "clockRate");
  const std::int64_t major = number_of(device, "computeMajor"), minor = number_of(device, "computeMinor");
  const auto* const architecture =
      std::ranges::find_if(kArchitectures, [&](const Architecture& each) { return each.major == major && each.minor == minor; });
  if (multiprocessors <= 0 || kilohertz <= 0 || architecture == kArchitectures.end()) return std::nullopt;
  DevicePeaks peaks{.device = device.name, .host = {}, .tflops = {}, .source = "computed from the properties of the device"};
  const bool is_slower = architecture->has_slower_boards && device.name.find("GeForce") != std::string::npos;
  for (std::size_t unit = 0; unit < trace::kComputeUnits; ++unit) {
    const auto which = static_cast<ComputeUnit>(unit);
    const bool is_halved = is_slower && which != ComputeUnit::kFloat64 && which != ComputeUnit::kFloat32 && which != ComputeUnit::kInt8;
    peaks.tflops[unit] = static_cast<double>(multiprocessors) * static_cast<double>(kilohertz) * 1e3 * architecture->per_clock[unit] *
                         (is_halved ? 0.5 : 1.0) / 1e12;
  }
  // Two transfers in each clock of the memory.
  peaks.tbytes = 2 * static_cast<double>(number_of(device, "memoryClockRate")) * 1e3 *
                 static_cast<double>(number_of(device, "memoryBusWidth")) / 8 / 1e12;
  peaks.cache_mbytes = static_cast<double>(number_of(device, "l2CacheSize")) / 1e6;
  peaks.clock_mhz = static_cast<double>(kilohertz) / 1e3;
  return peaks;
}

void set_peak(DevicePeaks& peaks, std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    throw_error<InvalidArgument>("analyze.set_peak", "'{}' is not a peak such as bfloat16=989.4 or memory=4.8: {}", text, why);
  };
  const std::size_t equals = text.find('=');
  if (equals == text.npos) refuse("there is no '='");
  const std::string_view key = text.substr(0, equals), number = text.substr(equals + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) || value <= 0)
    refuse("the amount must be a number above 0");
  if (key == "memory") {
    peaks.tbytes = value;
  } else if (const auto unit = std::ranges::find(trace::kComputeUnitNames, key); unit != trace::kComputeUnitNames.end()) {
    peaks.tflops[static_cast<std::size_t>(unit - trace::kComputeUnitNames.begin())] = value;
  } else {
    refuse("the names are memory, float64, float64_tensor, float32, tf32, bfloat16, float16, float8 and int8");
  }
  peaks.source = "given";
}

}  // namespace mindtorch::analyze
