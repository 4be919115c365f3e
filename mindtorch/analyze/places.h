// Places: lines of the program to which time is charged. A place is the innermost line of the user's own code on a stack, with the library
// function that this line called; what library code does is charged to the line that asked for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "mindtorch/analyze/causes.h"
#include "mindtorch/analyze/code_origin.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

using PlaceId = std::uint32_t;
inline constexpr PlaceId kNoPlace = 0;

struct Place {
  std::string line;              // "train.py:12:main"; empty if no code of the user is on the stack
  std::string function;          // "main"; of a stack without the user's code: its innermost function
  std::string called;            // the library function that the line called, "torch/serialization.py:save"; empty if it ran itself
  std::string inner;             // the innermost function, "threading.py:wait"; empty if the line ran itself
  Cause hint = Cause::kUnknown;  // what the library functions above the line stand for, if they stand for one cause
};

// Interns places. Not for several threads at once.
class MINDTORCH_EXPORT Places {
 public:
  explicit Places(const trace::Recording& recording);

  PlaceId of_stack(trace::StackId stack);
  // Python calls that are open at one moment, as far as they matter: from the innermost one out to the first of the user's own.
  using CallChain = std::uint32_t;
  static constexpr CallChain kNoCalls = 0;
  // The chain when a call of this name ("train.py(12): main", "<built-in method sleep>") begins inside of another chain.
  CallChain enter(CallChain around, trace::NameId name);
  PlaceId of_calls(CallChain chain);
  const Place& operator[](PlaceId place) const { return places_[place]; }
  std::size_t size() const { return places_.size(); }

 private:
  struct Call {
    std::string_view file, function;
    std::int32_t line = 0;
    CodeOrigin origin = CodeOrigin::kUser;
  };
  const Call& call_of(trace::NameId name);
  PlaceId intern(const std::vector<Call>& innermost_first);

  const trace::Recording* recording_;
  std::vector<Place> places_;
  std::vector<CodeOrigin> origin_of_frame_;
  std::vector<PlaceId> of_stack_;  // by StackId; kNotMade until it is asked for
  std::map<trace::NameId, Call> calls_;
  struct Chain {
    CallChain around;
    trace::NameId name;
    PlaceId place;  // kNotMade until it is asked for
  };
  std::vector<Chain> chains_;
  std::unordered_map<std::uint64_t, CallChain> chain_ids_;  // by around << 32 | name
  std::map<std::tuple<std::string, std::string, std::string>, PlaceId> ids_;
};

}  // namespace mindtorch::analyze
