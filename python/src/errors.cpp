// C++ exceptions as Python's: each class of mindtorch/base/error.h says which one it is.
#include <nanobind/stl/string.h>

#include "mindtorch/base/error.h"
#include "mindtorch/base/error_text.h"
#include "python/src/bindings.h"

namespace mindtorch::python {

namespace {

// An IoError is Python's OSError with errno and file name, so that its subclasses (FileNotFoundError, ...) are chosen by Python itself.
void raise_os_error(const IoError& error) {
  nb::object arguments = nb::make_tuple(error.code(), text_for_users(error), error.path());
  PyErr_SetObject(PyExc_OSError, arguments.ptr());
}

void translate(const std::exception_ptr& pending, void* argument_assertion) {
  try {
    std::rethrow_exception(pending);
  } catch (const IoError& error) {
    raise_os_error(error);
  } catch (const ArgumentAssertion& error) {
    PyErr_SetString(static_cast<PyObject*>(argument_assertion), text_for_users(error));
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, text_for_users(error));
  } catch (const OutOfRange& error) {
    PyErr_SetString(PyExc_IndexError, text_for_users(error));
  } catch (const TypeMismatch& error) {
    PyErr_SetString(PyExc_TypeError, text_for_users(error));
  } catch (const NoSuchAttribute& error) {
    PyErr_SetString(PyExc_AttributeError, text_for_users(error));
  } catch (const AssertionFailed& error) {
    PyErr_SetString(PyExc_AssertionError, text_for_users(error));
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, text_for_users(error));
  }
}

PyObject* argument_assertion_class = nullptr;

PyObject* class_of(const nb::builtin_exception& error) {
  switch (error.type()) {
    case nb::exception_type::index_error: return PyExc_IndexError;
    case nb::exception_type::key_error: return PyExc_KeyError;
    case nb::exception_type::value_error: return PyExc_ValueError;
    case nb::exception_type::type_error: return PyExc_TypeError;
    case nb::exception_type::buffer_error: return PyExc_BufferError;
    case nb::exception_type::attribute_error: return PyExc_AttributeError;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

void set_python_error(const std::exception_ptr& pending) noexcept {
  try {
    try {
      std::rethrow_exception(pending);
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const nb::builtin_exception& error) {
      PyErr_SetString(class_of(error), error.what());
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const Error&) {
      translate(pending, argument_assertion_class);
    }
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void bind_errors(nb::module_& module) {
  // torch raises AssertionError where a wrong argument deserves ValueError: one class that is both serves either caller.
  nb::object bases = nb::make_tuple(nb::borrow(PyExc_ValueError), nb::borrow(PyExc_AssertionError));
  PyObject* argument_assertion = PyErr_NewExceptionWithDoc("mindtorch_v2.ArgumentAssertionError",
                                                           "A wrong argument; both ValueError and AssertionError.", bases.ptr(), nullptr);
  if (argument_assertion == nullptr) throw nb::python_error();
  argument_assertion_class = argument_assertion;
  module.attr("ArgumentAssertionError") = nb::borrow(argument_assertion);
  nb::register_exception_translator(translate, argument_assertion);  // which keeps the reference
}

}  // namespace mindtorch::python
