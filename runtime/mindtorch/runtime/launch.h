// launch: runs a kernel, a plain function over raw memory, on the device of the tensors. On the CPU the kernel is called at once. On a
// device that executes host code, its arguments are copied and it runs on a stream. One implementation of an op thus serves every such
// device.
#pragma once

#include <type_traits>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar.h"

namespace mindtorch {

template <class T>
concept KernelNumber = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Scalar>;

// The argument that a running kernel receives, with addresses that it can dereference. A structure declares its addresses with a member
// function `void map_addresses(const AddressMap& map)`, which replaces each address by map(address). A structure without addresses has an
// empty one.
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

// `name` is a static string that the timeline of the device shows. Arguments hold device addresses and numbers, never tensors or pointers
// to the caller's variables. A kernel with overloads is passed as a lambda without captures.
template <class Function, class... Args>
void launch(Device device, const char* name, Function function, const Args&... args) {
  if (device.is_cpu()) [[likely]]
    return static_cast<void>(function(args...));
  device_backend(device).launch(device, name, [function, ... args = Args(args)](const AddressMap& map) { function(mapped(args, map)...); });
}

}  // namespace mindtorch
