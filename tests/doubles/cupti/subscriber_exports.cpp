// The functions of one subscriber that CUPTI 13.3 and later have, with the vendor's names and arguments.
#include "tests/doubles/cupti/exports.h"

using cupti_double::Tool;

#define SUBSCRIBER_FUNCTION(name, arguments) DOUBLE_FUNCTION_OF(SubscriberFunctions, name, arguments)

// Declares `tool`, the one that has subscribed with this handle.
#define TOOL_OR_RETURN(subscriber)                                                                  \
  if (const abi::Result told = library().calls.begin(__func__); told != abi::kSuccess) return told; \
  if (!library().is_shared_version()) return abi::kNotSupported;                                    \
  Tool* const tool = library().find(subscriber, __func__);                                          \
  if (tool == nullptr) return abi::kInvalidParameter

SUBSCRIBER_FUNCTION(cuptiActivityRegisterCallbacks_v2,
                    (abi::Subscriber subscriber, abi::SharedBufferRequested requested, abi::SharedBufferCompleted completed)) {
  TOOL_OR_RETURN(subscriber);
  if (requested == nullptr || completed == nullptr) return abi::kInvalidParameter;
  tool->delivery.register_callbacks(requested, completed);
  return abi::kSuccess;
}

SUBSCRIBER_FUNCTION(cuptiActivityEnable_v2, (abi::Subscriber subscriber, std::uint32_t kind, abi::ActivityConfig* config)) {
  TOOL_OR_RETURN(subscriber);
  return library().enable_shared(*tool, kind, config);
}

SUBSCRIBER_FUNCTION(cuptiActivityDisable_v2, (abi::Subscriber subscriber, std::uint32_t kind, abi::ActivityConfig*)) {
  TOOL_OR_RETURN(subscriber);
  return library().enable(*tool, kind, false);
}

SUBSCRIBER_FUNCTION(cuptiActivitySetAttribute_v2, (abi::Subscriber subscriber, std::uint32_t attribute, std::size_t* size, void* value)) {
  TOOL_OR_RETURN(subscriber);
  if (size == nullptr || value == nullptr) return abi::kInvalidParameter;
  return library().set_attribute(*tool, attribute, *size, value);
}

SUBSCRIBER_FUNCTION(cuptiActivityGetAttribute_v2, (abi::Subscriber subscriber, std::uint32_t attribute, std::size_t* size, void* value)) {
  TOOL_OR_RETURN(subscriber);
  if (size == nullptr || value == nullptr || *size < 1) return abi::kInvalidParameter;
  const bool is_on = attribute == abi::kEnableMultiSubscriberGraphTrace ? library().traces_whole_graphs()
                                                                        : attribute == abi::kUserDefinedRecords && tool->is_user_defined;
  *static_cast<std::uint8_t*>(value) = is_on ? 1 : 0;
  return abi::kSuccess;
}

SUBSCRIBER_FUNCTION(cuptiActivityGetNumDroppedRecords_v2, (abi::Subscriber subscriber, void*, std::uint32_t, std::size_t* dropped)) {
  TOOL_OR_RETURN(subscriber);
  *dropped = tool->delivery.take_dropped();
  return abi::kSuccess;
}

// Before 13.4 these two succeed and change nothing for records that are user-defined.
SUBSCRIBER_FUNCTION(cuptiActivityEnableRuntimeApi_v2, (abi::Subscriber subscriber, std::uint32_t callback_id, std::uint8_t enable)) {
  TOOL_OR_RETURN(subscriber);
  if (library().version() >= abi::kFirstVersionWithApiOptions) library().enable_function(*tool, abi::kRuntimeApi, callback_id, enable != 0);
  return abi::kSuccess;
}

SUBSCRIBER_FUNCTION(cuptiActivityEnableDriverApi_v2, (abi::Subscriber subscriber, std::uint32_t callback_id, std::uint8_t enable)) {
  TOOL_OR_RETURN(subscriber);
  if (library().version() >= abi::kFirstVersionWithApiOptions) library().enable_function(*tool, abi::kDriverApi, callback_id, enable != 0);
  return abi::kSuccess;
}

SUBSCRIBER_FUNCTION(cuptiGetTimestamp_v2, (abi::Subscriber subscriber, std::uint64_t* ns)) {
  TOOL_OR_RETURN(subscriber);
  *ns = library().clock.now();
  return abi::kSuccess;
}
