#include "mindtorch/record/spill.h"

#include "mindtorch/base/error.h"
#include "mindtorch/record/assemble.h"
namespace mindtorch::record {
class SpillFile {};
SpillWriter::SpillWriter(SessionCore& core, const SessionOptions&) : core_(core) {
  throw_error("record.prepare", "the policy spill is not available in this build");
}
SpillWriter::~SpillWriter() = default;
void SpillWriter::submit(const ThreadIdentity&, Segment) {}
void SpillWriter::wait_for_room(const std::function<bool()>&) noexcept {}
trace::Recording SpillWriter::finish(const Ingredients&) { return {}; }
void SpillWriter::abandon() noexcept {}
}  // namespace mindtorch::record
