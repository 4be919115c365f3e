// Node: one step of the backward pass. It has slots for the gradients of its forward outputs, and an edge for each forward input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/record/names.h"
#include "mindtorch/record/slot.h"
#include "mindtorch/runtime/intrusive_ptr.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::autograd {

class Node;
using NodePtr = IntrusivePtr<Node>;

// The destination of a gradient: slot `input_nr` of `function`. Invalid (null) if the gradient is not needed.
struct Edge {
  NodePtr function;
  std::uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(function); }
};

// The geometry that the gradient in a slot must have: that of its forward output.
struct InputMetadata {
  explicit InputMetadata(const Tensor& output) : sizes(output.sizes()), dtype(output.dtype()), device(output.device()) {}
  DimVector sizes;
  ScalarType dtype;
  Device device;
};

// The two names under which a node's evaluation is recorded.
struct MINDTORCH_EXPORT NodeName {
  explicit NodeName(std::string_view text);
  std::string_view text;
  record::NameId function;  // "MulBackward0"
  record::NameId evaluate;  // "autograd::engine::evaluate_function: MulBackward0"
};

class MINDTORCH_EXPORT Node : public WeaklyCounted {
 public:
  // The node gets the next sequence number of this thread.
  Node();
  // For nodes outside the order of the forward pass.
  explicit Node(std::uint64_t sequence_nr) : sequence_nr_(sequence_nr) {}
  virtual ~Node() = default;
  // Deletes the node and the nodes that only it owns. It does not recurse, because graphs may be a million nodes deep.
  static void dispose(Node* node);

  virtual const NodeName& node_name() const = 0;
  std::string_view name() const { return node_name().text; }

  // Computes the gradients of the forward inputs from those of the outputs, recorded as an event. Undefined tensors stand for zero.
  TensorVector operator()(TensorVector&& inputs);

  // Frees saved tensors: the node cannot be evaluated again if it has any.
  virtual void release_variables() {}

  std::uint64_t sequence_nr() const { return sequence_nr_; }
  std::uint64_t link() const;  // sequence number and forward thread, for the recorder

  const std::vector<Edge>& next_edges() const { return edges_; }
  const Edge& next_edge(std::size_t i) const { return edges_[i]; }
  std::size_t num_outputs() const { return edges_.size(); }
  void add_next_edge(Edge edge) { edges_.push_back(std::move(edge)); }
  void set_next_edges(std::vector<Edge> edges) { edges_ = std::move(edges); }
  bool should_compute_output(std::size_t i) const { return i < edges_.size() && edges_[i].is_valid(); }

  const std::vector<InputMetadata>& input_metadata() const { return inputs_; }
  std::uint32_t add_input_metadata(const Tensor& output);
  std::size_t num_inputs() const { return inputs_.size(); }
  // The device whose engine thread evaluates this node.
  Device device() const { return inputs_.empty() ? Device() : inputs_[0].device; }

  // Hooks of the forward outputs, called in order on the gradient of their slot before the node is evaluated.
  struct TensorHook {
    std::uint32_t slot = 0;
    std::uint64_t id = 0;
    Tensor::Hook hook;
  };
  // The places where retain_grad() stores the gradients of slots.
  struct RetainedGrad {
    std::uint32_t slot = 0;
    std::shared_ptr<Tensor> grad;
  };
  virtual std::vector<TensorHook>& tensor_hooks() { return hooks_; }
  std::vector<RetainedGrad>& retained_grads() { return retained_; }

 protected:
  virtual TensorVector apply(TensorVector&& inputs) = 0;
  // Serialises evaluations, because two backward passes may share a part of their graphs.
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::vector<Edge> edges_;
  std::vector<InputMetadata> inputs_;
  std::vector<TensorHook> hooks_;
  std::vector<RetainedGrad> retained_;
  std::uint64_t sequence_nr_;
  std::uint32_t forward_thread_ = 0;  // as record::thread_number() counts; 0 if the forward was not recorded
};

// The number the next node of this thread will get.
MINDTORCH_EXPORT std::uint64_t peek_sequence_number();

}  // namespace mindtorch::autograd
