// Node: numbering, evaluation, and the destruction of deep graphs.
#include "mindtorch/runtime/autograd/node.h"

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/runtime/dispatch/arguments.h"

namespace mindtorch::autograd {

namespace {

constinit thread_local std::uint64_t next_sequence_number = 0;

// Nodes that the running dispose() of this thread will delete.
constinit thread_local std::vector<Node*>* doomed = nullptr;

}  // namespace

std::uint64_t peek_sequence_number() { return next_sequence_number; }

NodeName::NodeName(std::string_view name)
    : text(name), function(record::intern(name)), evaluate(record::intern(fmt::format("autograd::engine::evaluate_function: {}", name))) {}

Node::Node() : sequence_nr_(next_sequence_number++) {
  if (record::current_state() != 0) forward_thread_ = record::thread_number();
}

void Node::dispose(Node* node) {
  if (doomed != nullptr) {
    doomed->push_back(node);
    return;
  }
  std::vector<Node*> list{node};
  doomed = &list;
  while (!list.empty()) {
    Node* next = list.back();
    list.pop_back();
    delete next;  // its edges and saved tensors may add to the list
  }
  doomed = nullptr;
}

std::uint64_t Node::link() const {
  return sequence_nr_ == ~std::uint64_t{0} ? 0 : trace::make_sequence_link(static_cast<std::int64_t>(sequence_nr_), forward_thread_);
}

std::uint32_t Node::add_input_metadata(const Tensor& output) {
  inputs_.emplace_back(output);
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

TensorVector Node::operator()(TensorVector&& inputs) {
  record::OpScope scope(node_name().function, record::known(device()), link(), record::EventKind::kBackward);
  if (scope.wants(record::kShapes)) [[unlikely]] {
    record::InputWriter writer(scope);
    for (const Tensor& input : inputs) write_input(writer, input);
  }
  return apply(std::move(inputs));
}

}  // namespace mindtorch::autograd
