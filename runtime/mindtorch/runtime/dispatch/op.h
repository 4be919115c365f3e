// Op: one operator. A call takes the kernel from a table. All decisions that do not depend on the call were made when the op was
// registered. Ops are recorded only here; redispatch from autograd to a backend is not recorded.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <string_view>
#include <type_traits>

#include "mindtorch/base/export.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/dispatch/arguments.h"
#include "mindtorch/runtime/dispatch/thread_state.h"

namespace mindtorch {

using AnyKernel = void (*)();  // a kernel; only its op knows the signature

// The part of an op that does not depend on its signature. Objects are static and constant initialised; the Library fills them in.
class MINDTORCH_EXPORT OpBase {
 public:
  constexpr explicit OpBase(const char* schema) : schema_text_(schema) {}
  OpBase(const OpBase&) = delete;
  OpBase& operator=(const OpBase&) = delete;

  const FunctionSchema& schema() const;  // registers the ops of the runtime first if necessary
  record::NameId name_id() const { return name_; }
  bool mutates_self() const { return (mutated_ & 1) != 0; }
  // Whether a call with these keys would find a kernel.
  bool has_kernel(DispatchKey key) const { return table_[static_cast<std::size_t>(key)].load(std::memory_order_acquire) != nullptr; }
  // Calls the op with arguments in schema order; missing ones have their defaults. It is slow and meant for tools and bindings.
  ValueVector call_boxed(std::span<const Value> arguments) const;

 protected:
  friend class Library;
  friend class OpEntry;

  // The kernel for a set of keys, or null.
  AnyKernel find_kernel(DispatchKeySet keys) const {
    const DispatchKeySet candidates = keys & DispatchKeySet(answered_.load(std::memory_order_acquire));
    if (candidates.empty()) [[unlikely]]
      return nullptr;
    return table_[static_cast<std::size_t>(candidates.highest())].load(std::memory_order_acquire);
  }
  // The slow path of a call: registers the ops of the runtime if necessary and looks for a kernel again. Throws if there is no kernel.
  AnyKernel find_kernel_or_fail(DispatchKeySet keys) const;

  // Runs torch's checks and increases the version of the written tensor, before the kernel of a mutating op runs.
  void announce_write(const Tensor& tensor) const;

  std::atomic<std::uint64_t> answered_{0};  // keys with a kernel; all others fall through
  std::array<std::atomic<AnyKernel>, kDispatchKeys> table_{};
  record::NameId name_ = 0;
  std::uint32_t mutated_ = 0;  // bit i: argument i is written to
  const char* schema_text_;
  const FunctionSchema* schema_ = nullptr;
  ValueVector (*boxed_)(const OpBase&, std::span<const Value>) = nullptr;
  // The registered kernels, before fall-through is resolved.
  std::array<AnyKernel, kDispatchKeys> registered_{};
};

// The recorder's link of a forward op: the sequence number of the autograd node that the op would create now, if gradients are on.
MINDTORCH_EXPORT std::uint64_t forward_link(DispatchKeySet keys);

template <class Signature>
class Op;

template <class Ret, class... Args>
class Op<Ret(Args...)> : public OpBase {
 public:
  using Kernel = Ret (*)(DispatchKeySet, Args...);
  using OpBase::OpBase;

  // The call that users and composite ops make.
  Ret operator()(Args... args) const {
    DispatchKeySet keys;
    (add_keys(keys, args), ...);
    if (!keys.has_any(kBackendKeys)) [[unlikely]]
      keys = keys | backend_key(device_of(args...).type);
    keys = effective_keys(keys);
    AnyKernel kernel = find_kernel(keys);
    if (kernel == nullptr) [[unlikely]]
      kernel = find_kernel_or_fail(keys);
    if (mutated_ != 0) [[unlikely]]
      announce_writes(std::index_sequence_for<Args...>(), args...);
    if (record::current_state() != 0) [[unlikely]]
      return call_recorded(kernel, keys, args...);
    return reinterpret_cast<Kernel>(kernel)(keys, args...);
  }

  // The call from a kernel to the one below it. It is neither recorded nor checked again.
  Ret redispatch(DispatchKeySet keys, Args... args) const {
    AnyKernel kernel = find_kernel(keys);
    if (kernel == nullptr) [[unlikely]]
      kernel = find_kernel_or_fail(keys);
    return reinterpret_cast<Kernel>(kernel)(keys, args...);
  }

 private:
  static Device device_of(const std::remove_cvref_t<Args>&... args) {
    CallDevice device;
    (device.see(args), ...);
    return device.get();
  }

  template <std::size_t... I>
  void announce_writes(std::index_sequence<I...>, const std::remove_cvref_t<Args>&... args) const {
    const auto announce = [this](const Tensor& tensor) {
      if (tensor.defined()) announce_write(tensor);
    };
    ((((mutated_ >> I) & 1) != 0 ? each_tensor(args, announce) : void()), ...);
  }

  [[gnu::noinline]] Ret call_recorded(AnyKernel kernel, DispatchKeySet keys, Args... args) const {
    record::OpScope scope(name_, record::known(device_of(args...)), forward_link(keys));
    if (scope.wants(record::kShapes)) {
      record::InputWriter writer(scope);
      (write_input(writer, args), ...);
    }
    return reinterpret_cast<Kernel>(kernel)(keys, args...);
  }
};

}  // namespace mindtorch
