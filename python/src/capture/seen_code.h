// The code objects of captured stacks: a number for each, and a reference that keeps it alive until the stacks are resolved.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <vector>

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

  // A few nanoseconds; allocates only when the table has to grow.
  std::uint32_t number_of(PyCodeObject* code) noexcept {
    for (std::size_t at = first_place(code);; at = (at + 1) & mask_) {
      const Entry& entry = entries_[at];
      if (entry.code == code) [[likely]]
        return entry.number;
      if (entry.code == nullptr) return add(code, at);
    }
  }

  // Code from files in this folder (a str that ends in a separator) is hidden from now on.
  void hide_folder(PyObject* folder) noexcept;

  std::size_t size() const noexcept { return codes_.size(); }
  PyCodeObject* operator[](std::size_t number) const noexcept { return codes_[number]; }
  // Forgets all code objects. May run finalizers.
  void clear() noexcept;

 protected:
  // The number of new code, and its place in the table.
  virtual std::uint32_t add(PyCodeObject* code, std::size_t at) noexcept;
  // Notes it at the free place `at`. Throws std::bad_alloc, after noting it, if the table could not grow.
  void enter(PyCodeObject* code, std::uint32_t number, std::size_t at);

 private:
  struct Entry {
    PyCodeObject* code = nullptr;
    std::uint32_t number = 0;
  };
  static constexpr std::size_t kFirstSize = 1024;

  std::size_t first_place(const PyCodeObject* code) const noexcept {
    return ((reinterpret_cast<std::uintptr_t>(code) >> 4) * 0x9E3779B97F4A7C15u >> 32) & mask_;
  }
  bool is_hidden(const PyCodeObject* code) const noexcept;
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(kFirstSize);  // open addressing, at most half full
  std::size_t mask_ = kFirstSize - 1;
  std::size_t used_ = 0;
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
  std::uint32_t add(PyCodeObject* code, std::size_t at) noexcept override;

  SeenCode& owner_;
};

}  // namespace mindtorch::python
