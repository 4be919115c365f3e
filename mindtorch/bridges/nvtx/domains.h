// Domains, categories and registered strings: what NVTX's handles stand for. Internal to the bridge.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/bridges/nvtx/nvtx_abi.h"
#include "mindtorch/record/names.h"

namespace mindtorch::nvtx {

// Any thread. Domains and registered strings live until the process ends, because a range may refer to them at any time.
class Domain {
 public:
  explicit Domain(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }  // empty: the default domain
  void name_category(std::uint32_t category, std::string name);
  std::optional<std::string> category_name(std::uint32_t category) const;

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::string> categories_;
};

Domain& default_domain();
// Null stands for the default domain.
Domain& domain_of(Handle handle);
Handle create_domain(std::string name);

// The handle is the name's id, so that a registered string costs nothing to look up.
Handle register_string(std::string_view text);

// The name of an event; a text that stands for it if it has no message.
trace::NameId message_of(const EventAttributes& attributes);

std::string utf8(const wchar_t* text);

}  // namespace mindtorch::nvtx
