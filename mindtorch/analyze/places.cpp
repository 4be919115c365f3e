// Stacks become places: the user's line, what it called, and what that stands for.
#include "mindtorch/analyze/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mindtorch/analyze/frame_labels.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

constexpr PlaceId kNotMade = 0xFFFFFFFF;

struct FunctionHint {
  std::string_view file;      // the end of a path, or a folder in it
  std::string_view function;  // its beginning; empty: any
  Cause cause;
};

// What functions of libraries stand for. The first row that fits counts, from the innermost frame outwards.
constexpr auto kHints = std::to_array<FunctionHint>({
    {"torch/utils/data/", "", Cause::kLoading},
    {"torchinductor_", "", Cause::kForward},
    {"torch/_dynamo/convert_frame.py", "", Cause::kCompiling},
    {"torch/_inductor/compile_fx.py", "", Cause::kCompiling},
    {"torch/_dynamo/symbolic_convert.py", "", Cause::kCompiling},
    {"torch/_inductor/graph.py", "", Cause::kCompiling},
    {"torch/_inductor/codecache.py", "", Cause::kCompiling},
    {"torch/_inductor/cpp_builder.py", "", Cause::kCompiling},
    {"torch/_inductor/async_compile.py", "", Cause::kCompiling},
    {"torch/autograd/graph.py", "_engine_run_backward", Cause::kBackward},
    {"torch/autograd/__init__.py", "backward", Cause::kBackward},
    {"torch/optim/", "", Cause::kOptimizer},
    {"torch/distributed/", "", Cause::kCollective},
    {"queue.py", "get", Cause::kThread},
    {"queue.py", "put", Cause::kThread},
    {"queue.py", "join", Cause::kThread},
    {"threading.py", "join", Cause::kThread},
    {"threading.py", "_wait_for_tstate_lock", Cause::kThread},
    {"concurrent/futures/", "", Cause::kThread},
    {"subprocess.py", "", Cause::kThread},
    {"asyncio/unix_events.py", "_do_waitpid", Cause::kThread},
    {"multiprocessing/", "", Cause::kThread},
    {"selectors.py", "select", Cause::kIo},
    {"socket.py", "", Cause::kIo},
    {"ssl.py", "", Cause::kIo},
    {"socketserver.py", "serve_forever", Cause::kRequests},
    {"asyncio/base_events.py", "", Cause::kRequests},
    // Calls of functions written in C, as they are named if all calls were recorded.
    {"<built-in", "sleep", Cause::kSleep},
    {"<built-in", "collect", Cause::kGarbage},
    {"<built-in", "run_backward", Cause::kBackward},
    {"<built-in", "acquire", Cause::kLock},
    {"<built-in", "__enter__ of _thread", Cause::kLock},
    {"<built-in", "select", Cause::kIo},
    {"<built-in", "poll", Cause::kIo},
    {"<built-in", "recv", Cause::kIo},
    {"<built-in", "read", Cause::kIo},
    {"<built-in", "write", Cause::kIo},
    {"<built-in", "fsync", Cause::kIo},
    {"<built-in", "open", Cause::kIo},
    {"<built-in", "waitpid", Cause::kThread},
});

// "<listcomp>", "<genexpr>", "<lambda>": a function without a name.
bool has_no_name(std::string_view function) { return function.starts_with("<") && function != "<module>"; }

// The function of the user around a call, for one without a name: the next one outwards of the same file that has one.
template <class Call>
std::string_view named_function(const std::vector<Call>& innermost_first, std::size_t at) {
  const Call& call = innermost_first[at];
  if (!has_no_name(call.function)) return call.function;
  for (std::size_t k = at + 1; k < innermost_first.size() && innermost_first[k].file == call.file; ++k) {
    if (!has_no_name(innermost_first[k].function)) return innermost_first[k].function;
  }
  return call.function;
}

// "threading.py:wait"
std::string function_text(std::string_view file, std::string_view function) {
  if (file.starts_with("<built-in")) return std::string(function);
  return fmt::format("{}:{}", shown_file(file), function);
}

}  // namespace

Places::Places(const trace::Recording& recording) : recording_(&recording), places_(1), of_stack_(recording.stacks.size(), kNotMade) {
  chains_.push_back({kNoCalls, 0, kNoPlace});
  for (const trace::Frame& frame : recording.stacks.frames) origin_of_frame_.push_back(code_origin(recording.names[frame.file]));
}

PlaceId Places::of_stack(trace::StackId stack) {
  PlaceId& known = of_stack_[stack];
  if (known != kNotMade) return known;
  std::vector<Call> calls;
  for (const std::uint32_t id : recording_->stacks.frames_of(stack)) {
    const trace::Frame& frame = recording_->stacks.frames[id];
    calls.push_back({recording_->names[frame.file], recording_->names[frame.function], frame.line, origin_of_frame_[id]});
  }
  return known = intern(calls);
}

// torch names a call of Python "train.py(12): main" and one of C "<built-in method sleep of module object at 0x7f>".
const Places::Call& Places::call_of(trace::NameId name) {
  const auto [at, is_new] = calls_.try_emplace(name);
  if (!is_new) return at->second;
  const std::string_view text = recording_->names[name];
  Call& call = at->second;
  constexpr std::string_view kBuiltIn = "<built-in ";
  if (text.starts_with(kBuiltIn)) {
    call = {text, text.substr(kBuiltIn.size()), 0, CodeOrigin::kLibrary};
    for (const std::string_view word : {"method ", "function "})
      if (call.function.starts_with(word)) call.function.remove_prefix(word.size());
    if (const std::size_t object = call.function.find(" object"); object != std::string_view::npos)
      call.function = call.function.substr(0, object);
    if (const std::size_t end = call.function.find_first_of(" >"); end != std::string_view::npos && !contains(call.function, "_thread"))
      call.function = call.function.substr(0, end);
    return call;
  }
  const std::size_t after = text.find("): ");
  const std::size_t before = after == std::string_view::npos ? after : text.rfind('(', after);
  if (before == std::string_view::npos) {
    call = {"<call>", text, 0, CodeOrigin::kLibrary};
    return call;
  }
  call.file = text.substr(0, before);
  call.function = text.substr(after + 3);
  for (const char digit : text.substr(before + 1, after - before - 1)) {
    if (digit < '0' || digit > '9' || call.line > 100'000'000) break;
    call.line = 10 * call.line + (digit - '0');
  }
  call.origin = code_origin(call.file);
  return call;
}

Places::CallChain Places::enter(CallChain around, trace::NameId name) {
  // Nothing outside of the user's innermost function counts.
  const std::uint64_t inside = std::uint64_t{around} << 32 | name;
  if (const auto known = chain_ids_.find(inside); known != chain_ids_.end()) return known->second;
  const CallChain outer = call_of(name).origin == CodeOrigin::kUser ? kNoCalls : around;
  const auto [at, is_new] = chain_ids_.try_emplace(std::uint64_t{outer} << 32 | name, static_cast<CallChain>(chains_.size()));
  if (is_new) chains_.push_back({outer, name, kNotMade});
  const CallChain chain = at->second;
  chain_ids_.try_emplace(inside, chain);
  return chain;
}

PlaceId Places::of_calls(CallChain chain) {
  if (chain == kNoCalls) return kNoPlace;
  if (chains_[chain].place != kNotMade) return chains_[chain].place;
  std::vector<Call> calls;
  for (CallChain at = chain; at != kNoCalls; at = chains_[at].around) calls.push_back(call_of(chains_[at].name));
  return chains_[chain].place = intern(calls);
}

PlaceId Places::intern(const std::vector<Call>& innermost_first) {
  Place place;
  const Call* called = nullptr;
  for (std::size_t at = 0; at < innermost_first.size(); ++at) {
    const Call& call = innermost_first[at];
    if (call.origin == CodeOrigin::kProfiler) continue;
    if (call.origin == CodeOrigin::kUser) {
      place.function = named_function(innermost_first, at);
      place.line = fmt::format("{}:{}:{}", call.file, call.line, place.function);
      break;
    }
    if (called == nullptr) place.inner = function_text(call.file, call.function);
    called = &call;
    // Who waits for input and output does so for a reason: a server waits for requests, and subprocess for a process.
    if (place.hint != Cause::kUnknown && place.hint != Cause::kIo) continue;
    for (const FunctionHint& hint : kHints) {
      if (!contains(call.file, hint.file) || !call.function.starts_with(hint.function)) continue;
      const bool says_more = place.hint == Cause::kUnknown || hint.cause == Cause::kThread || hint.cause == Cause::kRequests;
      if (says_more) place.hint = hint.cause;
      break;
    }
  }
  if (called != nullptr) place.called = function_text(called->file, called->function);
  if (place.line.empty()) place.function = place.inner;
  if (place.line.empty() && place.inner.empty()) return kNoPlace;
  const auto [id, is_new] = ids_.try_emplace({place.line, place.called, place.inner}, static_cast<PlaceId>(places_.size()));
  if (is_new) places_.push_back(std::move(place));
  return id->second;
}

}  // namespace mindtorch::analyze
