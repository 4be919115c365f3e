// Encoding and decoding of op arguments.
#include "mindtorch/trace/inputs.h"

#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::trace {
namespace {

using Words = std::span<const std::int64_t>;

// Words that follow a header; the tensors of a list have headers of their own.
std::uint64_t payload_words(std::int64_t header) {
  const std::uint64_t count = input_count(header);
  if (input_kind(header) == kIdentities) return count;
  switch (input_kind(header)) {
    case Input::Kind::kTensor: return input_contiguous(header) ? count : 2 * count;
    case Input::Kind::kInt:
    case Input::Kind::kDouble:
    case Input::Kind::kBool:
    case Input::Kind::kText: return 1;
    case Input::Kind::kIntList:
    case Input::Kind::kBoolList:
    case Input::Kind::kDoubleList: return count;
    case Input::Kind::kNone:
    case Input::Kind::kTensorList:
    case Input::Kind::kOther: return 0;
  }
  return 0;
}

// Strides of a dense row-major tensor. Unsigned, so that absurd sizes wrap instead of overflowing.
std::vector<std::int64_t> contiguous_strides(Words sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::uint64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(sizes[i] > 1 ? sizes[i] : 1);
  }
  return strides;
}

Input decode_one(std::int64_t header, Words payload) {
  Input input;
  input.kind = input_kind(header);
  switch (input.kind) {
    case Input::Kind::kTensor: {
      const Words sizes = payload.first(input_count(header));
      input.dtype = input_dtype(header);
      input.sizes.assign(sizes.begin(), sizes.end());
      if (!input_has_strides(header)) break;
      if (input_contiguous(header)) {
        input.strides = contiguous_strides(sizes);
      } else {
        input.strides.assign(payload.begin() + static_cast<std::ptrdiff_t>(sizes.size()), payload.end());
      }
      break;
    }
    case Input::Kind::kInt:
    case Input::Kind::kBool: input.integer = payload[0]; break;
    case Input::Kind::kDouble: input.real = std::bit_cast<double>(payload[0]); break;
    case Input::Kind::kText: input.text = static_cast<NameId>(payload[0]); break;
    case Input::Kind::kIntList:
    case Input::Kind::kBoolList: input.sizes.assign(payload.begin(), payload.end()); break;
    case Input::Kind::kDoubleList:
      for (const std::int64_t bits : payload) input.reals.push_back(std::bit_cast<double>(bits));
      break;
    case Input::Kind::kNone:
    case Input::Kind::kTensorList:
    case Input::Kind::kOther: break;
  }
  return input;
}

void encode_tensor(const Input& tensor, std::vector<std::int64_t>& words) {
  if (tensor.kind != Input::Kind::kTensor) throw_error<InvalidArgument>("trace.encode_inputs", "a tensor list may only hold tensors");
  if (!tensor.strides.empty() && tensor.strides.size() != tensor.sizes.size()) {
    throw_error<InvalidArgument>("trace.encode_inputs", "a tensor has {} sizes but {} strides", tensor.sizes.size(), tensor.strides.size());
  }
  const bool contiguous = tensor.strides.empty() || tensor.strides == contiguous_strides(tensor.sizes);
  words.push_back(make_input_header(Input::Kind::kTensor, static_cast<std::uint32_t>(tensor.sizes.size()), tensor.dtype, contiguous));
  words.insert(words.end(), tensor.sizes.begin(), tensor.sizes.end());
  if (!contiguous) words.insert(words.end(), tensor.strides.begin(), tensor.strides.end());
}

void encode_one(const Input& input, std::vector<std::int64_t>& words) {
  const auto header = [&](std::size_t count = 0) { words.push_back(make_input_header(input.kind, static_cast<std::uint32_t>(count))); };
  switch (input.kind) {
    case Input::Kind::kTensor: encode_tensor(input, words); return;
    case Input::Kind::kTensorList:
      header(input.list.size());
      for (const Input& tensor : input.list) encode_tensor(tensor, words);
      return;
    case Input::Kind::kInt:
    case Input::Kind::kBool: header(), words.push_back(input.integer); return;
    case Input::Kind::kDouble: header(), words.push_back(std::bit_cast<std::int64_t>(input.real)); return;
    case Input::Kind::kText: header(), words.push_back(input.text); return;
    case Input::Kind::kIntList:
    case Input::Kind::kBoolList:
      header(input.sizes.size());
      words.insert(words.end(), input.sizes.begin(), input.sizes.end());
      return;
    case Input::Kind::kDoubleList:
      header(input.reals.size());
      for (const double value : input.reals) words.push_back(std::bit_cast<std::int64_t>(value));
      return;
    case Input::Kind::kNone:
    case Input::Kind::kOther: header(); return;
  }
}

// Calls visit(header, payload, inside_list) for each argument, each tensor of a list, and identities; returns what is malformed, if
// anything.
template <class Visit>
std::string_view walk(Words words, Visit&& visit) {
  if (words.empty()) return "it has no argument count";
  std::uint64_t arguments = static_cast<std::uint64_t>(words[0]);
  std::uint64_t listed = 0;   // tensors of the current list still to come
  std::uint64_t tensors = 0;  // so far
  words = words.subspan(1);
  while (arguments > 0 || listed > 0) {
    if (words.empty()) return "it ends early";
    const std::int64_t header = words[0];
    words = words.subspan(1);
    const Input::Kind kind = input_kind(header);
    if (kind == kIdentities && (arguments != 1 || listed > 0 || input_count(header) != kIdentityWords * tensors))
      return "its identities are not those of its tensors";
    if (kind > Input::Kind::kBoolList && kind != kIdentities) return "an argument is of unknown kind";
    tensors += kind == Input::Kind::kTensor ? 1 : 0;
    if (listed > 0 && kind != Input::Kind::kTensor) return "a tensor list holds something else";
    const std::uint64_t payload = payload_words(header);
    if (payload > words.size()) return "it ends early";
    visit(header, words.first(payload), listed > 0);
    words = words.subspan(payload);
    listed > 0 ? --listed : --arguments;
    if (kind == Input::Kind::kTensorList) listed = input_count(header);
  }
  return words.empty() ? std::string_view() : "it has words left over";
}

}  // namespace

std::vector<Input> decode_inputs(std::span<const std::int64_t> words) {
  std::vector<Input> inputs;
  const std::string_view fault = walk(words, [&](std::int64_t header, Words payload, bool inside_list) {
    if (input_kind(header) != kIdentities) (inside_list ? inputs.back().list : inputs).push_back(decode_one(header, payload));
  });
  if (!fault.empty()) throw_error<InvalidArgument>("trace.decode_inputs", "malformed row of arguments: {}", fault);
  return inputs;
}

std::vector<std::int64_t> encode_inputs(std::span<const Input> inputs) {
  std::vector<std::int64_t> words{static_cast<std::int64_t>(inputs.size())};
  for (const Input& input : inputs) encode_one(input, words);
  return words;
}

std::string_view check_inputs(std::span<const std::int64_t> words, std::size_t names) {
  bool known = true;
  const std::string_view fault = walk(words, [&](std::int64_t header, Words payload, bool) {
    if (input_kind(header) == Input::Kind::kText) known = known && static_cast<std::uint64_t>(payload[0]) < names;
  });
  if (!fault.empty()) return fault;
  return known ? std::string_view() : "a text is not in the name table";
}

std::vector<TensorIdentity> tensor_identities(std::span<const std::int64_t> words) {
  std::vector<TensorIdentity> identities;
  walk(words, [&](std::int64_t header, Words payload, bool) {
    if (input_kind(header) != kIdentities) return;
    for (; !payload.empty(); payload = payload.subspan(kIdentityWords)) identities.push_back(identity_at(payload.data()));
  });
  return identities;
}

void add_identities(std::span<const TensorIdentity> identities, std::vector<std::int64_t>& words) {
  ++words[0];
  words.push_back(make_input_header(kIdentities, static_cast<std::uint32_t>(kIdentityWords * identities.size())));
  for (const TensorIdentity& identity : identities)
    for (std::size_t word = 0; word < kIdentityWords; ++word) words.push_back(identity_word(identity, word));
}

void map_input_names(std::span<std::int64_t> words, std::span<const NameId> new_id) {
  walk(words, [&](std::int64_t header, Words payload, bool) {
    if (input_kind(header) != Input::Kind::kText) return;
    std::int64_t& id = words[static_cast<std::size_t>(payload.data() - words.data())];
    id = new_id[static_cast<std::size_t>(id)];
  });
}

}  // namespace mindtorch::trace
