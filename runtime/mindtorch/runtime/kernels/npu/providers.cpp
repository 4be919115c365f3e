// The list of providers, and the choice of the one in use.
#include <atomic>

#include "mindtorch/runtime/kernels/npu/provider.h"
#include "mindtorch/runtime/kernels/npu/reference_provider.h"

namespace mindtorch::npu {

const std::vector<Provider*>& providers() {
  // The reference device comes first, because it is available only if the user asked for it.
  static const auto& all = *new std::vector<Provider*>{&reference_provider()};
  return all;
}

Provider* find_provider() {
  static std::atomic<Provider*> chosen{nullptr};
  if (Provider* provider = chosen.load(std::memory_order_acquire)) return provider;
  for (Provider* provider : providers()) {
    if (!provider->availability()) continue;
    chosen.store(provider, std::memory_order_release);
    return provider;
  }
  return nullptr;
}

std::string why_no_provider() {
  std::string reasons;
  for (Provider* provider : providers()) reasons += fmt::format("; {}: {}", provider->name(), provider->availability().reason());
  return "this machine has no NPU that can be used" + reasons;
}

}  // namespace mindtorch::npu
