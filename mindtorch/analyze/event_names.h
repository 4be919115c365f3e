// EventNames: the name under which an event is listed, as torch lists it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

using trace::EventIndex;
using trace::NameId;

inline constexpr EventIndex kNoEvent = 0xFFFFFFFF;

// Two names that are listed as one ("ProfilerStep#3" and "ProfilerStep#4" as "ProfilerStep*", a mangled and its plain C++ name) have one
// key. Refers to the recording's strings: the recording must outlive it.
class MINDTORCH_EXPORT EventNames {
 public:
  using Key = std::uint32_t;  // a NameId that stands for all names listed as it
  static constexpr Key kHidden = 0xFFFFFFFF;

  explicit EventNames(const trace::Recording& recording);

  // kHidden for the calls that torch leaves out of every list (aten::is_leaf, profiler::_record_function_enter, ...).
  Key key(NameId name) const { return keys_[name]; }
  const std::vector<Key>& keys() const { return keys_; }
  // Returns the text that is shown for a key.
  std::string_view text(Key key) const;
  // Returns the text that is shown in a timeline for a name: demangled, and with its step number.
  std::string_view trace_text(NameId name) const;

 private:
  // Demangles the name if it is a symbol.
  void rewrite(NameId id);

  const trace::Recording* recording_;
  std::vector<Key> keys_;                    // by NameId
  std::map<NameId, std::string> rewritten_;  // texts that differ from the recorded name
  Key steps_ = kHidden;
};

// A C++ symbol name in readable form; any other text unchanged.
MINDTORCH_EXPORT std::string demangled(const std::string& name);

}  // namespace mindtorch::analyze
