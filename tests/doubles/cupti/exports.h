// How the double defines a function of CUPTI.
#pragma once

#include <type_traits>

#include "tests/doubles/cupti/library.h"

using cupti_double::library;
using cupti_double::record_bytes;
namespace abi = mindtorch::sources::cupti;

// Result and arguments must be those that a client expects of the name.
#define DOUBLE_FUNCTION_OF(table, name, arguments)                                                  \
  extern "C" __attribute__((visibility("default"))) abi::Result name arguments;                     \
  static_assert(std::is_same_v<decltype(&name), decltype(abi::table::name)>, "not CUPTI's " #name); \
  extern "C" abi::Result name arguments
#define DOUBLE_FUNCTION(name, arguments) DOUBLE_FUNCTION_OF(Functions, name, arguments)

#define RETURN_IF_TOLD_TO_FAIL() \
  if (const abi::Result told = library().calls.begin(__func__); told != abi::kSuccess) return told
#define CLASSIC() library().classic(__func__)
