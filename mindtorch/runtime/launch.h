// launch: runs a kernel, a plain function over raw memory, where the tensors are. On the CPU it is called at once; on a device that
// executes host code its arguments are copied and it runs on the device's stream. So one implementation of an op serves every such device.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "mindtorch/runtime/device.h"

namespace mindtorch {

// `name` is what the device's timeline shows; a string with static life. Arguments must hold device addresses and numbers, never tensors or
// pointers to the caller's variables. Functions that differ in their arguments' types are passed as lambdas without captures.
template <class Function, class... Args>
void launch(Device device, const char* name, Function function, const Args&... args) {
  if (device.is_cpu()) [[likely]]
    return static_cast<void>(function(args...));
  device_backend(device).launch(device, name, std::function<void()>([function, ... args = Args(args)] { function(args...); }));
}

}  // namespace mindtorch
