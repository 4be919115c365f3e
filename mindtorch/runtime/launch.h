// launch: runs a kernel, a plain function over raw memory, where the tensors are. On the CPU it is called at once; on a device that
// executes host code its arguments are copied and it runs on the device's stream. So one implementation of an op serves every such device.
#pragma once

#include <type_traits>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar.h"

namespace mindtorch {

template <class T>
concept KernelNumber = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Scalar>;

// An argument as the running kernel gets it: with addresses that it can follow. A structure says where its addresses are with a member
// function `void map_addresses(const AddressMap& map)`, which replaces each by map(address); one without addresses has an empty one.
template <class T>
T mapped(T argument, const AddressMap& map) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)
    argument = map(argument);
  else if constexpr (requires { argument.map_addresses(map); })
    argument.map_addresses(map);
  else
    static_assert(KernelNumber<T> || std::is_pointer_v<T>, "an argument of a kernel must say where its addresses are: map_addresses()");
  return argument;
}

// `name` is what the device's timeline shows; a string with static life. Arguments must hold device addresses and numbers, never tensors or
// pointers to the caller's variables. Functions that differ in their arguments' types are passed as lambdas without captures.
template <class Function, class... Args>
void launch(Device device, const char* name, Function function, const Args&... args) {
  if (device.is_cpu()) [[likely]]
    return static_cast<void>(function(args...));
  device_backend(device).launch(device, name, [function, ... args = Args(args)](const AddressMap& map) { function(mapped(args, map)...); });
}

}  // namespace mindtorch
