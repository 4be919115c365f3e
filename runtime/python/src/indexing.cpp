// x[...] and x[...] = value: integers, slices, None and ... give views, tensors and masks are left to the ops that index.
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_data.h"
#include "runtime/python/src/tensor_object.h"
#include "runtime/python/src/tensor_slots.h"

namespace mindtorch::python {

namespace {

// A tensor narrowed down by the simple parts of an index, and the rest of it.
struct Selection {
  Tensor view;
  TensorVector indices;  // of the view, as index() takes them; empty if the view is all
};

bool is_index_tensor(PyObject* item) {
  return is_tensor(item) || PyList_Check(item) || PyTuple_Check(item) || (PyObject_CheckBuffer(item) != 0 && PySequence_Check(item) != 0);
}

Tensor as_index_tensor(PyObject* item) {
  const Tensor tensor = is_tensor(item) ? unwrap(item) : tensor_from_data(item, std::nullopt, std::nullopt);
  if (!is_tensor(item) && tensor.numel() == 0) return tensor.to(kInt64);
  if (tensor.is_floating_point())
    throw_error<OutOfRange>("Tensor.__getitem__", "tensors used as indices must be long, int, byte or bool tensors");
  return tensor;
}

class Indexer {
 public:
  explicit Indexer(const Tensor& self) : result_{self, {}} {}

  Selection apply(PyObject* index) {
    std::vector<nb::object> items = items_of(index);
    const std::int64_t whole = result_.view.dim() - consumed_by(items);
    if (whole < 0) throw_error<OutOfRange>("Tensor.__getitem__", "too many indices for tensor of dimension {}", result_.view.dim());
    for (const nb::object& item : items) {
      if (item.ptr() == Py_Ellipsis)
        dim_ += whole;
      else
        apply_item(item.ptr());
    }
    return std::move(result_);
  }

 private:
  static std::vector<nb::object> items_of(PyObject* index) {
    std::vector<nb::object> items;
    if (!PyTuple_Check(index)) return {nb::borrow(index)};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) items.push_back(nb::borrow(PyTuple_GET_ITEM(index, i)));
    return items;
  }

  // How many dimensions the items take; lists become tensors on the way.
  static std::int64_t consumed_by(std::vector<nb::object>& items) {
    std::int64_t count = 0;
    for (nb::object& item : items) {
      if (item.ptr() == Py_Ellipsis || item.is_none() || PyBool_Check(item.ptr())) continue;
      if (is_index_tensor(item.ptr())) {
        const Tensor tensor = as_index_tensor(item.ptr());
        item = nb::steal(checked(wrap(tensor)));
        count += tensor.dtype() == kBool ? tensor.dim() : 1;
      } else {
        ++count;
      }
    }
    return count;
  }

  void apply_item(PyObject* item) {
    if (item == Py_None) {
      result_.view = result_.view.unsqueeze(dim_++);
    } else if (PyBool_Check(item)) {
      result_.view = result_.view.unsqueeze(dim_);
      put(full({item == Py_True ? 1 : 0}, 0, {.dtype = kInt64}), 1);
    } else if (PySlice_Check(item)) {
      apply_slice(item);
    } else if (is_tensor(item)) {
      apply_tensor(unwrap(item));
    } else if (std::int64_t index; to_integer(item, index)) {
      select(index);
    } else {
      throw_error<OutOfRange>("Tensor.__getitem__",
                              "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})",
                              type_name(item));
    }
  }

  void select(std::int64_t index) {
    const std::int64_t size = result_.view.size(dim_);
    if (index < -size || index >= size)
      throw_error<OutOfRange>("Tensor.__getitem__", "index {} is out of bounds for dimension {} with size {}", index, dim_, size);
    result_.view = result_.view.select(dim_, index);
  }

  void apply_slice(PyObject* slice) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) != 0) throw nb::python_error();
    if (step <= 0) throw_error<InvalidArgument>("Tensor.__getitem__", "step must be greater than zero");
    const std::int64_t size = result_.view.size(dim_);
    PySlice_AdjustIndices(size, &start, &stop, step);
    if (start != 0 || stop != size || step != 1) result_.view = result_.view.slice(dim_, start, stop, step);
    ++dim_;
  }

  void apply_tensor(const Tensor& index) {
    if (index.dtype() != kBool) {
      if (index.dim() == 0) return select(item_of(index).to_int());
      return put(index, 1);
    }
    if (index.dim() == 0) {
      result_.view = result_.view.unsqueeze(dim_);
      return put(full({item_of(index).to_bool() ? 1 : 0}, 0, {.dtype = kInt64}), 1);
    }
    put(index, index.dim());
  }

  // An index of the next `dims` dimensions.
  void put(const Tensor& index, std::int64_t dims) {
    for (; covered_ < dim_; ++covered_) result_.indices.emplace_back();
    result_.indices.push_back(index);
    dim_ += dims;
    covered_ = dim_;
  }

  Selection result_;
  std::int64_t dim_ = 0;      // of the view, that the next item is about
  std::int64_t covered_ = 0;  // dimensions that the indices are about
};

Tensor indexed(const Selection& selection) {
  const ReleasedGil released(is_worth_releasing(selection.view));
  return index(selection.view, selection.indices);
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Tensor& tensor = unwrap(self);
    const Selection selection = Indexer(tensor).apply(key);
    if (!selection.indices.empty()) return wrap(indexed(selection));
    return wrap(selection.view.is_same(tensor) ? tensor.expand(tensor.sizes()) : selection.view);
  });
}

// A number as a tensor on the CPU, which every op takes.
Tensor number_tensor(const Scalar& number, ScalarType type) {
  const Tensor tensor = new_tensor({}, type, Device());
  visit_types(type, [&]<class T>() { *tensor.data_ptr<T>() = number.to<T>(); });
  return tensor;
}

Tensor source_of(PyObject* value, const Tensor& self) {
  if (!is_tensor(value)) return tensor_from_data(value, self.dtype(), self.device());
  const Tensor& source = unwrap(value);
  return source.dtype() == self.dtype() && (source.device() == self.device() || source.dim() == 0) ? source
                                                                                                   : source.to(self.device(), self.dtype());
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(
      [&] {
        if (value == nullptr) throw_error<TypeMismatch>("Tensor.__delitem__", "Tensor does not support deleting items");
        const Tensor& tensor = unwrap(self);
        const Selection selection = Indexer(tensor).apply(key);
        Scalar number;
        const bool is_number = !is_tensor(value) && to_scalar(value, number);
        if (!selection.indices.empty()) {
          const Tensor source = is_number ? number_tensor(number, tensor.dtype()) : source_of(value, tensor);
          const ReleasedGil released(is_worth_releasing(selection.view));
          index_put_(selection.view, selection.indices, source);
        } else if (is_number) {
          selection.view.fill_(number);
        } else {
          Tensor source = is_tensor(value) ? unwrap(value) : source_of(value, tensor);
          while (source.dim() > selection.view.dim() && source.size(0) == 1) source = source.squeeze(0);
          selection.view.copy_(source);
        }
        return 0;
      },
      -1);
}

Py_ssize_t length(PyObject* self) {
  return guarded(
      [&]() -> Py_ssize_t {
        if (unwrap(self).dim() == 0) throw_error<TypeMismatch>("Tensor.__len__", "len() of a 0-d tensor");
        return unwrap(self).size(0);
      },
      Py_ssize_t{-1});
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    if (unwrap(self).dim() == 0) throw_error<TypeMismatch>("Tensor.__iter__", "iteration over a 0-d tensor");
    nb::list rows;
    for (const Tensor& row : unwrap(self).unbind(0)) rows.append(nb::steal(checked(wrap(row))));
    return checked(PyObject_GetIter(rows.ptr()));
  });
}

int contains(PyObject* self, PyObject* value) {
  return guarded(
      [&] {
        Scalar number;
        if (is_tensor(value) && unwrap(value).dim() > 0) return item_of(unwrap(self).eq(unwrap(value)).any()).to_bool() ? 1 : 0;
        if (!to_scalar(value, number))
          throw_error("Tensor.__contains__", "Tensor.__contains__ only supports Tensor or scalar, but you passed in a {}.",
                      type_name(value));
        return item_of(unwrap(self).eq(number).any()).to_bool() ? 1 : 0;
      },
      -1);
}

}  // namespace

void add_index_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {{Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                             {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                             {Py_mp_length, reinterpret_cast<void*>(length)},
                             {Py_sq_contains, reinterpret_cast<void*>(contains)},
                             {Py_tp_iter, reinterpret_cast<void*>(iterate)}});
}

}  // namespace mindtorch::python
