// GraphTask: one running backward pass, and the queues of its nodes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <queue>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/autograd/node.h"

namespace mindtorch::autograd {

// The gradients that a node waits for, one slot for each of its forward outputs.
class InputBuffer {
 public:
  explicit InputBuffer(std::size_t slots) : values_(slots) {}
  // Adds to the gradient in the slot.
  void add(std::size_t slot, Tensor&& grad);
  TensorVector take() { return std::move(values_); }

 private:
  TensorVector values_;
};

struct GraphTask;

struct NodeTask {
  std::shared_ptr<GraphTask> graph;
  NodePtr node;
  InputBuffer inputs;
};

// Nodes that are ready. The node that was created last in the forward pass comes first.
class ReadyQueue {
 public:
  void push(NodeTask task);
  // Wakes up the waiting thread, so that it checks its graph again.
  void wake();
  // The next task; waits for one. Null if woken or `done` is true.
  std::optional<NodeTask> pop(const std::atomic<bool>* done);

 private:
  struct Later {
    bool operator()(const NodeTask& a, const NodeTask& b) const { return a.node->sequence_nr() < b.node->sequence_nr(); }
  };
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<NodeTask> heap_;
};

struct GraphTask {
  // The gradients of a node that autograd.grad() asked for.
  struct Capture {
    std::uint32_t slot;
    std::size_t result;
  };
  struct ExecInfo {
    bool needed = false;
    std::vector<Capture> captures;
  };

  bool keep_graph = false;
  bool grad_mode = false;
  std::optional<Device> owner_device;  // if the owning thread is the engine thread of a device
  ReadyQueue own_queue;                // of the thread that called backward
  record::ThreadAdmission admission;
  std::vector<std::pair<Device, StreamId>> streams;  // of the thread that called backward

  std::mutex mutex;  // guards everything below
  std::unordered_map<Node*, int> dependencies;
  std::unordered_map<Node*, InputBuffer> waiting;
  std::unordered_map<Node*, ExecInfo> exec_info;  // empty: everything is evaluated
  TensorVector captured;
  std::exception_ptr error;

  std::atomic<std::int64_t> outstanding{0};  // tasks pushed and not finished
  std::atomic<bool> done{false};
};

}  // namespace mindtorch::autograd
