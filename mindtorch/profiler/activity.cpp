// Activities: names, parsing and the checks of torch.profiler's constructor.
#include "mindtorch/profiler/activity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "mindtorch/base/error.h"

namespace mindtorch::profiler {
namespace {

struct Spelling {
  std::string_view text;
  Activity activity;
};
// The first spelling of an activity is its name.
constexpr std::array kSpellings = {
    Spelling{"CPU", Activity::kCpu},         Spelling{"XPU", Activity::kXpu},   Spelling{"CUDA", Activity::kCuda},
    Spelling{"HPU", Activity::kHpu},         Spelling{"MTIA", Activity::kMtia}, Spelling{"NPU", Activity::kNpu},
    Spelling{"PRIVATEUSE1", Activity::kNpu}, Spelling{"GPU", Activity::kCuda},
};

}  // namespace

std::string_view activity_name(Activity activity) {
  const auto* spelling = std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Spelling& s) { return s.activity == activity; });
  return spelling != kSpellings.end() ? spelling->text : "unknown";
}

Activity parse_activity(std::string_view text) {
  const std::string_view last = text.substr(text.rfind('.') + 1);
  std::string upper(last);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto* spelling = std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Spelling& s) { return s.text == upper; });
  if (spelling == kSpellings.end()) throw_error<InvalidArgument>("profiler.activities", "unsupported profiler activity: {}", text);
  return spelling->activity;
}

std::optional<trace::DeviceType> device_type_of(Activity activity) {
  switch (activity) {
    case Activity::kCpu: return trace::DeviceType::kCpu;
    case Activity::kCuda: return trace::DeviceType::kCuda;
    case Activity::kNpu: return trace::DeviceType::kNpu;
    default: return std::nullopt;
  }
}

std::vector<Activity> checked_activities(std::vector<Activity> list) {
  if (list.empty()) throw ArgumentAssertion("No valid profiler activities found");
  std::sort(list.begin(), list.end());
  const auto twice = std::adjacent_find(list.begin(), list.end());
  if (twice != list.end())
    throw InvalidArgument(fmt::format("Activity ProfilerActivity.{} specified more than once", activity_name(*twice)));
  return list;
}

}  // namespace mindtorch::profiler
