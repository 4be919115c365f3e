// The runtime as a host of the recorder.
#include "mindtorch/runtime/embedded_host.h"

#include "mindtorch/record/host.h"
#include "mindtorch/runtime/caching_allocator.h"

namespace mindtorch {

namespace {

// The hooks read the recorder's state word, so a session has nothing to switch on.
class EmbeddedHost : public record::Host {
 public:
  std::string_view name() const override { return "embedded"; }
  Status session_starts(std::uint32_t) override { return Status::ok(); }
  void session_stops() override {}
  std::vector<trace::MemoryBaseline> memory_totals() override {
    std::vector<trace::MemoryBaseline> totals;
    for (CachingAllocator* allocator : caching_allocators())
      totals.push_back({allocator->device(), allocator->memory_allocated(), allocator->memory_reserved()});
    return totals;
  }
};

}  // namespace

void register_embedded_host() {
  static auto* host = new EmbeddedHost();
  record::register_host(host);
}

}  // namespace mindtorch
