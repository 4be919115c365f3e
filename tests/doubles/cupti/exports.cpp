// The functions of CUPTI that the double has, with the vendor's names and arguments.
#include "tests/doubles/cupti/exports.h"

DOUBLE_FUNCTION(cuptiGetVersion, (std::uint32_t * version)) {
  RETURN_IF_TOLD_TO_FAIL();
  *version = library().version();
  return abi::kSuccess;
}

// Describes results even while everything fails.
DOUBLE_FUNCTION(cuptiGetResultString, (abi::Result result, const char** text)) {
  switch (result) {
    case abi::kSuccess: *text = "CUPTI_SUCCESS"; break;
    case abi::kInvalidParameter: *text = "CUPTI_ERROR_INVALID_PARAMETER"; break;
    case abi::kInvalidOperation: *text = "CUPTI_ERROR_INVALID_OPERATION"; break;
    case abi::kMaxLimitReached: *text = "CUPTI_ERROR_MAX_LIMIT_REACHED"; break;
    case abi::kInvalidKind: *text = "CUPTI_ERROR_INVALID_KIND"; break;
    case abi::kInsufficientPrivileges: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case abi::kMultipleSubscribersNotSupported: *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"; break;
    case abi::kUnknownError: *text = "CUPTI_ERROR_UNKNOWN"; break;
    default: return abi::kInvalidParameter;
  }
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiGetTimestamp, (std::uint64_t * ns)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (library().has_shared_subscribers()) return abi::kNotCompatible;
  *ns = library().clock.now();
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiGetCallbackName, (std::uint32_t domain, std::uint32_t callback_id, const char** name)) {
  RETURN_IF_TOLD_TO_FAIL();
  *name = library().function_name(domain, callback_id);
  return *name != nullptr ? abi::kSuccess : abi::kInvalidParameter;
}

DOUBLE_FUNCTION(cuptiSubscribe, (abi::Subscriber * subscriber, abi::CallbackFunction callback, void* user)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().subscribe(subscriber, callback, user, nullptr);
}

DOUBLE_FUNCTION(cuptiSubscribe_v2,
                (abi::Subscriber * subscriber, abi::CallbackFunction callback, void* user, abi::SubscriberParams* params)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().is_shared_version() ? library().subscribe_shared(subscriber, callback, user, params)
                                       : library().subscribe(subscriber, callback, user, params);
}

DOUBLE_FUNCTION(cuptiUnsubscribe, (abi::Subscriber subscriber)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().unsubscribe(subscriber);
}

DOUBLE_FUNCTION(cuptiEnableCallback, (std::uint32_t enable, abi::Subscriber subscriber, std::uint32_t domain, std::uint32_t callback_id)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().enable_callback(enable != 0, subscriber, domain, callback_id);
}

DOUBLE_FUNCTION(cuptiEnableDomain, (std::uint32_t enable, abi::Subscriber subscriber, std::uint32_t domain)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().enable_domain(enable != 0, subscriber, domain);
}

DOUBLE_FUNCTION(cuptiActivityRegisterCallbacks, (abi::BufferRequested requested, abi::BufferCompleted completed)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (requested == nullptr || completed == nullptr) return abi::kInvalidParameter;
  if (library().has_shared_subscribers()) return abi::kNotCompatible;
  CLASSIC().delivery.register_callbacks(requested, completed);
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiActivityEnable, (std::uint32_t kind)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().enable_classic(CLASSIC(), kind);
}

DOUBLE_FUNCTION(cuptiActivityDisable, (std::uint32_t kind)) {
  RETURN_IF_TOLD_TO_FAIL();
  return library().enable(CLASSIC(), kind, false);
}

DOUBLE_FUNCTION(cuptiActivityFlushAll, (std::uint32_t flag)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (!library().is_registered()) return abi::kInvalidOperation;
  if ((flag & abi::kFlushForced) != 0) {
    library().device.settle_forcibly();
  } else {
    library().device.settle();
  }
  library().flush();
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiActivityGetNextRecord, (std::uint8_t * buffer, std::size_t valid, abi::Activity** record)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (buffer == nullptr || record == nullptr) return abi::kInvalidParameter;
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<std::uint8_t*>(*record);
    next += cupti_double::record_size((*record)->kind, library().version());
  }
  if (next >= buffer + valid) return abi::kMaxLimitReached;
  const std::size_t size = cupti_double::record_size(cupti_double::read_value<std::uint32_t>(next, 0), library().version());
  if (size == 0 || next + size > buffer + valid) return abi::kInvalidKind;
  *record = reinterpret_cast<abi::Activity*>(next);
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiActivityGetNumDroppedRecords, (void*, std::uint32_t, std::size_t* dropped)) {
  RETURN_IF_TOLD_TO_FAIL();
  *dropped = CLASSIC().delivery.take_dropped();
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiActivitySetAttribute, (std::uint32_t attribute, std::size_t* size, void* value)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (size == nullptr || value == nullptr) return abi::kInvalidParameter;
  return library().set_attribute(CLASSIC(), attribute, *size, value);
}

DOUBLE_FUNCTION(cuptiActivityEnableRuntimeApi, (std::uint32_t callback_id, std::uint8_t enable)) {
  RETURN_IF_TOLD_TO_FAIL();
  library().enable_function(CLASSIC(), abi::kRuntimeApi, callback_id, enable != 0);
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiActivityEnableDriverApi, (std::uint32_t callback_id, std::uint8_t enable)) {
  RETURN_IF_TOLD_TO_FAIL();
  library().enable_function(CLASSIC(), abi::kDriverApi, callback_id, enable != 0);
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiSetThreadIdType, (std::uint32_t type)) {
  RETURN_IF_TOLD_TO_FAIL();
  library().use_system_thread_ids(CLASSIC(), type == abi::kSystemThreadId);
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiGetGraphNodeId, (void* node, std::uint64_t* id)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (node == nullptr || id == nullptr) return abi::kInvalidParameter;
  *id = static_cast<const cupti_double::Node*>(node)->id;
  return abi::kSuccess;
}

DOUBLE_FUNCTION(cuptiGetGraphId, (void* graph, std::uint32_t* id)) {
  RETURN_IF_TOLD_TO_FAIL();
  if (graph == nullptr || id == nullptr) return abi::kInvalidParameter;
  *id = static_cast<const cupti_double::Graph*>(graph)->id;
  return abi::kSuccess;
}
