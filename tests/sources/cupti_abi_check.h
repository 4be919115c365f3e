// Comparisons of our declarations of CUPTI with the vendor's; test_cupti_abi.py writes the program that makes them. Each that fails prints
// a line. Not part of the build, because it needs the vendor's headers.
#pragma once

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "mindtorch/sources/cupti/cupti_abi.h"
#include "mindtorch/sources/cupti/cupti_abi_v2.h"
#include "mindtorch/sources/cupti/pm_sampling_abi.h"

namespace ours = mindtorch::sources::cupti;

// Whether a caller that has `Ours` may call `Theirs`: as many arguments, each of the same size and either both or neither pointers.
template <class Ours, class Theirs>
struct IsSameCall : std::false_type {};

template <class Ours, class Theirs>
inline constexpr bool kIsSameArgument = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

template <class Result, class... Arguments, class TheirResult, class... TheirArguments>
requires(sizeof...(Arguments) == sizeof...(TheirArguments)) struct IsSameCall<Result (*)(Arguments...), TheirResult (*)(TheirArguments...)>
    : std::bool_constant<(kIsSameArgument<Result, TheirResult> && ... && kIsSameArgument<Arguments, TheirArguments>)> {
};

struct AllFunctions : ours::Functions, ours::SubscriberFunctions, ours::PmFunctions {};

inline void compare(bool is_same, const char* what, std::size_t our_value, std::size_t their_value) {
  if (!is_same) std::printf("%s: ours %zu, theirs %zu\n", what, our_value, their_value);
}

// The size of a field tells too: a 32-bit id must not be read as 64 bits.
#define COMPARE_FIELD(our_struct, our_field, their_struct, their_field)                                                       \
  compare(offsetof(ours::our_struct, our_field) == offsetof(their_struct, their_field), #our_struct "." #our_field " offset", \
          offsetof(ours::our_struct, our_field), offsetof(their_struct, their_field));                                        \
  compare(sizeof(ours::our_struct::our_field) == sizeof(their_struct::their_field), #our_struct "." #our_field " size",       \
          sizeof(ours::our_struct::our_field), sizeof(their_struct::their_field))

#define COMPARE_SIZE(our_struct, their_struct, relation) \
  compare(sizeof(ours::our_struct) relation sizeof(their_struct), #our_struct " size", sizeof(ours::our_struct), sizeof(their_struct))

#define COMPARE_VALUE(ours_is, theirs_is)                                                                          \
  compare(static_cast<std::size_t>(ours::ours_is) == static_cast<std::size_t>(theirs_is), #ours_is " " #theirs_is, \
          static_cast<std::size_t>(ours::ours_is), static_cast<std::size_t>(theirs_is))

#define COMPARE_FUNCTION(name) compare(IsSameCall<decltype(AllFunctions::name), decltype(&::name)>::value, #name " arguments", 0, 0)
