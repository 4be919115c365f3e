// Op: one operator. A call picks the kernel from a table and jumps there; all decisions that do not depend on the call were made when the
// op was registered. This is the one place where an op is recorded: redispatch from autograd to a backend is not seen.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <string_view>
#include <type_traits>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/dispatch/arguments.h"
#include "mindtorch/runtime/dispatch/thread_state.h"

namespace mindtorch {

using AnyKernel = void (*)();  // a kernel whose signature only its op knows

// The part of an op that does not depend on its signature. Objects have static life and constant initialisation; the Library fills them in.
class OpBase {
 public:
  constexpr explicit OpBase(const char* schema) : schema_text_(schema) {}
  OpBase(const OpBase&) = delete;
  OpBase& operator=(const OpBase&) = delete;

  const FunctionSchema& schema() const;  // registers the runtime's ops first if need be
  record::NameId name_id() const { return name_; }
  bool mutates_self() const { return (mutated_ & 1) != 0; }
  // Whether a call with these keys would find a kernel.
  bool has_kernel(DispatchKey key) const { return table_[static_cast<std::size_t>(key)].load(std::memory_order_acquire) != nullptr; }
  // Arguments in schema order; missing ones take their defaults. Slow: for tools and bindings.
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
  // The slow path of a call: registers the runtime's ops if that has not been done, then looks again. Throws if there is no kernel.
  AnyKernel find_kernel_or_fail(DispatchKeySet keys) const;

  // Before the kernel of a mutating op runs: torch's checks, and the version of what is written.
  void announce_write(const Tensor& tensor) const;

  std::atomic<std::uint64_t> answered_{0};  // keys with a kernel; all others fall through
  std::array<std::atomic<AnyKernel>, kDispatchKeys> table_{};
  record::NameId name_ = 0;
  std::uint32_t mutated_ = 0;  // bit i: argument i is written to
  const char* schema_text_;
  const FunctionSchema* schema_ = nullptr;
  ValueVector (*boxed_)(const OpBase&, std::span<const Value>) = nullptr;
  // What was registered, before fall-through is worked out.
  std::array<AnyKernel, kDispatchKeys> registered_{};
};

// The recorder's link of a forward op: the sequence number that a node made now would get, if one may be made.
std::uint64_t forward_link(DispatchKeySet keys);

template <class Signature>
class Op;

template <class Ret, class... Args>
class Op<Ret(Args...)> : public OpBase {
 public:
  using Kernel = Ret (*)(DispatchKeySet, Args...);
  using OpBase::OpBase;

  // A call by a user or by a composite op.
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

  // From a kernel to the one below it; neither recorded nor checked again.
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
