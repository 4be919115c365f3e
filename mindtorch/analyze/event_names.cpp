// EventNames: hides, demangles and folds recorded names the way torch's event list does.
#include "mindtorch/analyze/event_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>

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

// Finds the first of the texts that are equal. A flat table of ids: a node per text would cost as much as everything else about a name.
class FirstWithText {
 public:
  explicit FirstWithText(std::size_t texts) : ids_(std::bit_ceil(2 * texts + 1), EventNames::kHidden) {}

  // `id`, or the id that came earlier with the same text. `text_of` gives the text of an earlier id.
  template <class TextOf>
  NameId find(NameId id, std::string_view text, TextOf text_of) {
    const std::size_t mask = ids_.size() - 1;
    for (std::size_t at = std::hash<std::string_view>()(text) & mask;; at = (at + 1) & mask) {
      if (ids_[at] == EventNames::kHidden) return ids_[at] = id;
      if (text_of(ids_[at]) == text) return ids_[at];
    }
  }

 private:
  std::vector<NameId> ids_;
};

}  // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

EventNames::EventNames(const trace::Recording& recording) : recording_(&recording), keys_(recording.names.size()) {
  FirstWithText first_with_text(recording.names.size());
  const auto listed_text = [&](NameId id) { return recording.names[id].starts_with(kStepPrefix) ? kAllSteps : trace_text(id); };
  for (NameId id = 0; id < recording.names.size(); ++id) {
    const std::string& name = recording.names[id];
    if (is_hidden(name)) {
      keys_[id] = kHidden;
      continue;
    }
    if (name.starts_with("_Z")) {
      if (std::string text = demangled(name); text != name) rewritten_.emplace(id, std::move(text));
    }
    const std::string_view listed = listed_text(id);
    keys_[id] = first_with_text.find(id, listed, listed_text);
    if (listed == kAllSteps) steps_ = keys_[id];
  }
}

std::string_view EventNames::text(Key key) const { return key == steps_ ? kAllSteps : trace_text(key); }

std::string_view EventNames::trace_text(NameId name) const {
  const auto found = rewritten_.find(name);
  return found == rewritten_.end() ? std::string_view(recording_->names[name]) : std::string_view(found->second);
}

}  // namespace mindtorch::analyze
