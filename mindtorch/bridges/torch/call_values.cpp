// IValues as JSON.
#include "mindtorch/bridges/torch/call_values.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue_inl.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "mindtorch/bridges/torch/kept_addresses.h"

namespace mindtorch::torch_bridge {
namespace {

// Longer lists are cut, as in torch.
constexpr std::size_t kLongestList = 4096;

// Tensors by the address of their object, storages by that of their first byte.
struct Numbers {
  std::mutex mutex;
  std::unordered_map<const void*, std::uint64_t> known;
  std::uint64_t last = 0;
};

Numbers& numbers() {
  static auto& it = *new Numbers;  // never destroyed: threads may run ops while static destructors do
  return it;
}

std::uint64_t number_of(const void* object) {
  Numbers& it = numbers();
  const std::lock_guard lock(it.mutex);
  const auto [place, is_new] = it.known.try_emplace(object, it.last + 1);
  it.last += is_new ? 1 : 0;
  return place->second;
}

// One value, or one element of a list.
struct Item {
  std::string value, shape = "[]", type, stride = "[]";
};

std::string json_text(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out.append({'\\', c});
    else if (static_cast<unsigned char>(c) < 0x20)
      out.append("\\u00").append({kDigits[c >> 4], kDigits[c & 15]});
    else
      out += c;
  }
  return out += '"';
}

// The shortest text that reads back as the same number.
std::string real_text(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  char digits[32];
  const std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;  // not to be taken for an integer
}

std::string list_text(c10::IntArrayRef numbers) {
  std::string out = "[";
  for (const std::int64_t number : numbers) out.append(out.size() > 1 ? "," : "").append(std::to_string(number));
  return out += ']';
}

// What stands for tensors that are not defined has a number too, as in torch.
Item tensor_item(const at::Tensor& tensor) {
  c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  Item item{.type = "Tensor(" + std::string(tensor.dtype().name()) + ")"};
  const bool has_sizes = tensor.defined() && !impl.has_symbolic_sizes_strides() && !impl.is_nested();
  if (tensor.defined()) keep_address(impl);
  std::string where = "0,0,0,0,\"\"";
  if (has_sizes) {
    item.shape = list_text(impl.sizes());
    if (impl.layout() == at::kStrided) item.stride = list_text(impl.strides());
  }
  if (has_sizes && impl.has_storage()) {
    const void* data = impl.unsafe_storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks().get();
    where = std::to_string(data == nullptr ? 0 : number_of(data)) + "," + std::to_string(impl.storage_offset()) + "," +
            std::to_string(impl.numel()) + "," + std::to_string(impl.itemsize()) + ",\"" + impl.device().str() + "\"";
  }
  item.value = "[" + std::to_string(number_of(&impl)) + "," + where + "]";
  return item;
}

void append_item(const Item& item, CallText& text) {
  const char* separator = text.values.empty() ? "" : ",";
  text.values.append(separator).append(item.value);
  text.shapes.append(separator).append(item.shape);
  text.types.append(separator).append(item.type);
  text.strides.append(separator).append(item.stride);
}

Item item_of(const c10::IValue& value);

// A list or a tuple has a list of the same form in each place.
Item list_item(const std::string& kind, c10::ArrayRef<c10::IValue> values) {
  CallText text;
  for (const c10::IValue& value : values.slice(0, std::min(values.size(), kLongestList))) append_item(item_of(value), text);
  return {"[" + text.values + "]", "[" + text.shapes + "]", kind + "[" + text.types + "]", "[" + text.strides + "]"};
}

Item item_of(const c10::IValue& value) {
  if (value.isTensor()) return tensor_item(value.toTensor());
  const std::string kind = value.tagKind();
  if (value.isTuple()) return list_item(kind, value.toTupleRef().elements());
  if (value.isList()) return list_item(kind, value.toListRef());
  if (value.isDouble()) return {.value = real_text(value.toDouble()), .type = kind};
  if (value.isInt()) return {.value = std::to_string(value.toInt()), .type = kind};
  if (value.isBool()) return {.value = value.toBool() ? "true" : "false", .type = kind};
  if (value.isString()) return {.value = json_text(value.toStringRef()), .type = kind};
  if (value.isDevice()) return {.value = json_text(value.toDevice().str()), .type = kind};
  return {.value = "\"<" + kind + ">\"", .type = kind};
}

}  // namespace

void append_value(const c10::IValue& value, CallText& text) {
  Item item = item_of(value);
  item.type = json_text(item.type);
  append_item(item, text);
}

void forget_numbers() {
  const std::lock_guard lock(numbers().mutex);
  numbers().known.clear();
}

}  // namespace mindtorch::torch_bridge
