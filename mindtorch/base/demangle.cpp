// Demangling, by the C++ runtime.
#include "mindtorch/base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace mindtorch {

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  constexpr std::string_view kDescriptor = ".kd";  // the symbol of a kernel's descriptor, on AMD's devices
  std::string mangled(name.ends_with(kDescriptor) ? name.substr(0, name.size() - kDescriptor.size()) : name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string(name);
}

}  // namespace mindtorch
