// The arguments of a foreign framework's op call, in the encoding of trace/inputs.h.
#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

#include "mindtorch/record/slot.h"
#include "mindtorch/record/state.h"
#include "python/src/capture/foreign_tensor.h"

namespace mindtorch::python {

// Reading arguments runs code of the framework (properties, __len__), which may record events itself. Therefore they are read before the
// event is opened and written after. Exceptions of that code are dropped, and the argument is recorded as one of an unknown kind.
class ArgumentWords {
 public:
  // `args` is a sequence or None, `kwargs` a dict or None; anything else is left out. `identified`: with the identities of tensors, if one
  // of them is torch's. Needs the GIL.
  ArgumentWords(PyObject* args, PyObject* kwargs, bool identified = asks_for_identities());
  // No arguments yet, and no identities.
  ArgumentWords() : identified_(false), words_(1) {}

  // Adds one argument. Needs the GIL.
  void add(PyObject* value);
  // Adds an argument of which nothing but its kind is told.
  void add_kind(trace::Input::Kind kind);
  // The number of arguments, and each argument.
  const std::vector<std::int64_t>& words() const { return words_; }

  // True if this session is told which tensors ops took.
  static bool asks_for_identities() noexcept { return record::wants(record::kShapes) && record::wants(record::kMemory); }

  // Attaches the arguments to an event that this thread has just opened. Does nothing for a null slot.
  void write(record::Slot* slot) const noexcept;

 private:
  bool add_scalar(PyObject* value);
  bool add_tensor(PyObject* value);
  void add_sequence(PyObject* sequence);
  bool add_numbers(PyObject* sequence);
  bool add_tensors(PyObject* sequence);

  void append_tensor(PyObject* value, const ForeignTensor& tensor);

  const bool identified_;
  std::vector<trace::TensorIdentity> identities_;  // of the tensors so far
  std::vector<std::int64_t> words_;
};

}  // namespace mindtorch::python
