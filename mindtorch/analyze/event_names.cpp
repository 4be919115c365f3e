// EventNames: hides, demangles and folds recorded names the way torch's event list does.
#include "mindtorch/analyze/event_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "mindtorch/base/demangle.h"
#include "mindtorch/base/large_pages.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

constexpr std::string_view kAllSteps = "ProfilerStep*";  // torch lists every name that begins with kStepPrefix as this

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

// Finds the first of the texts that are equal. A flat table: a node per text would cost as much as everything else about a name. The table
// of a million names is larger than the caches, therefore it keeps the hashes, so that other texts are not looked at, and a place in it can
// be fetched before it is needed.
class FirstWithText {
 public:
  explicit FirstWithText(std::size_t texts) {
    places_.reserve(std::bit_ceil(2 * texts + 1));
    prefer_large_pages(places_.data(), places_.capacity() * sizeof(Place));
    places_.resize(places_.capacity());
  }

  static std::uint64_t hash(std::string_view text) { return std::hash<std::string_view>()(text); }
  void fetch(std::uint64_t hash) const { __builtin_prefetch(&places_[hash & (places_.size() - 1)], 1); }

  // `id`, or the id that came earlier with the same text. `text_of` gives the text of an earlier id.
  template <class TextOf>
  NameId find(NameId id, std::string_view text, std::uint64_t hash, TextOf text_of) {
    const std::size_t mask = places_.size() - 1;
    const auto short_hash = static_cast<std::uint32_t>(hash >> 32);
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      Place& place = places_[at];
      if (place.id == EventNames::kHidden) {
        place = {short_hash, id};
        return id;
      }
      if (place.short_hash == short_hash && text_of(place.id) == text) return place.id;
    }
  }

 private:
  struct Place {
    std::uint32_t short_hash = 0;
    NameId id = EventNames::kHidden;  // free
  };
  std::vector<Place> places_;
};

}  // namespace

std::string demangled(const std::string& name) { return mindtorch::demangled(name); }

EventNames::EventNames(const trace::Recording& recording) : recording_(&recording), keys_(recording.names.size()) {
  FirstWithText first_with_text(recording.names.size());
  const auto listed_text = [&](NameId id) { return recording.names[id].starts_with(trace::kStepPrefix) ? kAllSteps : trace_text(id); };
  // The hashes of some names first, so that their places are being fetched while others are hashed.
  constexpr NameId kAhead = 32;
  std::array<std::uint64_t, kAhead> hashes{};
  const auto count = static_cast<NameId>(recording.names.size());
  for (NameId begin = 0; begin < count; begin += kAhead) {
    const NameId end = begin + std::min(kAhead, count - begin);
    for (NameId id = begin; id < end; ++id) {
      rewrite(id);
      hashes[id - begin] = FirstWithText::hash(listed_text(id));
      first_with_text.fetch(hashes[id - begin]);
    }
    for (NameId id = begin; id < end; ++id) {
      const std::string_view listed = listed_text(id);
      keys_[id] = is_hidden(recording.names[id]) ? kHidden : first_with_text.find(id, listed, hashes[id - begin], listed_text);
      if (listed == kAllSteps) steps_ = keys_[id];
    }
  }
}

void EventNames::rewrite(NameId id) {
  const std::string& name = recording_->names[id];
  if (!name.starts_with("_Z")) return;
  if (std::string text = demangled(name); text != name) rewritten_.emplace(id, std::move(text));
}

std::string_view EventNames::text(Key key) const { return key == steps_ ? kAllSteps : trace_text(key); }

std::string_view EventNames::trace_text(NameId name) const {
  const auto found = rewritten_.find(name);
  return found == rewritten_.end() ? std::string_view(recording_->names[name]) : std::string_view(found->second);
}

}  // namespace mindtorch::analyze
