// Arguments of ops as the Chakra schema has them.
#include "mindtorch/export/chakra/chakra_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mindtorch/analyze/tensor_memory.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter::chakra {
namespace {

using trace::Input;

// Longer lists are cut, as in torch.
constexpr std::size_t kLongestList = 4096;

// One argument, or one element of a list.
struct Item {
  std::string value, shape = "[]", type, stride = "[]";
};

Item tensor_item(const Input& tensor, trace::Device device, TensorNumbers& numbers) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.sizes) elements *= std::max<std::int64_t>(size, 0);
  const TensorNumbers::Known known = numbers.next(device);
  return {fmt::format("[{},{},{},{},{},\"{}\"]", known.tensor, known.storage, known.offset, elements, analyze::element_bytes(tensor.dtype),
                      trace::device_specifier(known.device)),
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

Item to_item(const Input& input, const std::vector<std::string>& names, trace::Device device, TensorNumbers& numbers) {
  switch (input.kind) {
    case Input::Kind::kTensor: return tensor_item(input, device, numbers);
    case Input::Kind::kTensorList: {
      const Item item = list_item(input.list, [&](const Input& each) { return tensor_item(each, device, numbers); });
      for (std::size_t i = kLongestList; i < input.list.size(); ++i) numbers.next(device);  // those that are cut have numbers too
      return item;
    }
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

void append_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, trace::Device device, TensorNumbers& numbers,
                   ValueLists& lists) {
  for (const Input& input : trace::decode_inputs(words)) append_argument(to_item(input, names, device, numbers), lists);
}

void append_text(std::string_view text, ValueLists& lists) { append_argument({.value = json_quoted(text), .type = "String"}, lists); }

std::string to_json(const ValueLists& lists) {
  return fmt::format(R"({{"values": [{}], "shapes": [{}], "types": [{}], "strides": [{}]}})", lists.values, lists.shapes, lists.types,
                     lists.strides);
}

}  // namespace mindtorch::exporter::chakra
