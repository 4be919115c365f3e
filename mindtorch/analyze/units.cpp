// Times, shares and sizes as text.
#include "mindtorch/analyze/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mindtorch::analyze {

std::string format_time(double time_us, std::string_view unit) {
  constexpr double kSecond = 1000.0 * 1000.0, kMillisecond = 1000.0;
  const bool chosen = unit == "s" || unit == "ms" || unit == "us";
  if (unit == "s" || (!chosen && time_us >= kSecond)) return fmt::format("{:.3f}s", time_us / kSecond);
  if (unit == "ms" || (!chosen && time_us >= kMillisecond)) return fmt::format("{:.3f}ms", time_us / kMillisecond);
  return fmt::format("{:.3f}us", time_us);
}

std::string format_share(double part, double total) {
  if (total == 0) return "NaN";
  return fmt::format("{:.2f}%", part * 100.0 / total);
}

std::string format_memory(std::int64_t bytes) {
  constexpr double kKilo = 1024, kMega = kKilo * 1024, kGiga = kMega * 1024;
  const double value = static_cast<double>(bytes);
  if (std::abs(value) >= kGiga) return fmt::format("{:.2f} GB", value / kGiga);
  if (std::abs(value) >= kMega) return fmt::format("{:.2f} MB", value / kMega);
  if (std::abs(value) >= kKilo) return fmt::format("{:.2f} KB", value / kKilo);
  return fmt::format("{} B", bytes);
}

FlopUnit flop_unit(std::int64_t smallest_flops) {
  static constexpr std::array<std::string_view, 6> kUnits = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
  const double thousands = std::clamp(std::log10(static_cast<double>(smallest_flops)) / 3, 0.0, static_cast<double>(kUnits.size() - 1));
  return {std::pow(10, std::floor(thousands) * -3.0), kUnits[static_cast<std::size_t>(thousands)]};
}

}  // namespace mindtorch::analyze
