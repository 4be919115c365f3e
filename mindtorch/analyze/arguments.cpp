// Reading encoded arguments in place.
#include "mindtorch/analyze/arguments.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::analyze {
namespace {

using trace::Input;

// Walks the words of one row.
class Reader {
 public:
  Reader(std::span<const std::int64_t> words, std::vector<Argument>& out) : words_(words), out_(out) {}

  void read_row() {
    const std::int64_t count = next();
    for (std::int64_t i = 0; i < count; ++i) read_argument();
  }

 private:
  std::int64_t next() { return take(1)[0]; }

  std::span<const std::int64_t> take(std::size_t count) {
    if (count > words_.size()) throw_error<InvalidArgument>("analyze.read_arguments", "the arguments of an op end too early");
    const auto taken = words_.first(count);
    words_ = words_.subspan(count);
    return taken;
  }

  Input::Kind read_argument() {
    const std::int64_t header = next();
    Argument argument{.kind = trace::input_kind(header), .dtype = trace::input_dtype(header)};
    const std::uint32_t count = trace::input_count(header);
    if (argument.kind == trace::kIdentities) {  // not an argument of the call
      take(count);
      return argument.kind;
    }
    switch (argument.kind) {
      case Input::Kind::kTensor:
        argument.values = take(count);
        if (!trace::input_contiguous(header)) argument.strides = take(count);
        break;
      case Input::Kind::kTensorList:
        argument.list_size = count;
        out_.push_back(argument);
        for (std::uint32_t i = 0; i < count; ++i) {
          if (read_argument() != Input::Kind::kTensor)
            throw_error<InvalidArgument>("analyze.read_arguments", "a tensor list holds something else");
        }
        return Input::Kind::kTensorList;
      case Input::Kind::kInt:
      case Input::Kind::kBool:
      case Input::Kind::kDouble:
      case Input::Kind::kText: argument.values = take(1); break;
      case Input::Kind::kIntList:
      case Input::Kind::kBoolList:
      case Input::Kind::kDoubleList: argument.values = take(count); break;
      case Input::Kind::kNone:
      case Input::Kind::kOther: break;
    }
    out_.push_back(argument);
    return argument.kind;
  }

  std::span<const std::int64_t> words_;
  std::vector<Argument>& out_;
};

// Calls f(sizes) for each argument of the call itself; the sizes are empty for everything but tensors.
template <class F>
void for_each_shape(const std::vector<Argument>& arguments, F f) {
  for (std::size_t i = 0; i < arguments.size(); i += 1 + arguments[i].list_size) {
    f(arguments[i].kind == Input::Kind::kTensor ? arguments[i].values : std::span<const std::int64_t>());
  }
}

}  // namespace

void read_arguments(std::span<const std::int64_t> words, std::vector<Argument>& out) {
  out.clear();
  if (!words.empty()) Reader(words, out).read_row();
}

Shapes input_shapes(std::span<const std::int64_t> words) {
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  Shapes shapes;
  for_each_shape(arguments, [&](std::span<const std::int64_t> sizes) { shapes.emplace_back(sizes.begin(), sizes.end()); });
  return shapes;
}

std::string shapes_text(const Shapes& shapes) { return fmt::format("{}", shapes); }

struct ShapeIds::Impl {
  std::vector<Argument> arguments;  // reused
  std::string key;                  // reused: for each argument the number of sizes, then the sizes, as bytes
  std::unordered_map<std::string, std::uint32_t> id_of_key;

  void append(const std::int64_t* values, std::size_t count) { key.append(reinterpret_cast<const char*>(values), count * sizeof(*values)); }
};

ShapeIds::ShapeIds() : impl_(std::make_unique<Impl>()) { impl_->id_of_key.emplace("", kEmpty); }
ShapeIds::~ShapeIds() = default;

std::uint32_t ShapeIds::id(std::span<const std::int64_t> words) {
  read_arguments(words, impl_->arguments);
  impl_->key.clear();
  for_each_shape(impl_->arguments, [&](std::span<const std::int64_t> sizes) {
    const auto count = static_cast<std::int64_t>(sizes.size());
    impl_->append(&count, 1);
    impl_->append(sizes.data(), sizes.size());
  });
  const auto found = impl_->id_of_key.find(impl_->key);
  if (found != impl_->id_of_key.end()) return found->second;
  return impl_->id_of_key.emplace(impl_->key, static_cast<std::uint32_t>(impl_->id_of_key.size())).first->second;
}

}  // namespace mindtorch::analyze
