// Ops as Python callables.
#include "runtime/python/src/op_function.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <map>

#include "python/src/text.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

// The Python object of an OpFunction. As attribute of a class it is a method: x.add(y) passes x as first argument.
struct CallableObject {
  PyObject base;
  vectorcallfunc vectorcall;
  const OpFunction* function;
};

PyTypeObject* callable_type = nullptr;

const OpFunction& function_of(PyObject* self) { return *reinterpret_cast<CallableObject*>(self)->function; }

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* keywords) {
  return guarded([&] { return function_of(self).call({arguments, static_cast<std::size_t>(PyVectorcall_NARGS(count)), keywords}); });
}

PyObject* bind_method(PyObject* self, PyObject* instance, PyObject*) {
  return instance == nullptr || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<op %s>", function_of(self).name().c_str()); }
PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(function_of(self).name().c_str()); }
PyObject* get_doc(PyObject* self, void*) {
  return guarded([&] { return checked(PyUnicode_FromString(function_of(self).signatures().c_str())); });
}
PyObject* get_schemas(PyObject* self, void*) {
  return guarded([&] {
    nb::list schemas;
    for (const std::string& schema : function_of(self).schemas()) schemas.append(nb::str(schema.c_str()));
    return nb::tuple(schemas).release().ptr();
  });
}
PyObject* get_module(PyObject*, void*) { return PyUnicode_FromString("mindtorch_v2"); }
PyObject* reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(function_of(self).name().c_str()); }  // by name

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(CallableObject, vectorcall), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                            {"__qualname__", get_name, nullptr, nullptr, nullptr},
                            {"__module__", get_module, nullptr, nullptr, nullptr},
                            {"__doc__", get_doc, nullptr, nullptr, nullptr},
                            {"schemas", get_schemas, nullptr, "The schemas of the overloads, in the order they are tried.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_members, members},
                       {Py_tp_getset, properties},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"mindtorch_v2.Op", sizeof(CallableObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

nb::object make_callable(const OpFunction& function) {
  PyObject* self = checked(callable_type->tp_alloc(callable_type, 0));
  auto* callable = reinterpret_cast<CallableObject*>(self);
  callable->vectorcall = call;
  callable->function = &function;
  return nb::steal(self);
}

// "(Tensor, int, dtype=str)": what was given, for messages.
std::string given_types(const CallArguments& arguments) {
  std::string text;
  const std::size_t total = arguments.positional + arguments.keyword_count();
  for (std::size_t i = 0; i < total; ++i) {
    if (!text.empty()) text += ", ";
    if (i >= arguments.positional)
      text += fmt::format("{}=", text_of(PyTuple_GET_ITEM(arguments.keywords, static_cast<Py_ssize_t>(i - arguments.positional))));
    text += type_name(arguments.values[i]);
  }
  return text;
}

using FunctionMap = std::map<std::string, OpFunction, std::less<>>;
FunctionMap& all_functions() {
  static auto* functions = new FunctionMap();
  return *functions;
}

// Ops that torch's functions have among their overloads and the library registers under other names. Before or after the function's own.
struct Extra {
  const char* function;
  const char* op;
  bool first;
};
constexpr Extra kExtras[] = {{"max", "aten::maximum", true}, {"min", "aten::minimum", true}, {"split", "aten::split_with_sizes", false}};

// Overloads with fewer numbers come first: a tensor is never taken for a number if it need not be.
int numbers_in(const OpBase& op) {
  return static_cast<int>(std::ranges::count_if(op.schema().arguments, [](const SchemaArgument& argument) {
    return argument.type.base == SchemaType::Base::kScalar && !argument.keyword_only;
  }));
}

}  // namespace

void OpFunction::add(const OpBase& op) {
  const auto later =
      std::find_if(overloads_.begin(), overloads_.end(), [&](const Overload& other) { return numbers_in(other.op()) > numbers_in(op); });
  const auto added = overloads_.emplace(later, op);
  is_method_ = is_method_ || added->is_method();
}

void OpFunction::add_extra(const OpBase& op, bool first) { overloads_.emplace(first ? overloads_.begin() : overloads_.end(), op); }

PyObject* OpFunction::try_call(const CallArguments& arguments) const {
  std::array<Value, kMaxArguments> values;
  for (const Overload& overload : overloads_) {
    bool requires_grad = false;
    const std::span<Value> own(values.data(), overload.size());
    if (overload.bind(arguments, own, requires_grad)) return overload.call(own, requires_grad);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* OpFunction::call(const CallArguments& arguments) const {
  PyObject* result = try_call(arguments);
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  fail(arguments);
}

PyObject* OpFunction::call_operator(std::initializer_list<PyObject*> arguments) const {
  return try_call({std::data(arguments), arguments.size(), nullptr});
}

std::string OpFunction::signatures() const {
  std::string text;
  for (const Overload& overload : overloads_) text += fmt::format("{}{}{}", text.empty() ? "" : "\n", name_, overload.str());
  return text;
}

std::vector<std::string> OpFunction::schemas() const {
  std::vector<std::string> texts;
  for (const Overload& overload : overloads_) texts.push_back(overload.op().schema().str());
  return texts;
}

void OpFunction::fail(const CallArguments& arguments) const {
  if (overloads_.size() == 1) throw TypeMismatch(name_ + overloads_[0].mismatch(arguments));
  std::string expected;
  for (const Overload& overload : overloads_) expected += "\n * " + overload.str();
  throw TypeMismatch(fmt::format("{}() received an invalid combination of arguments - got ({}), but expected one of:{}\n", name_,
                                 given_types(arguments), expected));
}

const OpFunction& find_op_function(std::string_view name) {
  const FunctionMap& functions = all_functions();
  const auto found = functions.find(name);
  if (found == functions.end()) throw_error<NoSuchAttribute>("ops", "there is no op '{}'", name);
  return found->second;
}

void bind_ops(nb::module_& module, PyTypeObject* tensor) {
  callable_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  FunctionMap& functions = all_functions();
  for (const std::string& full_name : Library::get().names()) {
    const OpBase& op = *Library::get().find(full_name);
    std::string name = op.schema().name;
    if (name.starts_with("aten::")) name = name.substr(6);
    functions.try_emplace(name, name).first->second.add(op);
  }
  for (const Extra& extra : kExtras)
    if (const OpBase* op = Library::get().find(extra.op)) functions.find(extra.function)->second.add_extra(*op, extra.first);
  nb::dict ops;
  for (const auto& [name, function] : functions) {
    const nb::object callable = make_callable(function);
    ops[name.c_str()] = callable;
    // Methods that the type defines itself (to, item, ...) are kept.
    if (function.is_method() && PyDict_GetItemString(tensor->tp_dict, name.c_str()) == nullptr)
      nb::setattr(reinterpret_cast<PyObject*>(tensor), name.c_str(), callable);
  }
  module.attr("ops") = ops;
}

}  // namespace mindtorch::python
