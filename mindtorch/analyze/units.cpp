// Times, shares and sizes as text.
#include "mindtorch/analyze/units.h"

#include <fmt/format.h>

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

}  // namespace mindtorch::analyze
