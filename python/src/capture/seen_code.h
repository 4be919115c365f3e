// The code objects of captured stacks: a number for each, and a reference that keeps it alive until the stacks are resolved.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "python/src/capture/address_table.h"

namespace mindtorch::python {

// A frame in a captured stack: the number of its code object and where in it the frame was, in bytes of byte code.
constexpr std::uint64_t frame_word(std::uint32_t code, std::uint32_t offset) { return (std::uint64_t{code} << 32) | offset; }
constexpr std::uint32_t code_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
constexpr std::uint32_t offset_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

// Every call needs the GIL, which is also its lock. No call runs Python code, except clear().
class SeenCode {
 public:
  virtual ~SeenCode() = default;

  // The number of code that is not shown.
  static constexpr std::uint32_t kHidden = ~std::uint32_t{0};

  // A few nanoseconds; allocates only for new code.
  std::uint32_t number_of(PyCodeObject* code) noexcept {
    if (const std::uint32_t* known = numbers_.find(code)) [[likely]]
      return *known;
    return add(code);
  }

  // Code from files in this folder (a str that ends in a separator) is hidden from now on.
  void hide_folder(PyObject* folder) noexcept;

  std::size_t size() const noexcept { return codes_.size(); }
  PyCodeObject* operator[](std::size_t number) const noexcept { return codes_[number]; }
  // Forgets all code objects. May run finalizers.
  void clear() noexcept;

 protected:
  // The number of new code; it is hidden if there is no memory for it, until it is met again.
  virtual std::uint32_t add(PyCodeObject* code) noexcept;

  AddressTable<const PyCodeObject*, std::uint32_t> numbers_;

 private:
  bool is_hidden(const PyCodeObject* code) const noexcept;

  std::vector<PyCodeObject*> codes_;         // by number; owned
  std::vector<PyCodeObject*> hidden_codes_;  // owned
  PyObject* hidden_folder_ = nullptr;
};

// The numbers of another table, for a thread that works without the GIL. It acquires the GIL only for code that it meets for the first
// time. The other table keeps the code alive, so both must be cleared together.
class BorrowedCode final : public SeenCode {
 public:
  explicit BorrowedCode(SeenCode& owner) : owner_(owner) {}

 private:
  std::uint32_t add(PyCodeObject* code) noexcept override;

  SeenCode& owner_;
};

}  // namespace mindtorch::python
