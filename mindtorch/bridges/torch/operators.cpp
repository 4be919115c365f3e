// Asks torch's dispatcher.
#include "mindtorch/bridges/torch/operators.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>

namespace mindtorch::torch_bridge {
namespace {

class RemovalCounter final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override { operators_removed.fetch_add(1, std::memory_order_release); }
};

}  // namespace

std::atomic<std::uint32_t> operators_removed{0};

void watch_operators() {
  // Never removed: the handle is not destroyed.
  static auto& handle =
      *new c10::RegistrationHandleRAII(c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<RemovalCounter>()));
  static_cast<void>(handle);
}

bool is_named_by_schema(const at::RecordFunction& fn) {
  const auto name = fn.operator_name();
  if (!name) return false;
  const auto op = c10::Dispatcher::singleton().findSchema(*name);
  return op && op->schema().name().c_str() == fn.name();
}

}  // namespace mindtorch::torch_bridge
