// The functions of MSPTI that a double has, with the vendor's names and arguments.
#include <map>
#include <mutex>
#include <stack>
#include <type_traits>

#include "tests/doubles/mspti/library.h"

using mspti_double::library;
namespace abi = mindtorch::sources::mspti;

#define EXPORTED extern "C" __attribute__((visibility("default")))
// Result and arguments must be those that a client expects of the name.
#define DOUBLE_FUNCTION(name, arguments)                                                                \
  EXPORTED abi::Result name arguments;                                                                  \
  static_assert(std::is_same_v<decltype(&name), decltype(abi::Functions::name)>, "not MSPTI's " #name); \
  extern "C" abi::Result name arguments

#define RETURN_IF_TOLD_TO_FAIL()                                                                                                         \
  if (mspti_double::Delivery::is_in_callback()) mspti_double::report_violation(std::string(__func__) + " was called inside a callback"); \
  if (const abi::Result told = library().calls.begin(__func__); told != abi::kSuccess) return told

DOUBLE_FUNCTION(msptiSubscribe, (abi::Subscriber * subscriber, abi::CallbackFunction, void*)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().subscribe(subscriber);
}

DOUBLE_FUNCTION(msptiUnsubscribe, (abi::Subscriber subscriber)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().unsubscribe(subscriber);
}

DOUBLE_FUNCTION(msptiActivityRegisterCallbacks, (abi::BufferRequested requested, abi::BufferCompleted completed)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (requested == nullptr || completed == nullptr) return abi::kInvalidParameter;
  library().delivery.register_callbacks(requested, completed);
  return abi::kSuccess;
}

DOUBLE_FUNCTION(msptiActivityEnable, (std::uint32_t kind)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().enable(kind);
}

DOUBLE_FUNCTION(msptiActivityDisable, (std::uint32_t kind)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().disable(kind);
}

DOUBLE_FUNCTION(msptiActivityFlushAll, (std::uint32_t)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (!library().delivery.is_registered()) return abi::kInvalidParameter;
  library().feed.pull(false);
  library().delivery.flush();
  return abi::kSuccess;
}

// The position is kept from call to call, and starts again only when the end was reached.
EXPORTED abi::Result msptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, abi::Activity** record) {
  RETURN_IF_TOLD_TO_FAIL();
  static thread_local std::size_t position = 0;
  if (position >= valid) {
    position = 0;
    return abi::kMaxLimitReached;
  }
  *record = reinterpret_cast<abi::Activity*>(buffer + position);
  const std::size_t size = abi::record_size((*record)->kind);
  if (size == 0) return abi::kInnerError;
  position += size;
  return abi::kSuccess;
}

namespace {

// One for the whole process, whatever the vendor's documentation says.
struct ExternalIds {
  std::mutex mutex;
  std::map<std::uint32_t, std::stack<std::uint64_t>> stacks;
};
ExternalIds& external_ids() {
  static auto& ids = *new ExternalIds();
  return ids;
}

}  // namespace

EXPORTED abi::Result msptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  RETURN_IF_TOLD_TO_FAIL();
  std::lock_guard lock(external_ids().mutex);
  external_ids().stacks[kind].push(id);
  return abi::kSuccess;
}

EXPORTED abi::Result msptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
  RETURN_IF_TOLD_TO_FAIL();
  if (last == nullptr) return abi::kInvalidParameter;
  std::lock_guard lock(external_ids().mutex);
  auto& ids = external_ids().stacks[kind];
  if (ids.empty()) return abi::kQueueEmpty;
  *last = ids.top();
  ids.pop();
  return abi::kSuccess;
}

#if MSPTI_DOUBLE_VERSION >= 261
EXPORTED bool msptiActivityIsEnabled(std::uint32_t kind) { return library().is_enabled(kind); }
#endif

#if MSPTI_DOUBLE_VERSION >= 262
DOUBLE_FUNCTION(msptiGetVersion, (std::uint32_t * version)) {
  RETURN_IF_TOLD_TO_FAIL();
  *version = 260200;
  return abi::kSuccess;
}

DOUBLE_FUNCTION(msptiGetTimestamp, (std::uint64_t * ns)) {
  RETURN_IF_TOLD_TO_FAIL();
  *ns = library().feed.clock.now();
  return abi::kSuccess;
}

DOUBLE_FUNCTION(msptiActivityGetStructSize, (std::uint32_t kind, std::uint32_t, std::size_t* size)) {
  RETURN_IF_TOLD_TO_FAIL();
  *size = abi::record_size(kind);
  return *size != 0 ? abi::kSuccess : abi::kInvalidKind;
}

DOUBLE_FUNCTION(msptiActivityGetNumDroppedRecords, (void*, std::uint32_t, std::size_t* dropped)) {
  RETURN_IF_TOLD_TO_FAIL();
  static std::uint64_t told = 0;
  const std::uint64_t lost = library().feed.lost();
  *dropped = lost >= told ? lost - told : lost;
  told = lost;
  return abi::kSuccess;
}
#endif
