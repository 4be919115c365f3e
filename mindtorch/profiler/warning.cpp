// Warnings: the process's sink.
#include "mindtorch/profiler/warning.h"

#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace mindtorch::profiler {
namespace {

struct Sink {
  WarningSink call;
  std::set<std::string> said_once;
};

std::mutex mutex;
// Never destroyed: a Profile that lives in a static may warn while the process exits.
std::shared_ptr<Sink>& current_sink() {
  static auto* sink = new std::shared_ptr<Sink>;
  return *sink;
}

}  // namespace

void set_warning_sink(WarningSink sink) {
  const std::lock_guard lock(mutex);
  current_sink() = sink ? std::make_shared<Sink>(Sink{std::move(sink), {}}) : nullptr;
}

void warn(WarningCategory category, const std::string& text) {
  std::shared_ptr<Sink> sink;
  {
    const std::lock_guard lock(mutex);
    sink = current_sink();
  }
  // The sink is called without the lock, because it may be slow or may warn itself.
  if (sink) sink->call(category, text);
}

void warn_once(WarningCategory category, const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    const auto& sink = current_sink();
    if (!sink || !sink->said_once.insert(text).second) return;
  }
  warn(category, text);
}

}  // namespace mindtorch::profiler
