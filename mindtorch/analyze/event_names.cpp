// EventNames: hides, demangles and folds recorded names the way torch's event list does.
#include "mindtorch/analyze/event_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace mindtorch::analyze {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kAllSteps = "ProfilerStep*";

bool is_hidden(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kHiddenNames = {"[memory]",
                                                                   "[OutOfMemory]",
                                                                   "profiler::_record_function_enter",
                                                                   "profiler::_record_function_enter_new",
                                                                   "profiler::_record_function_exit",
                                                                   "aten::is_leaf",
                                                                   "aten::output_nr",
                                                                   "aten::_version"};
  return std::ranges::find(kHiddenNames, name) != kHiddenNames.end();
}

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

EventNames::EventNames(const trace::Recording& recording) : recording_(&recording), keys_(recording.names.size()) {
  std::unordered_map<std::string_view, Key> first_with_text;
  first_with_text.reserve(recording.names.size());
  for (NameId id = 0; id < recording.names.size(); ++id) {
    const std::string& name = recording.names[id];
    if (is_hidden(name)) {
      keys_[id] = kHidden;
      continue;
    }
    if (name.starts_with("_Z")) {
      if (std::string text = demangled(name); text != name) rewritten_.emplace(id, std::move(text));
    }
    const std::string_view listed = name.starts_with(kStepPrefix) ? kAllSteps : trace_text(id);
    keys_[id] = first_with_text.emplace(listed, id).first->second;
    if (listed == kAllSteps) steps_ = keys_[id];
  }
}

std::string_view EventNames::text(Key key) const { return key == steps_ ? kAllSteps : trace_text(key); }

std::string_view EventNames::trace_text(NameId name) const {
  const auto found = rewritten_.find(name);
  return found == rewritten_.end() ? std::string_view(recording_->names[name]) : std::string_view(found->second);
}

}  // namespace mindtorch::analyze
