// A pointer to an object that counts its own owners: one word, no control block.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace mindtorch {

// The base class of objects that IntrusivePtr points to. A derived class that needs more than plain delete has a static `void dispose(T*)`.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // True if this was the last owner: the caller then disposes of the object. A sole owner needs no atomic read-modify-write, because copies
  // are made from an owner and no other owner exists. Classes with weak references hide this function: see WeaklyCounted.
  bool release() const noexcept {
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  std::uint32_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }

 protected:
  ~RefCounted() = default;
  mutable std::atomic<std::uint32_t> count_{0};
};

// RefCounted for objects that others refer to by a raw pointer, from which they may become owners.
class WeaklyCounted : public RefCounted {
 public:
  bool release() const noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // Adds an owner unless the last owner is gone. True on success.
  bool try_retain() const noexcept {
    std::uint32_t count = count_.load(std::memory_order_relaxed);
    while (count != 0)
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

 protected:
  ~WeaklyCounted() = default;
};

template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) noexcept {}
  explicit IntrusivePtr(T* object) noexcept : object_(object) {
    if (object_ != nullptr) object_->retain();
  }
  // Takes over a reference that was counted before.
  static IntrusivePtr adopt(T* object) noexcept {
    IntrusivePtr result;
    result.object_ = object;
    return result;
  }
  IntrusivePtr(const IntrusivePtr& other) noexcept : IntrusivePtr(other.object_) {}
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> IntrusivePtr(IntrusivePtr<U> other)
  noexcept : object_(other.detach()) {}
  ~IntrusivePtr() { reset(); }
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  void reset() noexcept {
    T* object = std::exchange(object_, nullptr);
    if (object != nullptr && object->release()) dispose(object);
  }
  // Gives up the reference without decreasing the count.
  T* detach() noexcept { return std::exchange(object_, nullptr); }
  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) noexcept { return a.object_ == b.object_; }

 private:
  static void dispose(T* object) noexcept {
    if constexpr (requires { T::dispose(object); })
      T::dispose(object);
    else
      delete object;
  }

  T* object_ = nullptr;
};

template <class T, class... Args>
IntrusivePtr<T> make_intrusive(Args&&... args) {
  return IntrusivePtr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace mindtorch
