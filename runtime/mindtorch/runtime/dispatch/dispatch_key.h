// Dispatch keys and sets of them: the layers of implementation that a call of an op goes through, highest priority first.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch {

// In the order of their priority: a call uses the first key of its set for which the op has a kernel. Names and order are part of the
// interface. Keys without kernels (Pipeline, Functionalize, Autocast, ...) fall through to the next key.
enum class DispatchKey : std::uint8_t {
  kBackendSelect,
  kPipeline,
  kPython,
  kFunctionalize,
  kADInplaceOrView,
  kAutogradOther,
  kAutogradCpu,
  kAutogradNpu,
  kAutogradCuda,
  kAutogradXpu,
  kAutogradMeta,
  kAutograd,
  kMeta,
  kNpu,
  kCuda,
  kCpu,
  kPythonDispatcher,
  kCompositeImplicit,
  kCompositeExplicit,
  kAutocast,
  kPrivateUse1,
  kPrivateUse2,
  kPrivateUse3,
};
inline constexpr int kDispatchKeys = 23;

MINDTORCH_EXPORT std::string_view dispatch_key_name(DispatchKey key);  // "AutogradCPU"

class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr explicit DispatchKeySet(std::uint64_t bits) : bits_(bits) {}
  constexpr DispatchKeySet(DispatchKey key) : bits_(std::uint64_t{1} << static_cast<int>(key)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey key : keys) bits_ |= DispatchKeySet(key).bits_;
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(DispatchKey key) const { return has_any(DispatchKeySet(key)); }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }
  // The set must not be empty.
  constexpr DispatchKey highest() const { return static_cast<DispatchKey>(std::countr_zero(bits_)); }
  constexpr std::uint64_t bits() const { return bits_; }

  friend constexpr DispatchKeySet operator|(DispatchKeySet a, DispatchKeySet b) { return DispatchKeySet(a.bits_ | b.bits_); }
  friend constexpr DispatchKeySet operator&(DispatchKeySet a, DispatchKeySet b) { return DispatchKeySet(a.bits_ & b.bits_); }
  friend constexpr DispatchKeySet operator-(DispatchKeySet a, DispatchKeySet b) { return DispatchKeySet(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(DispatchKeySet, DispatchKeySet) = default;

 private:
  std::uint64_t bits_ = 0;
};

inline constexpr DispatchKeySet kAutogradKeys{DispatchKey::kAutogradOther, DispatchKey::kAutogradCpu, DispatchKey::kAutogradNpu,
                                              DispatchKey::kAutogradCuda,  DispatchKey::kAutogradXpu, DispatchKey::kAutogradMeta,
                                              DispatchKey::kAutograd};
inline constexpr DispatchKeySet kBackendKeys{DispatchKey::kMeta, DispatchKey::kNpu, DispatchKey::kCuda, DispatchKey::kCpu};
// All keys below autograd. An autograd kernel redispatches to them.
inline constexpr DispatchKeySet kAfterAutogradKeys = DispatchKeySet(~std::uint64_t{0} << static_cast<int>(DispatchKey::kMeta));

constexpr DispatchKey backend_key(DeviceType type) {
  return type == DeviceType::kCpu ? DispatchKey::kCpu : type == DeviceType::kNpu ? DispatchKey::kNpu : DispatchKey::kCuda;
}
constexpr DispatchKey autograd_key(DeviceType type) {
  return type == DeviceType::kCpu   ? DispatchKey::kAutogradCpu
         : type == DeviceType::kNpu ? DispatchKey::kAutogradNpu
                                    : DispatchKey::kAutogradCuda;
}

}  // namespace mindtorch
