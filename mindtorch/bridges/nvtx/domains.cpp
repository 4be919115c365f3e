// Handles of NVTX.
#include "mindtorch/bridges/nvtx/domains.h"

#include <deque>
#include <mutex>
#include <utility>

namespace mindtorch::nvtx {
namespace {

constexpr std::string_view kNoName = "NVTX range";

void append_utf8(std::string& out, std::uint32_t point) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | (point >> shift & 0x3F))); };
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | point >> 12));
    tail(6), tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | (point >> 18 & 7)));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

void Domain::name_category(std::uint32_t category, std::string name) {
  std::lock_guard lock(mutex_);
  categories_[category] = std::move(name);
}

std::optional<std::string> Domain::category_name(std::uint32_t category) const {
  std::lock_guard lock(mutex_);
  const auto found = categories_.find(category);
  return found == categories_.end() ? std::nullopt : std::optional(found->second);
}

Domain& default_domain() {
  static auto& domain = *new Domain("");
  return domain;
}

Domain& domain_of(Handle handle) { return handle == nullptr ? default_domain() : *static_cast<Domain*>(handle); }

Handle create_domain(std::string name) {
  // Never destroyed, and known to leak checkers.
  static auto& mutex = *new std::mutex;
  static auto& domains = *new std::deque<Domain>;
  std::lock_guard lock(mutex);
  return &domains.emplace_back(std::move(name));
}

Handle register_string(std::string_view text) { return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(record::intern_cached(text))); }

trace::NameId message_of(const EventAttributes& attributes) {
  const void* const message = attributes.message;
  if (message != nullptr) {
    switch (attributes.message_type) {
      case kAsciiMessage: return record::intern_cached(static_cast<const char*>(message));
      case kUnicodeMessage: return record::intern_cached(utf8(static_cast<const wchar_t*>(message)));
      case kRegisteredMessage: return static_cast<trace::NameId>(reinterpret_cast<std::uintptr_t>(message));
      default: break;
    }
  }
  return record::intern_cached(kNoName);
}

std::string utf8(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) append_utf8(out, static_cast<std::uint32_t>(*text));
  return out;
}

}  // namespace mindtorch::nvtx
