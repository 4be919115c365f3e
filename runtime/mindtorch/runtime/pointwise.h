// Pointwise: the preparation of a pointwise op. It broadcasts the inputs, converts them to a common type, makes the output, and plans the
// loop.
#pragma once

#include <array>

#include "mindtorch/runtime/loop_plan.h"
#include "mindtorch/runtime/type_promotion.h"

namespace mindtorch {

// The shape that all of these expand to. Throws torch's error, which names `op`.
DimVector broadcast_shape(IntArrayRef a, IntArrayRef b, std::string_view op);
// True if a tensor of `sizes` can be expanded to `target`.
bool is_expandable_to(IntArrayRef sizes, IntArrayRef target);
// Throws if the tensors are on different devices. A zero-dimensional CPU tensor fits every device.
Device common_device(std::initializer_list<const Tensor*> tensors, std::string_view op);
// Throws if elements of `out` share memory, because it could not be written to.
void check_writable(const Tensor& out, std::string_view op);

// A pointwise call of N inputs, ready to run: launch(p.device, name, kernel, p.type, p.plan).
template <std::size_t N>
struct Pointwise {
  // `compute` is the type of the computation, to which the inputs are converted. `out_type` is the type of the output.
  Pointwise(std::string_view op, const std::array<Operand, N>& inputs, ScalarType compute, ScalarType out_type) {
    make(op, inputs, compute, out_type, nullptr);
  }
  // In place: the kernel writes to `out`, which has the shape of the result.
  Pointwise(std::string_view op, const Tensor& written, const std::array<Operand, N>& inputs, ScalarType compute) {
    make(op, inputs, compute, written.dtype(), &written);
  }

  Tensor out;
  ScalarType type;  // of the inputs
  Device device;
  LoopPlan<N + 1> plan;  // operand 0 is the output

 private:
  void make(std::string_view op, const std::array<Operand, N>& inputs, ScalarType compute, ScalarType out_type, const Tensor* written);

  std::array<Tensor, N> converted_;  // keeps converted inputs alive until the kernel has been launched
};

extern template struct Pointwise<1>;
extern template struct Pointwise<2>;
extern template struct Pointwise<3>;

}  // namespace mindtorch
