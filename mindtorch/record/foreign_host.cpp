// Plain functions as a Host.
#include "mindtorch/record/foreign_host.h"

#include <algorithm>
#include <string>

#include "mindtorch/record/host.h"

namespace mindtorch::record {
namespace {

class PlainFunctions final : public Host {
 public:
  explicit PlainFunctions(const ForeignHost& host) : host_(host), name_(host.name) {}
  std::string_view name() const override { return name_; }
  Status session_starts(std::uint32_t wants) override {
    const char* problem = host_.session_starts(wants);
    return problem == nullptr ? Status::ok() : Status::unavailable(problem);
  }
  void session_stops() override { host_.session_stops(); }

 private:
  const ForeignHost host_;
  const std::string name_;
};

}  // namespace

const char* register_foreign_host(const ForeignHost& host) noexcept try {
  if (host.abi_version != kAbiVersion) return "it was compiled for another version of the recording hooks: rebuild it";
  const std::vector<Host*> known = hosts();
  if (std::ranges::any_of(known, [&](const Host* each) { return each->name() == host.name; })) return nullptr;
  register_host(new PlainFunctions(host));  // stays registered, so never deleted
  return nullptr;
} catch (...) {
  return "out of memory";
}

}  // namespace mindtorch::record
