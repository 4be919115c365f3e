// Library: registration, look-up, and the resolution of an op's table.
#include "mindtorch/runtime/dispatch/library.h"

#include <algorithm>

#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/initialize.h"

namespace mindtorch {

constinit thread_local DispatchThreadState dispatch_thread_state;

namespace {

constexpr DispatchKey kBackends[] = {DispatchKey::kNpu, DispatchKey::kCuda, DispatchKey::kCpu};
constexpr DispatchKey kAutogradOfBackends[] = {DispatchKey::kAutogradOther, DispatchKey::kAutogradCpu, DispatchKey::kAutogradNpu,
                                               DispatchKey::kAutogradCuda};

}  // namespace

void OpEntry::resolve() {
  const auto registered = [&](DispatchKey key) { return op_.registered_[static_cast<std::size_t>(key)]; };
  std::uint64_t answered = 0;
  const auto put = [&](DispatchKey key, AnyKernel kernel) {
    op_.table_[static_cast<std::size_t>(key)].store(kernel, std::memory_order_release);
    if (kernel != nullptr) answered |= DispatchKeySet(key).bits();
  };
  const AnyKernel composite = registered(DispatchKey::kCompositeExplicit) != nullptr ? registered(DispatchKey::kCompositeExplicit)
                                                                                     : registered(DispatchKey::kCompositeImplicit);
  for (int i = 0; i < kDispatchKeys; ++i) {
    const auto key = static_cast<DispatchKey>(i);
    AnyKernel kernel = registered(key);
    if (kernel == nullptr && std::ranges::find(kBackends, key) != std::end(kBackends)) kernel = composite;
    if (kernel == nullptr && std::ranges::find(kAutogradOfBackends, key) != std::end(kAutogradOfBackends))
      kernel = registered(DispatchKey::kAutograd);
    if (key != DispatchKey::kAutograd && key != DispatchKey::kCompositeExplicit && key != DispatchKey::kCompositeImplicit) put(key, kernel);
  }
  op_.answered_.store(answered, std::memory_order_release);
}

Library& Library::get() {
  static auto* library = new Library();  // ops are called by destructors of static objects too
  return *library;
}

void Library::add(OpBase& op, const std::type_info& type, const Signature& signature,
                  ValueVector (*boxed)(const OpBase&, std::span<const Value>)) {
  Record entry{&op, &type, FunctionSchema::parse(op.schema_text_)};
  const auto same = [](const std::vector<SchemaArgument>& written, const std::vector<SchemaType>& compiled) {
    return std::ranges::equal(written, compiled, {}, &SchemaArgument::type);
  };
  if (!same(entry.schema.arguments, signature.arguments) || !same(entry.schema.results, signature.results))
    throw_error<InvalidArgument>("runtime.define", "the C++ signature does not match the schema \"{}\"", op.schema_text_);
  std::lock_guard lock(mutex_);
  const std::string name = entry.schema.full_name();
  const auto [place, is_new] = ops_.emplace(name, std::move(entry));
  if (!is_new) throw_error<InvalidArgument>("runtime.define", "op {} is defined already", name);
  op.schema_ = &place->second.schema;
  op.mutated_ = op.schema_->mutated_arguments();
  op.name_ = record::intern(op.schema_->name);
  op.boxed_ = boxed;
}

OpBase* Library::find(std::string_view full_name) const {
  initialize_runtime();
  std::lock_guard lock(mutex_);
  const auto found = ops_.find(full_name);
  return found == ops_.end() ? nullptr : found->second.op;
}

std::vector<std::string> Library::names() const {
  initialize_runtime();
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : ops_) names.push_back(name);
  return names;
}

void Library::set_any_kernel(std::string_view full_name, DispatchKey key, const std::type_info& type, AnyKernel kernel) {
  initialize_runtime();
  std::lock_guard lock(mutex_);
  const auto found = ops_.find(full_name);
  if (found == ops_.end()) throw_error<InvalidArgument>("runtime.set_kernel", "there is no op {}", full_name);
  if (*found->second.type != type)
    throw_error<InvalidArgument>("runtime.set_kernel", "the kernel's signature is not that of {}", found->second.schema.str());
  struct Late : OpEntry {
    Late(OpBase& op, DispatchKey at, AnyKernel function) : OpEntry(op) { set(at, function); }
  } late(*found->second.op, key, kernel);
}

const FunctionSchema& OpBase::schema() const {
  if (schema_ == nullptr) initialize_runtime();
  return *schema_;
}

AnyKernel OpBase::find_kernel_or_fail(DispatchKeySet keys) const {
  initialize_runtime();
  if (const AnyKernel kernel = find_kernel(keys)) return kernel;
  std::string names;
  for (int i = 0; i < kDispatchKeys; ++i)
    if (keys.has(static_cast<DispatchKey>(i)))
      names += (names.empty() ? "" : ", ") + std::string(dispatch_key_name(static_cast<DispatchKey>(i)));
  throw_error("runtime.dispatch", "could not find kernel for op {} with the keys {{{}}}",
              schema_ != nullptr ? schema_->full_name() : schema_text_, names);
}

void OpBase::announce_write(const Tensor& tensor) const { autograd::announce_write(tensor, schema_->name); }

ValueVector OpBase::call_boxed(std::span<const Value> arguments) const {
  const FunctionSchema& expected = schema();
  if (arguments.size() > expected.arguments.size())
    throw_error<TypeMismatch>(expected.name, "takes {} arguments, got {}", expected.arguments.size(), arguments.size());
  if (arguments.size() == expected.arguments.size()) return boxed_(*this, arguments);
  ValueVector all(arguments.begin(), arguments.end());
  for (std::size_t i = all.size(); i < expected.arguments.size(); ++i) {
    if (!expected.arguments[i].has_default) throw_error<TypeMismatch>(expected.name, "missing argument '{}'", expected.arguments[i].name);
    all.push_back(expected.arguments[i].default_value);
  }
  return boxed_(*this, all);
}

std::uint64_t forward_link(DispatchKeySet keys) {
  if (!keys.has_any(kAutogradKeys)) return 0;
  return trace::make_sequence_link(static_cast<std::int64_t>(autograd::peek_sequence_number()));
}

}  // namespace mindtorch
