// Buffers and queues of a backward pass.
#include "mindtorch/runtime/autograd/graph_task.h"

#include <algorithm>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::autograd {

void InputBuffer::add(std::size_t slot, Tensor&& grad) {
  if (!grad.defined()) return;
  Tensor& sum = values_[slot];
  if (!sum.defined())
    sum = std::move(grad);
  else if (!GradMode::is_enabled() && sum.use_count() == 1 && sum.storage()->use_count() == 1 && sum.is_contiguous())
    sum.add_(grad);  // nothing else refers to it
  else
    sum = sum + grad;
}

void ReadyQueue::push(NodeTask task) {
  {
    std::lock_guard lock(mutex_);
    heap_.push_back(std::move(task));
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }
  ready_.notify_one();
}

void ReadyQueue::wake() {
  // Under the lock, so that the wake-up cannot come between a waiter's check and its sleep.
  std::lock_guard lock(mutex_);
  ready_.notify_all();
}

std::optional<NodeTask> ReadyQueue::pop(const std::atomic<bool>* done) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return !heap_.empty() || (done != nullptr && done->load(std::memory_order_acquire)); });
  if (heap_.empty()) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  NodeTask task = std::move(heap_.back());
  heap_.pop_back();
  return task;
}

}  // namespace mindtorch::autograd
