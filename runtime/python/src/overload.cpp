// One signature of an op: from Python's arguments to the dispatcher and back.
#include "mindtorch/record/state.h"
#include "python/src/text.h"
#include "runtime/python/src/dtype_object.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/op_function.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

bool is_any_worth_releasing(std::span<const Value> values) {
  for (const Value& value : values) {
    if (const auto* tensor = std::get_if<Tensor>(&value); tensor != nullptr && is_worth_releasing(*tensor)) return true;
    if (const auto* tensors = std::get_if<TensorVector>(&value))
      for (const Tensor& tensor : *tensors)
        if (is_worth_releasing(tensor)) return true;
  }
  return false;
}

// torch.return_types.max: a tuple whose items have names.
PyTypeObject* make_result_type(const FunctionSchema& schema) {
  static std::vector<std::unique_ptr<std::string>> names;  // the type keeps pointers to them
  const auto keep = [](std::string text) { return names.emplace_back(std::make_unique<std::string>(std::move(text)))->c_str(); };
  auto* fields = new std::vector<PyStructSequence_Field>();
  for (const SchemaArgument& result : schema.results) fields->push_back({keep(result.name), nullptr});
  fields->push_back({nullptr, nullptr});
  PyStructSequence_Desc description = {keep("torch.return_types." + schema.name.substr(schema.name.find("::") + 2)), nullptr,
                                       fields->data(), static_cast<int>(schema.results.size())};
  return reinterpret_cast<PyTypeObject*>(checked(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description))));
}

PyObject* as_python(const Value& value) {
  return std::visit(
      []<class T>(const T& content) -> PyObject* {
        if constexpr (std::is_same_v<T, Tensor>)
          return wrap(content);
        else if constexpr (std::is_same_v<T, bool>)
          return PyBool_FromLong(content);
        else if constexpr (std::is_same_v<T, std::int64_t>)
          return PyLong_FromLongLong(content);
        else if constexpr (std::is_same_v<T, double>)
          return PyFloat_FromDouble(content);
        else if constexpr (std::is_same_v<T, TensorVector>) {
          PyObject* tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(content.size())));
          for (std::size_t i = 0; i < content.size(); ++i) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), checked(wrap(content[i])));
          return tuple;
        } else {
          Py_RETURN_NONE;
        }
      },
      value);
}

}  // namespace

Overload::Overload(const OpBase& op) : op_(&op) {
  const FunctionSchema& schema = op.schema();
  if (schema.arguments.size() > kMaxArguments)
    throw_error<InvalidArgument>("python.ops", "{} has more than {} arguments", schema.full_name(), kMaxArguments);
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const Parameter& parameter = parameters_.emplace_back(schema.arguments[i], i);
    if (!parameter.keyword_only()) positional_ = i + 1;
    if (!parameter.has_default()) required_ |= std::size_t{1} << i;
    if (schema.arguments[i].name == "pin_memory" && schema.name != "aten::_to_copy") makes_tensor_ = true;
  }
  is_method_ =
      !schema.arguments.empty() && schema.arguments[0].name == "self" && schema.arguments[0].type == SchemaType{SchemaType::Base::kTensor};
  const std::size_t first = is_method_ ? 1 : 0;
  if (positional_ == first + 1 && parameters_[first].is_int_list()) spread_ = static_cast<int>(first);
  if (schema.results.size() > 1 && !schema.results[0].name.empty()) result_type_ = make_result_type(schema);
}

const Parameter* Overload::find(PyObject* name) const {
  for (const Parameter& parameter : parameters_)
    if (parameter.is_named(name)) return &parameter;
  for (const Parameter& parameter : parameters_)
    if (parameter.is_spelled(name)) return &parameter;
  return nullptr;
}

bool Overload::bind_keyword(PyObject* name, PyObject* object, std::span<Value> values, std::uint32_t& given, bool& requires_grad) const {
  if (const Parameter* parameter = find(name)) {
    const auto i = static_cast<std::size_t>(parameter - parameters_.data());
    if ((given >> i & 1) != 0 || !parameter->convert(object, values[i])) return false;
    given |= 1u << i;
    return true;
  }
  if (object == Py_None && PyUnicode_CompareWithASCIIString(name, "out") == 0) return true;  // as NumPy calls methods
  if (makes_tensor_ && PyUnicode_CompareWithASCIIString(name, "requires_grad") == 0) return to_boolean(object, requires_grad);
  return false;
}

bool Overload::bind(const CallArguments& arguments, std::span<Value> values, bool& requires_grad) const {
  std::size_t count = arguments.positional;
  std::uint32_t given = 0;
  requires_grad = false;
  const auto spread = static_cast<std::size_t>(spread_);
  const bool is_spread = spread_ >= 0 && count > positional_;
  if (is_spread) {
    auto& integers = values[spread].emplace<std::vector<std::int64_t>>(count - spread);
    for (std::size_t i = spread; i < count; ++i)
      if (!to_integer(arguments.values[i], integers[i - spread])) return false;
    given = 1u << spread;
    count = spread;
  } else if (count > positional_) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!parameters_[i].convert(arguments.values[i], values[i])) return false;
  given |= (1u << count) - 1;
  for (std::size_t k = 0; k < arguments.keyword_count(); ++k)
    if (!bind_keyword(PyTuple_GET_ITEM(arguments.keywords, static_cast<Py_ssize_t>(k)), arguments.values[arguments.positional + k], values,
                      given, requires_grad))
      return false;
  if (spread_ >= 0 && (given >> spread & 1) == 0 && !parameters_[spread].has_default() && arguments.positional == spread && !is_method_) {
    values[spread] = std::vector<std::int64_t>();  // torch.zeros(): no sizes make a number
    given |= 1u << spread;
  }
  if ((required_ & ~std::size_t{given}) != 0) return false;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if ((given >> i & 1) == 0) values[i] = parameters_[i].default_value();
  return true;
}

PyObject* Overload::call(std::span<Value> values, bool requires_grad) const {
  ValueVector result;
  {
    const ReleasedGil released(is_any_worth_releasing(values));
    result = op_->call_boxed(values);
  }
  if (requires_grad) std::get<Tensor>(result[0]).requires_grad_();
  return results(result);
}

PyObject* Overload::results(const ValueVector& values) const {
  if (values.size() == 1) return as_python(values[0]);
  const auto size = static_cast<Py_ssize_t>(values.size());
  PyObject* tuple = checked(result_type_ != nullptr ? PyStructSequence_New(result_type_) : PyTuple_New(size));
  for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(tuple, i, checked(as_python(values[static_cast<std::size_t>(i)])));
  return tuple;
}

std::string Overload::str() const {
  std::string text = "(";
  bool keyword_only = false;
  for (const Parameter& parameter : parameters_) {
    if (text.size() > 1) text += ", ";
    if (parameter.keyword_only() && !std::exchange(keyword_only, true)) text += "*, ";
    text += parameter.str();
  }
  if (makes_tensor_) text += ", bool requires_grad = False";
  return text + ")";
}

std::string Overload::mismatch(const CallArguments& arguments) const {
  if (arguments.positional > positional_ && spread_ < 0)
    return fmt::format("() takes {} positional argument{} but {} {} given", positional_, positional_ == 1 ? "" : "s", arguments.positional,
                       arguments.positional == 1 ? "was" : "were");
  Value value;
  for (std::size_t i = 0; i < std::min(arguments.positional, positional_); ++i)
    if (!parameters_[i].convert(arguments.values[i], value))
      return fmt::format("(): argument '{}' (position {}) must be {}, not {}", parameters_[i].name(), i + 1, parameters_[i].type_str(),
                         type_name(arguments.values[i]));
  std::vector<bool> given(parameters_.size(), false);
  for (std::size_t k = 0; k < arguments.keyword_count(); ++k) {
    PyObject* name = PyTuple_GET_ITEM(arguments.keywords, static_cast<Py_ssize_t>(k));
    PyObject* object = arguments.values[arguments.positional + k];
    const Parameter* found = find(name);
    if (found == nullptr) return fmt::format("() got an unexpected keyword argument '{}'", text_of(name));
    if (!found->convert(object, value))
      return fmt::format("(): argument '{}' must be {}, not {}", found->name(), found->type_str(), type_name(object));
    given[static_cast<std::size_t>(found - parameters_.data())] = true;
  }
  std::string missing;
  int count = 0;
  for (std::size_t i = arguments.positional; i < parameters_.size(); ++i)
    if (!given[i] && !parameters_[i].has_default()) {
      missing += fmt::format("{}\"{}\"", count == 0 ? "" : ", ", parameters_[i].name());
      ++count;
    }
  return fmt::format("() missing {} required positional arguments: {}", count, missing);
}

}  // namespace mindtorch::python
