// The RecordFunction callbacks.
#include "mindtorch/bridges/torch/op_callbacks.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "mindtorch/bridges/torch/bridge_thread.h"
#include "mindtorch/bridges/torch/call_details.h"
#include "mindtorch/bridges/torch/memory_reports.h"
#include "mindtorch/bridges/torch/op_details.h"
#include "mindtorch/bridges/torch/operators.h"
#include "mindtorch/bridges/torch/thread_numbers.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/trace/text.h"

#if !defined(NDEBUG)
#error "at::RecordFunction has one member more without NDEBUG than it has in torch's binaries"
#endif

namespace mindtorch::torch_bridge {
namespace {

using record::EventKind;

EventKind kind_of(const at::RecordFunction& fn, const OpName& name) {
  switch (fn.scope()) {
    case at::RecordScope::USER_SCOPE: return name.is_step ? EventKind::kStep : EventKind::kScope;
    case at::RecordScope::BACKWARD_FUNCTION: return EventKind::kBackward;
    default: return name.is_evaluation ? EventKind::kBackward : EventKind::kOp;
  }
}

std::uint64_t link_of(const at::RecordFunction& fn, EventKind kind) {
  if (kind == EventKind::kStep) return trace::step_link_in_name(fn.name());
  const std::uint64_t forward = fn.forwardThreadId();
  return trace::make_sequence_link(fn.seqNr(), forward == 0 ? 0 : thread_number_of(forward));
}

// Torch reports the evaluation of an autograd node first, without numbers, and the call of the node itself right after it. The evaluation
// is shown with the numbers of that call, as torch's profiler shows it.
void link_evaluation(BridgeThread& thread, const at::RecordFunction& fn, const OpName& name, record::Slot* slot) {
  record::Slot* evaluation = std::exchange(thread.evaluation, name.is_evaluation ? slot : nullptr);
  if (evaluation != nullptr && fn.scope() == at::RecordScope::BACKWARD_FUNCTION) record::set_slot_link(*evaluation, slot->link);
}

// Whether the op has nothing but a name, a sequence number and arguments. Only then may the quick path in op_starts() serve the next call
// of the same operator, which is recognised by the address of its name and is not asked these questions.
bool is_plain(const at::RecordFunction& fn, const OpName& name) {
  return fn.scope() == at::RecordScope::FUNCTION && !name.is_evaluation && fn.forwardThreadId() == 0 && !fn.isNcclMeta();
}

// Finds the name by its text. The address of an operator's name is remembered for as long as the operator is registered.
OpName name_of(BridgeThread& thread, const at::RecordFunction& fn) {
  const std::uint32_t removed = operators_removed.load(std::memory_order_acquire);
  if (std::exchange(thread.operators_removed, removed) != removed) thread.names.forget_addresses();
  const OpName name = thread.names.of_text(fn.name());
  if (is_plain(fn, name) && is_named_by_schema(fn)) thread.names.remember_address(fn.name(), name);
  return name;
}

// The callbacks that are added now.
std::atomic<at::CallbackHandle> active{at::INVALID_CALLBACK_HANDLE};

// kOneThread: the starting thread leaves its admission here for the threads that work for it (autograd's, for example).
std::mutex admission_mutex;
record::ThreadAdmission admission;

void admit(const BridgeThread& thread) {
  std::lock_guard lock(admission_mutex);
  if (thread.own_callbacks == active.load(std::memory_order_relaxed))
    admission = record::ThreadAdmission::capture();
  else
    admission.apply();
}

// An annotation may be an object that is ended in any order and on any thread: torch keeps its scope for us.
struct FreeScope final : at::ObserverContext {
  FreeScope(record::NameId name, EventKind kind) noexcept : scope(name, kind), owner(record::thread_log) {}
  record::NamedScope scope;
  const record::ThreadLog* owner;
};

// Torch keeps most of its RecordFunctions on the stack: such an op ends on this thread, before any op that began earlier. A RecordFunction
// elsewhere (on the heap, in an object of Python) may end in any order and on any thread. There is no flag that tells them apart, so the
// address does: an object close above this frame is on this thread's stack.
bool is_on_stack(const at::RecordFunction& fn) {
  constexpr std::uintptr_t kClose = 16 * 1024;
  return reinterpret_cast<std::uintptr_t>(&fn) - reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < kClose;
}

// The slow path: any op, with everything that it may have.
[[gnu::cold]] std::unique_ptr<at::ObserverContext> any_op_starts(BridgeThread& thread, const at::RecordFunction& fn) {
  const OpName name = name_of(thread, fn);
  std::unique_ptr<FreeScope> free_scope;
  record::Slot* slot = nullptr;
  const EventKind kind = kind_of(fn, name);
  if (is_on_stack(fn) && !thread.open_ops.is_full()) {
    slot = record::open_slot(thread.state, name.id, kind, 0, record::Device{}, link_of(fn, kind), record::Ends::kInCall);
    if (slot != nullptr) thread.open_ops.push(&fn, slot);
  } else {
    free_scope = std::make_unique<FreeScope>(name.id, kind);
    slot = free_scope->scope.slot();
    if (slot != nullptr) record::set_slot_link(*slot, link_of(fn, kind));
  }
  if (slot == nullptr) return nullptr;
  link_evaluation(thread, fn, name, slot);
  if (fn.isAsync()) record::add_slot_flag(*slot, trace::kAsync);
  if (fn.scope() == at::RecordScope::TORCHSCRIPT_FUNCTION) record::add_slot_flag(*slot, trace::kScripted);
  if ((thread.state & kDetails) != 0) (may_be_applied(fn, name) ? record_applied_details : record_details)(fn, name, thread.state, slot);
  if (fn.isNcclMeta()) record_collective(fn, slot);
  return free_scope;
}

// The first op of a thread in a session.
[[gnu::cold]] std::unique_ptr<at::ObserverContext> first_op_starts(std::uint64_t state, const at::RecordFunction& fn) {
  BridgeThread* thread = state != 0 ? BridgeThread::current() : nullptr;
  if (thread == nullptr) return nullptr;
  thread->state = state;
  thread->evaluation = nullptr;
  thread->open_ops.forget_slots();
  if ((state & record::kOneThread) != 0) admit(*thread);
  if ((state & record::kMemory) != 0) watch_memory_reports();
  // An op may begin on another thread than the one that has made its RecordFunction.
  note_thread_number(at::RecordFunction::currentThreadId(), record::thread_number());
  return any_op_starts(*thread, fn);
}

// Short on purpose: torch runs so much code between two ops that each cache line of this function has to be fetched again. Therefore every
// rare case is behind one unlikely call.
std::unique_ptr<at::ObserverContext> op_starts(const at::RecordFunction& fn) {
  const std::uint64_t state = record::current_state();
  BridgeThread& thread = *bridge_thread;
  if (thread.state != state) [[unlikely]]
    return first_op_starts(state, fn);
  const OpName* name = thread.names.at_address(fn.name());
  if (name == nullptr || thread.operators_removed != operators_removed.load(std::memory_order_relaxed) || !is_on_stack(fn) ||
      thread.open_ops.is_full()) [[unlikely]]
    return any_op_starts(thread, fn);
  record::Slot* slot = record::open_slot(state, name->id, EventKind::kOp, 0, record::Device{}, trace::make_sequence_link(fn.seqNr(), 0),
                                         record::Ends::kInCall);
  if (slot == nullptr) [[unlikely]]
    return nullptr;
  thread.open_ops.push(&fn, slot);
  thread.evaluation = nullptr;
  if ((state & kDetails) != 0) [[unlikely]]
    record_details(fn, *name, state, slot);
  return nullptr;
}

// Torch may say only after the start of a scope that it is asynchronous. One that another thread ends is marked by close().
[[gnu::cold]] void free_scope_ends(const at::RecordFunction& fn, at::ObserverContext* context) {
  FreeScope& it = *static_cast<FreeScope*>(context);
  const bool is_writable = it.scope.recording() && it.owner == record::thread_log && record::is_current(it.scope.state());
  if (fn.isAsync() && is_writable) record::add_slot_flag(*it.scope.slot(), trace::kAsync);
  it.scope.close();
}

void op_ends(const at::RecordFunction& fn, at::ObserverContext* context) {
  if (context != nullptr) [[unlikely]]
    return free_scope_ends(fn, context);
  BridgeThread& thread = *bridge_thread;
  record::Slot* slot = thread.open_ops.pop(&fn);
  if (slot != nullptr) [[likely]]
    record::close_slot(slot, thread.state);
}

// A thread's own callbacks can be removed by that thread alone. If a session is stopped on another thread, they are removed when torch
// calls them the next time.
bool remove_stale_callbacks(BridgeThread& thread) {
  if (thread.own_callbacks == at::INVALID_CALLBACK_HANDLE || thread.own_callbacks == active.load(std::memory_order_relaxed)) return false;
  at::removeCallback(std::exchange(thread.own_callbacks, at::INVALID_CALLBACK_HANDLE));
  return true;
}

std::unique_ptr<at::ObserverContext> op_of_one_thread_starts(const at::RecordFunction& fn) {
  BridgeThread* thread = BridgeThread::current();
  if (thread == nullptr || remove_stale_callbacks(*thread) || !record::wants(record::kOneThread)) return nullptr;
  return op_starts(fn);
}

// All scopes but KERNEL_FUNCTION_DTYPE, CUSTOM_CLASS and BUILD_FEATURE, which exist only in a torch that traces what a smaller build needs.
// Fewer is cheaper: whenever autograd enters or leaves a node, torch looks up the callbacks of every scope again, and each scope with a
// callback costs time.
std::unordered_set<at::RecordScope> recorded_scopes() {
  using Scope = at::RecordScope;
  return {Scope::FUNCTION,   Scope::BACKWARD_FUNCTION, Scope::TORCHSCRIPT_FUNCTION, Scope::LITE_INTERPRETER,
          Scope::USER_SCOPE, Scope::STATIC_RUNTIME_OP, Scope::STATIC_RUNTIME_MODEL};
}

bool active_on_all_threads = false;

// The callbacks of a session that began while an execution trace was registered.
bool are_details_kept() { return record::call_details_state.load(std::memory_order_relaxed) == record::CallDetailsState::kOn; }

std::unique_ptr<at::ObserverContext> detailed_op_starts(const at::RecordFunction& fn) {
  std::unique_ptr<at::ObserverContext> context = active_on_all_threads ? op_starts(fn) : op_of_one_thread_starts(fn);
  if (!are_details_kept()) return context;
  record::Slot* slot = context ? static_cast<FreeScope&>(*context).scope.slot() : bridge_thread->open_ops.latest(&fn);
  if (slot != nullptr) keep_call_start(fn, slot);
  return context;
}

void detailed_op_ends(const at::RecordFunction& fn, at::ObserverContext* context) {
  op_ends(fn, context);
  if (are_details_kept()) keep_call_end(fn);
}

at::RecordFunctionCallback make_callback(std::uint32_t wants) {
  if (record::call_details_state.load() == record::CallDetailsState::kOff)
    return std::move(at::RecordFunctionCallback(active_on_all_threads ? op_starts : op_of_one_thread_starts, op_ends)
                         .needsInputs((wants & record::kShapes) != 0));
  return std::move(at::RecordFunctionCallback(detailed_op_starts, detailed_op_ends).needsInputs(true).needsOutputs(true).needsIds(true));
}

}  // namespace

const char* add_op_callbacks(std::uint32_t wants) noexcept try {
  BridgeThread* thread = BridgeThread::current();
  active_on_all_threads = (wants & record::kOneThread) == 0 || thread == nullptr;
  begin_call_details();
  at::RecordFunctionCallback callback = make_callback(wants);
  callback.scopes(recorded_scopes());
  active = active_on_all_threads ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
  if (thread != nullptr) remove_stale_callbacks(*thread);
  if (!active_on_all_threads) thread->own_callbacks = active;
  return nullptr;
} catch (...) {
  return "ops are not recorded: torch could not add callbacks, because there is not enough memory";
}

void remove_op_callbacks() noexcept try {
  const at::CallbackHandle handle = active.exchange(at::INVALID_CALLBACK_HANDLE);
  if (handle == at::INVALID_CALLBACK_HANDLE) return;  // none could be added
  if (active_on_all_threads)
    at::removeCallback(handle);
  else if (BridgeThread* thread = BridgeThread::current())
    remove_stale_callbacks(*thread);
} catch (...) {
  // Out of memory: torch has removed the callbacks from its list, and calls them at most until it looks at the list again.
}

}  // namespace mindtorch::torch_bridge
