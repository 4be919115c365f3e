// The arguments of a foreign framework's op call, in the encoding of trace/inputs.h.
#include "python/src/capture/argument_words.h"

#include <algorithm>
#include <bit>

#include "mindtorch/record/thread_log.h"
#include "mindtorch/trace/inputs.h"
#include "python/src/capture/foreign_tensor.h"
#include "python/src/capture/name_cache.h"

namespace mindtorch::python {
namespace {

using Kind = trace::Input::Kind;

// Longer texts are data, not options; no viewer shows longer lists of tensors.
constexpr Py_ssize_t kLongestText = 256;
constexpr Py_ssize_t kLongestList = 1024;

Py_ssize_t size_of(PyObject* sequence) { return PySequence_Fast_GET_SIZE(sequence); }
PyObject* item(PyObject* sequence, Py_ssize_t i) { return PySequence_Fast_GET_ITEM(sequence, i); }

}  // namespace

ArgumentWords::ArgumentWords(PyObject* args, PyObject* kwargs, bool identified) : identified_(identified) {
  words_.reserve(32);
  words_.push_back(0);  // the number of arguments
  if (PyTuple_Check(args) || PyList_Check(args)) {
    // A list may change while its elements are looked at: the size is asked for again each time.
    for (Py_ssize_t i = 0; i < size_of(args); ++i) {
      PyObject* const value = Py_NewRef(item(args, i));
      add(value);
      Py_DECREF(value);
    }
  }
  if (PyDict_Check(kwargs)) {
    PyObject* values = PyDict_Values(kwargs);
    if (values == nullptr) PyErr_Clear();
    for (Py_ssize_t i = 0; values != nullptr && i < PyList_GET_SIZE(values); ++i) add(PyList_GET_ITEM(values, i));
    Py_XDECREF(values);
  }
  const bool is_torchs = std::ranges::any_of(identities_, [](const trace::TensorIdentity& it) { return it.tensor != 0; });
  if (is_torchs) trace::add_identities(identities_, words_);
}

void ArgumentWords::append_tensor(PyObject* value, const ForeignTensor& tensor) {
  const bool contiguous = tensor.strides.empty();
  words_.push_back(trace::make_input_header(Kind::kTensor, static_cast<std::uint32_t>(tensor.sizes.size()), tensor.dtype, contiguous));
  words_.insert(words_.end(), tensor.sizes.begin(), tensor.sizes.end());
  words_.insert(words_.end(), tensor.strides.begin(), tensor.strides.end());
  if (identified_) identities_.push_back(identity_of(value));
}

void ArgumentWords::add_kind(Kind kind) {
  ++words_[0];
  words_.push_back(trace::make_input_header(kind));
}

void ArgumentWords::add(PyObject* value) {
  ++words_[0];
  if (add_scalar(value)) return;
  if (PyTuple_Check(value) || PyList_Check(value)) {
    // A tuple of its own, which foreign code cannot change meanwhile.
    PyObject* const copy = PySequence_Tuple(value);
    if (copy != nullptr) {
      add_sequence(copy);
      Py_DECREF(copy);
      return;
    }
    PyErr_Clear();
  }
  if (!add_tensor(value)) words_.push_back(trace::make_input_header(Kind::kOther));
}

bool ArgumentWords::add_scalar(PyObject* value) {
  const auto add_pair = [&](Kind kind, std::int64_t bits) {
    words_.insert(words_.end(), {trace::make_input_header(kind), bits});
    return true;
  };
  if (value == Py_None) {
    words_.push_back(trace::make_input_header(Kind::kNone));
    return true;
  }
  if (PyBool_Check(value)) return add_pair(Kind::kBool, value == Py_True ? 1 : 0);
  if (PyFloat_Check(value)) return add_pair(Kind::kDouble, std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(value)));
  if (PyUnicode_Check(value) && PyUnicode_GetLength(value) <= kLongestText) return add_pair(Kind::kText, name_id(value));
  if (!PyLong_Check(value)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0 && add_pair(Kind::kInt, number);
}

bool ArgumentWords::add_tensor(PyObject* value) {
  ForeignTensor tensor;
  if (!look_at_tensor(value, tensor)) return false;
  append_tensor(value, tensor);
  return true;
}

void ArgumentWords::add_sequence(PyObject* sequence) {
  if (size_of(sequence) > kLongestList || !(add_numbers(sequence) || add_tensors(sequence)))
    words_.push_back(trace::make_input_header(Kind::kOther));
}

// A list of truth values, of integers, or of integers and floats.
bool ArgumentWords::add_numbers(PyObject* sequence) {
  const Py_ssize_t count = size_of(sequence);
  bool integers = true, booleans = count > 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!PyLong_Check(item(sequence, i)) && !PyFloat_Check(item(sequence, i))) return false;
    integers = integers && PyLong_Check(item(sequence, i));
    booleans = booleans && PyBool_Check(item(sequence, i));
  }
  const std::size_t begin = words_.size();
  const Kind kind = booleans ? Kind::kBoolList : integers ? Kind::kIntList : Kind::kDoubleList;
  words_.push_back(trace::make_input_header(kind, static_cast<std::uint32_t>(count)));
  for (Py_ssize_t i = 0; i < count; ++i)
    words_.push_back(integers ? PyLong_AsLongLong(item(sequence, i)) : std::bit_cast<std::int64_t>(PyFloat_AsDouble(item(sequence, i))));
  if (PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();  // a number too large
  words_.resize(begin);
  return false;
}

// A list of tensors, in which other things (None) are tensors about which nothing is known.
bool ArgumentWords::add_tensors(PyObject* sequence) {
  const Py_ssize_t count = size_of(sequence);
  const std::size_t begin = words_.size(), known = identities_.size();
  words_.push_back(trace::make_input_header(Kind::kTensorList, static_cast<std::uint32_t>(count)));
  bool any = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    ForeignTensor tensor;
    any = (item(sequence, i) != Py_None && look_at_tensor(item(sequence, i), tensor)) || any;
    append_tensor(item(sequence, i), tensor);
  }
  if (!any) {
    words_.resize(begin);
    identities_.resize(known);
  }
  return any;
}

void ArgumentWords::write(record::Slot* slot) const noexcept {
  if (slot == nullptr || words_.empty()) return;
  record::ThreadLog* const log = record::thread_log;
  const auto count = static_cast<std::uint32_t>(words_.size());
  std::int64_t* const at = record::reserve_side(log, count);
  if (at == nullptr) return;  // counted as lost side data
  std::copy(words_.begin(), words_.end(), at + 1);
  record::commit_side(log, at, record::SideKind::kInputs, count, static_cast<std::uint32_t>(slot - log->segment_begin));
}

}  // namespace mindtorch::python
