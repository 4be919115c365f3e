// Runs ops by name for the comparisons in test_against_torch.py and test_device_contract.py.
//   op_tool --schemas          the schema of every op, one a line
//   op_tool [cpu|npu|late]     reads cases from standard input, one JSON object a line, and answers each with one
// A case is {"op", "args", "options", "grads", "second"}. A tensor is {"dtype", "size", "stride", "offset", "data"} where data holds the
// bytes of the storage in hexadecimal digits; an argument may add "grad": true. "grads" are the gradients of the outputs (null: none),
// "second" those of the gradients of the inputs, for a second backward pass. The last line tells how much memory the cases have left
// behind.
#include <fmt/format.h>
#include <simdjson.h>

#include <cstdio>
#include <iostream>

#include "mindtorch/runtime/autograd/engine.h"
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/memory.h"
#include "runtime/tests/late_device.h"

namespace mindtorch::testing {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

// ---- reading ----

std::vector<std::int64_t> integers_of(element list) {
  std::vector<std::int64_t> values;
  for (const element value : list.get_array()) values.push_back(value.get_int64());
  return values;
}

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// The whole storage as a tensor with one dimension.
Tensor storage_of(object spec, Device device) {
  const std::string_view digits = spec["data"];
  const auto type = static_cast<ScalarType>(spec["dtype"].get_int64().value());
  const Tensor storage = empty({static_cast<std::int64_t>(digits.size() / 2 / element_size(type))}, {.dtype = type});
  auto* bytes = static_cast<unsigned char*>(storage.data_ptr());
  for (std::size_t i = 0; i < digits.size() / 2; ++i)
    bytes[i] = static_cast<unsigned char>(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
  return storage.to(device);
}

Tensor view_of(const Tensor& storage, object spec) {
  return storage.as_strided(integers_of(spec["size"]), integers_of(spec["stride"]), spec["offset"].get_int64().value());
}

// The arguments of a case, and the tensors whose gradients are asked for.
class Arguments {
 public:
  // `list` in the order of the schema, `options` by name. A device is always the one that is tested.
  Arguments(const FunctionSchema& schema, simdjson::dom::array list, object options, Device device) : device_(device) {
    auto positional = list.begin();
    for (const SchemaArgument& argument : schema.arguments) {
      element given;
      const bool is_positional = positional != list.end();
      if (is_positional) given = *positional, ++positional;
      if (argument.type.base == SchemaType::Base::kDevice)
        values.emplace_back(device);
      else if (is_positional || options[argument.name].get(given) == simdjson::SUCCESS)
        values.push_back(value_of(given, argument.is_write));
      else if (argument.has_default)
        values.push_back(argument.default_value);
      else
        throw_error<TypeMismatch>(schema.name, "missing argument '{}'", argument.name);
    }
  }

  ValueVector values;
  TensorVector tensors;  // in order, elements of lists one by one
  TensorVector inputs;   // those that require a gradient
  TensorVector written;  // the whole storage of what the op writes to

 private:
  // What is written to is a view of a copy of its storage: the result of another op, as every in-place op's argument that has a gradient.
  Tensor tensor_of(object spec, bool is_written) {
    bool needs_grad = false;
    if (spec["grad"].get(needs_grad) != simdjson::SUCCESS) needs_grad = false;
    Tensor storage = storage_of(spec, device_);
    if (is_written) {
      storage.requires_grad_(needs_grad);
      if (needs_grad) inputs.push_back(storage);
      written.push_back(storage.clone());
      tensors.push_back(view_of(written.back(), spec));
    } else {
      tensors.push_back(view_of(storage, spec).detach().requires_grad_(needs_grad));
      if (needs_grad) inputs.push_back(tensors.back());
    }
    return tensors.back();
  }

  Value value_of(element value, bool is_written) {
    switch (value.type()) {
      case element_type::NULL_VALUE: return std::monostate();
      case element_type::BOOL: return value.get_bool().value();
      case element_type::INT64: return value.get_int64().value();
      case element_type::UINT64: return static_cast<std::int64_t>(value.get_uint64().value());
      case element_type::DOUBLE: return value.get_double().value();
      case element_type::STRING: return std::string(value.get_string().value());
      case element_type::ARRAY: return integers_of(value);
      case element_type::OBJECT: break;
    }
    const object spec = value;
    std::string_view number;
    if (spec["float"].get(number) == simdjson::SUCCESS) return std::stod(std::string(number));
    simdjson::dom::array list;
    if (spec["tensors"].get(list) != simdjson::SUCCESS) return tensor_of(spec, is_written);
    TensorVector result;
    for (const element tensor : list) result.push_back(tensor.is_null() ? Tensor() : tensor_of(tensor, is_written));
    return result;
  }

  Device device_;
};

// ---- writing ----

std::string text_of(const Tensor& tensor, const TensorVector& arguments) {
  if (!tensor.defined()) return "null";
  const Tensor dense = tensor.detach().to(Device()).contiguous();
  std::string digits;
  const auto* bytes = static_cast<const unsigned char*>(dense.data_ptr());
  for (std::size_t i = 0; i < dense.nbytes(); ++i) fmt::format_to(std::back_inserter(digits), "{:02x}", bytes[i]);
  std::ptrdiff_t alias = -1;
  for (std::size_t i = arguments.size(); i-- > 0;)
    if (arguments[i].storage() == tensor.storage()) alias = static_cast<std::ptrdiff_t>(i);
  const auto node = tensor.grad_fn();
  return fmt::format(R"({{"dtype":{},"size":[{}],"stride":[{}],"offset":{},"alias":{},"requires_grad":{},"node":"{}","data":"{}"}})",
                     static_cast<int>(tensor.dtype()), fmt::join(tensor.sizes(), ","), fmt::join(tensor.strides(), ","),
                     tensor.storage_offset(), alias, tensor.requires_grad(), node ? node->name() : "", digits);
}

std::string text_of(const TensorVector& tensors, const TensorVector& arguments = {}) {
  std::vector<std::string> texts;
  for (const Tensor& tensor : tensors) texts.push_back(text_of(tensor, arguments));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

// What Python would call the error.
std::string_view kind_of(const std::exception& error) {
  if (dynamic_cast<const OutOfRange*>(&error) != nullptr) return "IndexError";
  if (dynamic_cast<const TypeMismatch*>(&error) != nullptr) return "TypeError";
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr) return "ValueError";
  return dynamic_cast<const Error*>(&error) != nullptr ? "RuntimeError" : "unexpected";
}

// ---- running ----

Device device_of(std::string_view name) {
  if (name != "late") return Device(name);
  late_device();
  return kCUDA;
}

// Numbers are answered as tensors, so that there is one way to compare.
TensorVector tensors_of(const ValueVector& results) {
  TensorVector tensors;
  for (const Value& result : results) {
    if (const auto* list = std::get_if<TensorVector>(&result))
      tensors.insert(tensors.end(), list->begin(), list->end());
    else if (const auto* tensor = std::get_if<Tensor>(&result))
      tensors.push_back(*tensor);
    else if (const auto* integer = std::get_if<std::int64_t>(&result))
      tensors.push_back(scalar_tensor(*integer, {.dtype = kInt64}));
    else if (const auto* real = std::get_if<double>(&result))
      tensors.push_back(scalar_tensor(*real, {.dtype = kFloat64}));
    else if (const auto* boolean = std::get_if<bool>(&result))
      tensors.push_back(scalar_tensor(*boolean, {.dtype = kBool}));
  }
  return tensors;
}

// Tensors with the gradient that flows into each, where there is one.
struct Flow {
  Flow(const TensorVector& outputs, element list, Device device) {
    std::size_t i = 0;
    for (const element spec : list.get_array()) {
      const Tensor& output = outputs.at(i++);
      if (spec.is_null() || !output.defined()) continue;
      sources.push_back(output);
      grads.push_back(view_of(storage_of(spec, device), spec).requires_grad_());
    }
  }
  TensorVector sources, grads;
};

class Runner {
 public:
  explicit Runner(Device device) : device_(device) {}

  std::string run(object example) {
    stage_ = "forward";
    try {
      return answer(example);
    } catch (const Error& error) {
      return fmt::format(R"({{"error":"{}","stage":"{}","text":{}}})", kind_of(error), stage_, quoted(error.what()));
    }
  }

 private:
  std::string answer(object example) {
    const std::string_view name = example["op"];
    const OpBase* op = Library::get().find(name);
    if (op == nullptr) throw_error("op_tool", "there is no op {}", name);
    Arguments arguments(op->schema(), example["args"], example["options"], device_);
    const TensorVector outputs = tensors_of(op->call_boxed(arguments.values));
    std::string text = fmt::format(R"({{"outputs":{},"written":{})", text_of(outputs, arguments.tensors), text_of(arguments.written));
    element grads, second;
    if (example["grads"].get(grads) != simdjson::SUCCESS) return text + "}";

    stage_ = "backward";
    const bool twice = example["second"].get(second) == simdjson::SUCCESS;
    const Flow flow(outputs, grads, device_);
    const TensorVector first = autograd::grad(flow.sources, arguments.inputs, flow.grads, std::nullopt, twice, true);
    text += fmt::format(R"(,"grads":{})", text_of(first));
    if (!twice) return text + "}";

    stage_ = "second backward";
    const Flow again(first, second, device_);
    TensorVector leaves = arguments.inputs;
    leaves.insert(leaves.end(), flow.grads.begin(), flow.grads.end());
    return text + fmt::format(R"(,"second":{}}})", text_of(autograd::grad(again.sources, leaves, again.grads, std::nullopt, false, true)));
  }

  Device device_;
  const char* stage_ = "";
};

}  // namespace
}  // namespace mindtorch::testing

int main(int argc, char** argv) {
  using namespace mindtorch;
  if (argc > 1 && std::string_view(argv[1]) == "--schemas") {
    for (const std::string& name : Library::get().names()) std::puts(Library::get().find(name)->schema().str().c_str());
    return 0;
  }
  const Device device = argc > 1 ? testing::device_of(argv[1]) : Device();
  const std::int64_t before = memory_allocated(device);
  {
    testing::Runner runner(device);
    simdjson::dom::parser parser;
    for (std::string line; std::getline(std::cin, line);) {
      std::puts(runner.run(parser.parse(line).get_object()).c_str());
      std::fflush(stdout);  // so that the number of answers names the case that ends the program
    }
  }
  synchronize(device);
  fmt::print("{{\"left\":{}}}\n", memory_allocated(device) - before);
  return 0;
}
