// Arguments of ops as the Chakra schema has them.
#include "mindtorch/export/chakra/chakra_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mindtorch/base/text.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::exporter::chakra {
namespace {

using trace::Input;
using trace::ScalarType;

// Longer lists are cut, as in torch.
constexpr std::size_t kLongestList = 4096;

std::int64_t bytes_of(ScalarType type) {
  switch (type) {
    case ScalarType::kUint8:
    case ScalarType::kInt8:
    case ScalarType::kBool: return 1;
    case ScalarType::kInt16:
    case ScalarType::kHalf:
    case ScalarType::kBFloat16: return 2;
    case ScalarType::kInt32:
    case ScalarType::kFloat: return 4;
    case ScalarType::kInt64:
    case ScalarType::kDouble: return 8;
    case ScalarType::kOther: return 0;
  }
  return 0;
}

std::string device_text(trace::Device device) {
  if (device.type == trace::DeviceType::kCpu) return "cpu";
  return fmt::format("{}:{}", device.type == trace::DeviceType::kCuda ? "cuda" : "npu", device.index);
}

// One argument, or one element of a list.
struct Item {
  std::string value, shape = "[]", type, stride = "[]";
};

Item tensor_item(const Input& tensor, trace::Device device) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.sizes) elements *= std::max<std::int64_t>(size, 0);
  return {fmt::format("[0,0,0,{},{},\"{}\"]", elements, bytes_of(tensor.dtype), device_text(device)),
          fmt::format("[{}]", fmt::join(tensor.sizes, ",")), fmt::format("Tensor({})", trace::scalar_type_name(tensor.dtype)),
          fmt::format("[{}]", fmt::join(tensor.strides, ","))};
}

Item boolean_item(std::int64_t value) { return {.value = value != 0 ? "true" : "false", .type = "Bool"}; }

Item real_item(double value) {
  Item item{.type = "Double"};
  append_json_double(item.value, value);
  return item;
}

void append_item(const Item& item, std::string_view separator, ValueLists& lists) {
  lists.values.append(separator).append(item.value);
  lists.shapes.append(separator).append(item.shape);
  lists.types.append(separator).append(item.type);
  lists.strides.append(separator).append(item.stride);
}

// A list has lists of the same form in each place.
template <class Values, class ToItem>
Item list_item(const Values& values, ToItem to_item) {
  ValueLists lists;
  const std::size_t count = std::min(values.size(), kLongestList);
  for (std::size_t i = 0; i < count; ++i) append_item(to_item(values[i]), i == 0 ? "" : ",", lists);
  return {fmt::format("[{}]", lists.values), fmt::format("[{}]", lists.shapes), fmt::format("GenericList[{}]", lists.types),
          fmt::format("[{}]", lists.strides)};
}

Item to_item(const Input& input, const std::vector<std::string>& names, trace::Device device) {
  switch (input.kind) {
    case Input::Kind::kTensor: return tensor_item(input, device);
    case Input::Kind::kTensorList: return list_item(input.list, [&](const Input& each) { return tensor_item(each, device); });
    case Input::Kind::kInt: return {.value = fmt::to_string(input.integer), .type = "Int"};
    case Input::Kind::kBool: return boolean_item(input.integer);
    case Input::Kind::kDouble: return real_item(input.real);
    case Input::Kind::kText: return {.value = json_quoted(names[input.text]), .type = "String"};
    case Input::Kind::kIntList:
      return list_item(input.sizes, [](std::int64_t value) { return Item{.value = fmt::to_string(value), .type = "Int"}; });
    case Input::Kind::kBoolList: return list_item(input.sizes, boolean_item);
    case Input::Kind::kDoubleList: return list_item(input.reals, real_item);
    case Input::Kind::kNone: return {.value = "\"<None>\"", .type = "None"};
    case Input::Kind::kOther: return {.value = "\"<Other>\"", .type = "Other"};
  }
  return {};
}

void append_argument(Item item, ValueLists& lists) {
  item.type = json_quoted(item.type);
  append_item(item, lists.values.empty() ? "" : ",", lists);
}

}  // namespace

void append_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, trace::Device device, ValueLists& lists) {
  for (const Input& input : trace::decode_inputs(words)) append_argument(to_item(input, names, device), lists);
}

void append_text(std::string_view text, ValueLists& lists) { append_argument({.value = json_quoted(text), .type = "String"}, lists); }

std::string to_json(const ValueLists& lists) {
  return fmt::format(R"({{"values": [{}], "shapes": [{}], "types": [{}], "strides": [{}]}})", lists.values, lists.shapes, lists.types,
                     lists.strides);
}

}  // namespace mindtorch::exporter::chakra
