// The sampler of the process.
#include "mindtorch/record/thread_sampler.h"

#include <atomic>

namespace mindtorch::record {
namespace {

std::atomic<ActivitySource*> installed_sampler{nullptr};

}  // namespace

void set_thread_sampler(ActivitySource* sampler) { installed_sampler.store(sampler, std::memory_order_release); }
ActivitySource* thread_sampler() { return installed_sampler.load(std::memory_order_acquire); }

}  // namespace mindtorch::record
