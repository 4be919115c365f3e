// Random tensors.
#include "mindtorch/runtime/ops/random.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/random.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/creation_options.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using OptionalGenerator = std::optional<Generator*>;

constinit Op<Tensor(const Tensor&, double, double, OptionalGenerator)> uniform__op{
    "aten::uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, double, double, OptionalGenerator)> normal__op{
    "aten::normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, std::int64_t, std::optional<std::int64_t>, OptionalGenerator)> random__op{
    "aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, double, OptionalGenerator)> bernoulli__op{
    "aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)"};
constinit Op<Tensor(IntArrayRef, MINDTORCH_OPTION_TYPES)> rand_op{"aten::rand(SymInt[] size, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(IntArrayRef, MINDTORCH_OPTION_TYPES)> randn_op{"aten::randn(SymInt[] size, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(std::int64_t, std::int64_t, IntArrayRef, MINDTORCH_OPTION_TYPES)> randint_op{
    "aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? "
    "pin_memory=None) -> Tensor"};
constinit Op<Tensor(std::int64_t, MINDTORCH_OPTION_TYPES)> randperm_op{
    "aten::randperm(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> rand_like_op{
    "aten::rand_like(Tensor self, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> randn_like_op{
    "aten::randn_like(Tensor self, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};

// Fills `self` by a kernel that writes contiguous memory: kernel(type, memory, n, state, args...).
template <class Kernel, class... Args>
Tensor fill_randomly(const char* op, const Tensor& self, OptionalGenerator generator, Kernel kernel, const Args&... args) {
  check_writable(self, op);
  const Tensor target = self.is_contiguous() ? self : new_tensor(self.sizes(), self.dtype(), self.device());
  const PhiloxState state = (generator ? **generator : default_generator()).reserve(cpu::philox_blocks(self.numel()));
  launch(self.device(), op + 6, kernel, self.dtype(), target.data_ptr(), self.numel(), state, args...);
  return target.is_same(self) ? self : self.copy_(target);
}

void check_floating(const Tensor& self, const char* op) {
  if (!self.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(self.dtype()));
}

Tensor uniform__kernel(const Tensor& self, double from, double to, OptionalGenerator generator) {
  check_floating(self, "aten::uniform_");
  if (!(from <= to)) throw_error("aten::uniform_", "uniform_ expects to return a [from, to) range, but found from={} > to={}", from, to);
  return fill_randomly("aten::uniform_", self, generator, cpu::uniform, from, to);
}

Tensor normal__kernel(const Tensor& self, double mean, double deviation, OptionalGenerator generator) {
  if (!(deviation >= 0)) throw_error("aten::normal_", "normal expects std >= 0.0, but found std {}", deviation);
  if (self.numel() == 0) return self;
  check_floating(self, "aten::normal_");
  return fill_randomly("aten::normal_", self, generator, cpu::normal, mean, deviation);
}

Tensor random__kernel(const Tensor& self, std::int64_t from, std::optional<std::int64_t> to, OptionalGenerator generator) {
  const std::int64_t end = to.value_or(from + (std::int64_t{1} << 24));
  if (from >= end) throw_error("aten::random_", "random_ expects 'from' to be less than 'to', but got from={} >= to={}", from, end);
  return fill_randomly("aten::random_", self, generator, cpu::random_integers, from, end);
}

Tensor bernoulli__kernel(const Tensor& self, double p, OptionalGenerator generator) {
  if (!(p >= 0 && p <= 1)) throw_error("aten::bernoulli_", "bernoulli_ expects p to be in [0, 1], but got p={}", p);
  return fill_randomly("aten::bernoulli_", self, generator, cpu::bernoulli, p);
}

Tensor rand_kernel(IntArrayRef sizes, DtypeOption type, LayoutOption, DeviceOption device, PinOption) {
  return uniform__op(empty(sizes, {.dtype = type, .device = device}), 0, 1, std::nullopt);
}
Tensor randn_kernel(IntArrayRef sizes, DtypeOption type, LayoutOption, DeviceOption device, PinOption) {
  return normal__op(empty(sizes, {.dtype = type, .device = device}), 0, 1, std::nullopt);
}
Tensor randint_kernel(std::int64_t low, std::int64_t high, IntArrayRef sizes, DtypeOption type, LayoutOption, DeviceOption device,
                      PinOption) {
  return random__op(empty(sizes, {.dtype = type, .device = device}), low, high, std::nullopt);
}
Tensor randperm_kernel(std::int64_t n, DtypeOption type, LayoutOption, DeviceOption device, PinOption) {
  if (n < 0) throw_error("aten::randperm", "n must be non-negative, got {}", n);
  if (type == kBool) throw_error("aten::randperm", "not implemented for 'Bool'");
  const Tensor out = new_tensor({n}, kInt64, device.value_or(Device()));
  launch(out.device(), "randperm", cpu::permutation, out.data_ptr<std::int64_t>(), n, default_generator().reserve(cpu::philox_blocks(n)));
  return out.to(type.value_or(kInt64));
}
Tensor rand_like_kernel(const Tensor& self, DtypeOption type, LayoutOption, DeviceOption device, PinOption, FormatOption) {
  return uniform__op(empty_like(self, {.dtype = type, .device = device}), 0, 1, std::nullopt);
}
Tensor randn_like_kernel(const Tensor& self, DtypeOption type, LayoutOption, DeviceOption device, PinOption, FormatOption) {
  return normal__op(empty_like(self, {.dtype = type, .device = device}), 0, 1, std::nullopt);
}

// The old values of the tensor do not matter.
struct OverwriteBackward {
  static constexpr std::string_view kName = "UniformBackward0";
  template <class... Args>
  explicit OverwriteBackward(autograd::InputNeeds, const Args&...) {}
  void operator()(autograd::Gradients& grads, const Tensor& grad) { grads.set(0, zeros_like(grad)); }
};
struct NormalBackward0 : OverwriteBackward {
  static constexpr std::string_view kName = "NormalBackward0";
  using OverwriteBackward::OverwriteBackward;
};
struct BernoulliBackward0 : OverwriteBackward {
  static constexpr std::string_view kName = "BernoulliBackward0";
  using OverwriteBackward::OverwriteBackward;
};

}  // namespace

Tensor rand(IntArrayRef sizes, const TensorOptions& o) { return with_grad(rand_op(sizes, o.dtype, kStrided, o.device, std::nullopt), o); }
Tensor randn(IntArrayRef sizes, const TensorOptions& o) { return with_grad(randn_op(sizes, o.dtype, kStrided, o.device, std::nullopt), o); }
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef sizes, const TensorOptions& o) {
  return with_grad(randint_op(low, high, sizes, o.dtype.value_or(kInt64), kStrided, o.device, std::nullopt), o);
}
Tensor randperm(std::int64_t n, const TensorOptions& o) { return randperm_op(n, o.dtype, kStrided, o.device, std::nullopt); }
Tensor rand_like(const Tensor& self, const TensorOptions& o) {
  return with_grad(rand_like_op(self, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}
Tensor randn_like(const Tensor& self, const TensorOptions& o) {
  return with_grad(randn_like_op(self, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}

Tensor Tensor::uniform_(double from, double to) const { return uniform__op(*this, from, to, std::nullopt); }
Tensor Tensor::normal_(double mean, double deviation) const { return normal__op(*this, mean, deviation, std::nullopt); }
Tensor Tensor::random_(std::int64_t from, std::optional<std::int64_t> to) const { return random__op(*this, from, to, std::nullopt); }
Tensor Tensor::bernoulli_(double p) const { return bernoulli__op(*this, p, std::nullopt); }

void register_random_ops(Library& library) {
  library.define<uniform__op>().kernel<uniform__kernel>().autograd<OverwriteBackward>();
  library.define<normal__op>().kernel<normal__kernel>().autograd<NormalBackward0>();
  library.define<random__op>().kernel<random__kernel>().not_differentiable();
  library.define<bernoulli__op>().kernel<bernoulli__kernel>().autograd<BernoulliBackward0>();
  library.define<rand_op>().kernel<rand_kernel>().not_differentiable();
  library.define<randn_op>().kernel<randn_kernel>().not_differentiable();
  library.define<randint_op>().kernel<randint_kernel>().not_differentiable();
  library.define<randperm_op>().kernel<randperm_kernel>().not_differentiable();
  library.define<rand_like_op>().kernel<rand_like_kernel>().not_differentiable();
  library.define<randn_like_op>().kernel<randn_like_kernel>().not_differentiable();
}

}  // namespace mindtorch
