// C++ exceptions as Python's: each class of mindtorch/base/error.h says which one it is.

#include "mindtorch/base/error.h"
#include "mindtorch/base/error_text.h"
#include "python/src/bindings.h"
#include "python/src/text.h"

namespace mindtorch::python {

namespace {

// The text of a C++ error may hold bytes of a name that are not UTF-8.
void raise(PyObject* type, const char* text) { PyErr_SetObject(type, to_text(text).ptr()); }

// An IoError is Python's OSError with errno and file name, so that its subclasses (FileNotFoundError, ...) are chosen by Python itself.
void raise_os_error(const IoError& error) {
  nb::object arguments = nb::make_tuple(error.code(), to_text(text_for_users(error)), error.path());
  PyErr_SetObject(PyExc_OSError, arguments.ptr());
}

void translate(const std::exception_ptr& pending, void* argument_assertion) {
  try {
    std::rethrow_exception(pending);
  } catch (const IoError& error) {
    raise_os_error(error);
  } catch (const ArgumentAssertion& error) {
    raise(static_cast<PyObject*>(argument_assertion), text_for_users(error));
  } catch (const InvalidArgument& error) {
    raise(PyExc_ValueError, text_for_users(error));
  } catch (const OutOfRange& error) {
    raise(PyExc_IndexError, text_for_users(error));
  } catch (const TypeMismatch& error) {
    raise(PyExc_TypeError, text_for_users(error));
  } catch (const NoSuchAttribute& error) {
    raise(PyExc_AttributeError, text_for_users(error));
  } catch (const AssertionFailed& error) {
    raise(PyExc_AssertionError, text_for_users(error));
  } catch (const Error& error) {
    raise(PyExc_RuntimeError, text_for_users(error));
  } catch (const nb::cast_error&) {
    raise(PyExc_TypeError, "a value has the wrong type");
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
      raise(class_of(error), error.what());
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception&) {
      translate(pending, argument_assertion_class);
    }
  } catch (const std::exception& error) {
    raise(PyExc_RuntimeError, error.what());
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
