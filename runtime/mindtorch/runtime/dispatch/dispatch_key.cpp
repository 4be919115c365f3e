// Names of dispatch keys.
#include "mindtorch/runtime/dispatch/dispatch_key.h"

#include <array>

namespace mindtorch {

std::string_view dispatch_key_name(DispatchKey key) {
  static constexpr std::array<std::string_view, kDispatchKeys> kNames = {
      "BackendSelect", "Pipeline",     "Python",           "Functionalize",     "ADInplaceOrView",   "AutogradOther", "AutogradCPU",
      "AutogradNPU",   "AutogradCUDA", "AutogradXPU",      "AutogradMeta",      "Autograd",          "Meta",          "NPU",
      "CUDA",          "CPU",          "PythonDispatcher", "CompositeImplicit", "CompositeExplicit", "Autocast",      "PrivateUse1",
      "PrivateUse2",   "PrivateUse3"};
  return kNames[static_cast<std::size_t>(key)];
}

}  // namespace mindtorch
