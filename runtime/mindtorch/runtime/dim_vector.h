// Sizes and strides: a view of integers (IntArrayRef) and a vector of them that needs no heap for up to six dimensions (DimVector).
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"

namespace mindtorch {

class DimVector;

// A view, like std::span, that also accepts a braced list. A braced list lives as long as the call that it is an argument of.
class IntArrayRef {
 public:
  constexpr IntArrayRef() = default;
  constexpr IntArrayRef(const std::int64_t* data, std::size_t size) : data_(data), size_(size) {}
  constexpr IntArrayRef(std::initializer_list<std::int64_t> list) : IntArrayRef(std::data(list), list.size()) {}
  IntArrayRef(const std::vector<std::int64_t>& vector) : data_(vector.data()), size_(vector.size()) {}
  constexpr IntArrayRef(const std::int64_t& value) : data_(&value), size_(1) {}
  inline IntArrayRef(const DimVector& vector);

  constexpr const std::int64_t* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const std::int64_t* begin() const { return data_; }
  constexpr const std::int64_t* end() const { return data_ + size_; }
  constexpr const std::int64_t& operator[](std::size_t i) const { return data_[i]; }
  std::vector<std::int64_t> vec() const { return {begin(), end()}; }
  friend bool operator==(IntArrayRef a, IntArrayRef b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  const std::int64_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// A vector of dimensions; inline up to kInline, on the heap above.
class DimVector {
 public:
  static constexpr std::size_t kInline = 6;

  DimVector() = default;
  explicit DimVector(std::size_t size, std::int64_t value = 0) {
    resize(size);
    std::fill(begin(), end(), value);
  }
  DimVector(IntArrayRef values) { assign(values); }
  DimVector(std::initializer_list<std::int64_t> values) { assign(values); }
  DimVector(const DimVector& other) { assign(other); }
  DimVector(DimVector&& other) noexcept { take(other); }
  DimVector& operator=(const DimVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  DimVector& operator=(DimVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~DimVector() { release(); }

  std::int64_t* data() { return data_; }
  const std::int64_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* begin() { return data_; }
  std::int64_t* end() { return data_ + size_; }
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  std::int64_t& operator[](std::size_t i) { return data_[i]; }
  std::int64_t operator[](std::size_t i) const { return data_[i]; }
  std::int64_t& back() { return data_[size_ - 1]; }

  // New elements are not initialised.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = static_cast<std::uint32_t>(size);
  }
  void push_back(std::int64_t value) {
    resize(size_ + 1);
    data_[size_ - 1] = value;
  }
  void insert(std::size_t at, std::int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  void assign(IntArrayRef values) {
    resize(values.size());
    std::copy(values.begin(), values.end(), data_);
  }
  friend bool operator==(const DimVector& a, const DimVector& b) { return IntArrayRef(a) == IntArrayRef(b); }

 private:
  void grow(std::size_t size) {
    const std::size_t capacity = std::max<std::size_t>(size, 2 * capacity_);
    std::int64_t* bigger = new std::int64_t[capacity];
    std::copy(data_, data_ + size_, bigger);
    release();
    data_ = bigger;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void release() {
    if (data_ != inline_) delete[] data_;
  }
  void take(DimVector& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (other.data_ == other.inline_) {
      data_ = inline_;
      std::copy(other.inline_, other.inline_ + size_, inline_);
    } else {
      data_ = other.data_;
    }
    other.data_ = other.inline_;
    other.size_ = 0;
    other.capacity_ = kInline;
  }

  std::int64_t* data_ = inline_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInline;
  std::int64_t inline_[kInline];
};

inline IntArrayRef::IntArrayRef(const DimVector& vector) : data_(vector.data()), size_(vector.size()) {}

// "[2, 3]", as torch writes sizes in messages.
MINDTORCH_EXPORT std::string to_string(IntArrayRef values);

}  // namespace mindtorch
