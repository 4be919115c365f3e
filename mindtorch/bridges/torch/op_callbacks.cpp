// The RecordFunction callbacks.
#include "mindtorch/bridges/torch/op_callbacks.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "mindtorch/bridges/torch/bridge_thread.h"
#include "mindtorch/bridges/torch/op_details.h"
#include "mindtorch/bridges/torch/thread_numbers.h"
#include "mindtorch/record/hooks.h"

#if !defined(NDEBUG)
#error "at::RecordFunction has one member more without NDEBUG than it has in torch's binaries"
#endif

namespace mindtorch::torch_bridge {
namespace {

using record::EventKind;

// What torch keeps for us from the start of an op to its end. Its memory is recycled by the thread: an op allocates nothing.
class OpContext final : public at::ObserverContext {
 public:
  OpContext(record::NameId name, EventKind kind) noexcept : scope(name, kind) {}
  record::NamedScope scope;

  static void* operator new(std::size_t) { return BridgeThread::take_block(); }
  static void operator delete(void* block) noexcept { BridgeThread::give_block(block); }
};
static_assert(sizeof(OpContext) <= BridgeThread::kBlockBytes);

EventKind kind_of(const at::RecordFunction& fn, const OpName& name) {
  switch (fn.scope()) {
    case at::RecordScope::USER_SCOPE: return name.is_step ? EventKind::kStep : EventKind::kScope;
    case at::RecordScope::BACKWARD_FUNCTION: return EventKind::kBackward;
    default: return name.is_evaluation ? EventKind::kBackward : EventKind::kOp;
  }
}

std::uint64_t link_of(const at::RecordFunction& fn) {
  const std::uint64_t forward = fn.forwardThreadId();
  return trace::make_sequence_link(fn.seqNr(), forward == 0 ? 0 : thread_number_of(forward));
}

void set_link(record::Slot* slot, std::uint64_t link) { std::atomic_ref<std::uint64_t>(slot->link).store(link, std::memory_order_relaxed); }

// torch gives the evaluation of a node the numbers of the node's own call, which starts right after it.
void link_evaluation(BridgeThread& thread, const at::RecordFunction& fn, const OpName& name, record::Slot* slot) {
  record::Slot* evaluation = std::exchange(thread.evaluation, name.is_evaluation ? slot : nullptr);
  if (evaluation != nullptr && fn.scope() == at::RecordScope::BACKWARD_FUNCTION) set_link(evaluation, slot->link);
}

// The callbacks that are added now.
std::atomic<at::CallbackHandle> active{at::INVALID_CALLBACK_HANDLE};

// kOneThread: what the starting thread gives to those that work for it.
std::mutex admission_mutex;
record::ThreadAdmission admission;

void admit(const BridgeThread& thread) {
  std::lock_guard lock(admission_mutex);
  if (thread.own_callbacks == active.load(std::memory_order_relaxed))
    admission = record::ThreadAdmission::capture();
  else
    admission.apply();
}

// The first op of a thread in a session.
void join(BridgeThread& thread, std::uint64_t state, std::uint64_t torch_thread) {
  thread.state = state;
  thread.evaluation = nullptr;
  if ((state & record::kOneThread) != 0) admit(thread);
  note_thread_number(torch_thread, record::thread_number());
}

std::unique_ptr<at::ObserverContext> op_starts(const at::RecordFunction& fn) {
  const std::uint64_t state = record::current_state();
  BridgeThread* thread = state != 0 ? BridgeThread::current() : nullptr;
  if (thread == nullptr) [[unlikely]]
    return nullptr;
  if (thread->state != state) [[unlikely]]
    join(*thread, state, fn.threadId());
  const OpName name = thread->names.find(fn.name());
  std::unique_ptr<OpContext> context(new OpContext(name.id, kind_of(fn, name)));
  record::Slot* slot = context->scope.slot();
  if (slot == nullptr) [[unlikely]]
    return nullptr;
  set_link(slot, link_of(fn));
  link_evaluation(*thread, fn, name, slot);
  if ((state & kDetails) != 0) [[unlikely]]
    record_details(fn, name, state, slot);
  if (fn.isNcclMeta()) [[unlikely]]
    record_collective(fn, slot);
  return context;
}

void op_ends(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) static_cast<OpContext*>(context)->scope.close();
}

// A thread's own callbacks can be removed by that thread alone. If a session is stopped elsewhere, they go when they are called next.
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

bool active_on_all_threads = false;

}  // namespace

void add_op_callbacks(std::uint32_t wants) noexcept {
  BridgeThread* thread = BridgeThread::current();
  active_on_all_threads = (wants & record::kOneThread) == 0 || thread == nullptr;
  at::RecordFunctionCallback callback(active_on_all_threads ? op_starts : op_of_one_thread_starts, op_ends);
  callback.needsInputs((wants & record::kShapes) != 0);
  active = active_on_all_threads ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback);
  if (thread != nullptr) remove_stale_callbacks(*thread);
  if (!active_on_all_threads) thread->own_callbacks = active;
}

void remove_op_callbacks() noexcept {
  const at::CallbackHandle handle = active.exchange(at::INVALID_CALLBACK_HANDLE);
  if (active_on_all_threads)
    at::removeCallback(handle);
  else if (BridgeThread* thread = BridgeThread::current())
    remove_stale_callbacks(*thread);
}

}  // namespace mindtorch::torch_bridge
