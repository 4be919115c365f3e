// The functions that NVTX calls, and how they get into its table.
#include "mindtorch/bridges/nvtx/injection.h"

#include <atomic>
#include <new>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/bridges/nvtx/ranges.h"

namespace mindtorch::nvtx {
namespace {

std::atomic<std::uint32_t> libraries{0};

// Callers of NVTX are plain C or know no exception: what there is no memory for has no effect.
template <class Call>
auto if_there_is_memory(Call call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return decltype(call())();
  }
}

// Names are looked up only while a session wants them.
trace::NameId name_of(const char* text) { return is_recorded() ? record::intern_cached(text != nullptr ? text : "") : 0; }
trace::NameId name_of(const wchar_t* text) {
  return is_recorded() ? if_there_is_memory([&] { return record::intern_cached(utf8(text)); }) : 0;
}
trace::NameId name_of(const EventAttributes* attributes) {
  return attributes != nullptr && is_recorded() ? if_there_is_memory([&] { return message_of(*attributes); }) : 0;
}
Described described(Handle domain, const EventAttributes* attributes) { return {domain_of(domain), name_of(attributes), attributes}; }
void name_category(Handle domain, std::uint32_t category, const char* name) {
  if_there_is_memory([&] { domain_of(domain).name_category(category, name); });
}
void name_category(Handle domain, std::uint32_t category, const wchar_t* name) {
  if_there_is_memory([&] { domain_of(domain).name_category(category, utf8(name)); });
}
template <class Char>
Described described(const Char* text) {
  return {default_domain(), name_of(text)};
}

extern "C" {
void mark_ex(const EventAttributes* attributes) { mark(described(nullptr, attributes)); }
void mark_a(const char* text) { mark(described(text)); }
void mark_w(const wchar_t* text) { mark(described(text)); }
RangeId range_start_ex(const EventAttributes* attributes) { return start_range(described(nullptr, attributes)); }
RangeId range_start_a(const char* text) { return start_range(described(text)); }
RangeId range_start_w(const wchar_t* text) { return start_range(described(text)); }
void range_end(RangeId id) { end_range(id); }
int range_push_ex(const EventAttributes* attributes) { return push_range(described(nullptr, attributes)); }
int range_push_a(const char* text) { return push_range(described(text)); }
int range_push_w(const wchar_t* text) { return push_range(described(text)); }
int range_pop() { return pop_range(default_domain()); }
void name_category_a(std::uint32_t category, const char* name) { name_category(nullptr, category, name); }
void name_category_w(std::uint32_t category, const wchar_t* name) { name_category(nullptr, category, name); }

void domain_mark_ex(Handle domain, const EventAttributes* attributes) { mark(described(domain, attributes)); }
RangeId domain_range_start_ex(Handle domain, const EventAttributes* attributes) { return start_range(described(domain, attributes)); }
void domain_range_end(Handle, RangeId id) { end_range(id); }
int domain_range_push_ex(Handle domain, const EventAttributes* attributes) { return push_range(described(domain, attributes)); }
int domain_range_pop(Handle domain) { return pop_range(domain_of(domain)); }
void domain_name_category_a(Handle domain, std::uint32_t category, const char* name) { name_category(domain, category, name); }
void domain_name_category_w(Handle domain, std::uint32_t category, const wchar_t* name) { name_category(domain, category, name); }
Handle domain_register_string_a(Handle, const char* text) { return register_string(text); }
Handle domain_register_string_w(Handle, const wchar_t* text) {
  return if_there_is_memory([&] { return register_string(utf8(text)); });
}
Handle domain_create_a(const char* name) {
  return if_there_is_memory([&] { return create_domain(name); });
}
Handle domain_create_w(const wchar_t* name) {
  return if_there_is_memory([&] { return create_domain(utf8(name)); });
}
}

struct Entry {
  std::uint32_t function;
  FunctionPointer ours;
};
template <class Function>
Entry entry(std::uint32_t function, Function* ours) {
  return {function, reinterpret_cast<FunctionPointer>(ours)};
}

// Functions that are not set do nothing in the program.
template <std::size_t N>
bool fill(const ExportTableCallbacks& callbacks, Module module, const Entry (&entries)[N]) {
  FunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.get_module_function_table(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Entry& each : entries)
    if (each.function < size && table[each.function] != nullptr) *table[each.function] = each.ours;
  return true;
}

bool fill_core(const ExportTableCallbacks& callbacks) {
  const Entry entries[] = {entry(kMarkEx, mark_ex),
                           entry(kMarkA, mark_a),
                           entry(kMarkW, mark_w),
                           entry(kRangeStartEx, range_start_ex),
                           entry(kRangeStartA, range_start_a),
                           entry(kRangeStartW, range_start_w),
                           entry(kRangeEnd, range_end),
                           entry(kRangePushEx, range_push_ex),
                           entry(kRangePushA, range_push_a),
                           entry(kRangePushW, range_push_w),
                           entry(kRangePop, range_pop),
                           entry(kNameCategoryA, name_category_a),
                           entry(kNameCategoryW, name_category_w)};
  return fill(callbacks, kCore, entries);
}

bool fill_core2(const ExportTableCallbacks& callbacks) {
  const Entry entries[] = {entry(kDomainMarkEx, domain_mark_ex),
                           entry(kDomainRangeStartEx, domain_range_start_ex),
                           entry(kDomainRangeEnd, domain_range_end),
                           entry(kDomainRangePushEx, domain_range_push_ex),
                           entry(kDomainRangePop, domain_range_pop),
                           entry(kDomainNameCategoryA, domain_name_category_a),
                           entry(kDomainNameCategoryW, domain_name_category_w),
                           entry(kDomainRegisterStringA, domain_register_string_a),
                           entry(kDomainRegisterStringW, domain_register_string_w),
                           entry(kDomainCreateA, domain_create_a),
                           entry(kDomainCreateW, domain_create_w)};
  return fill(callbacks, kCore2, entries);
}

}  // namespace

std::string injection_path() { return library_of(reinterpret_cast<const void*>(&InitializeInjectionNvtx2)); }

std::uint32_t connected_libraries() noexcept { return libraries; }

}  // namespace mindtorch::nvtx

// NOLINTNEXTLINE(readability-identifier-naming): the vendor's name
int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t table)) {
  using namespace mindtorch::nvtx;
  if (get_export_table == nullptr) return 0;
  const auto* callbacks = static_cast<const ExportTableCallbacks*>(get_export_table(kCallbacksTable));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(ExportTableCallbacks)) return 0;
  const bool is_ready = if_there_is_memory([] {
    prepare_ranges();
    return true;
  });
  if (!is_ready || !fill_core(*callbacks)) return 0;
  fill_core2(*callbacks);
  ++libraries;
  return 1;
}
