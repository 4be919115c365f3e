// The engine.
#include "mindtorch/runtime/autograd/engine.h"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <map>
#include <thread>
#include <unordered_set>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/autograd/graph_task.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch::autograd {

namespace {

constinit thread_local const Device* engine_thread_device = nullptr;  // set on engine threads

void execute_task(NodeTask task);

// The thread of a device other than the CPU. It never ends.
class DeviceThread {
 public:
  explicit DeviceThread(Device device) : device_(device), thread_([this] { run(); }) {
    pthread_setname_np(thread_.native_handle(), ("bw_" + device.str()).c_str());
    thread_.detach();
  }
  ReadyQueue& queue() { return queue_; }

 private:
  void run() {
    engine_thread_device = &device_;
    while (true)
      if (std::optional<NodeTask> task = queue_.pop(nullptr)) execute_task(*std::move(task));
  }

  Device device_;
  ReadyQueue queue_;
  std::thread thread_;
};

// Gradients are computed in the streams of the thread that asks for them, after all work that was queued on the devices before.
std::vector<std::pair<Device, StreamId>> join_streams() {
  std::vector<std::pair<Device, StreamId>> streams;
  for (const DeviceType type : {kNPU, kCUDA}) {
    DeviceBackend* backend = find_device_backend(type);
    for (int i = 0; backend != nullptr && i < backend->device_count(); ++i) {
      const Device device(type, static_cast<std::uint8_t>(i));
      backend->join_streams(device);
      streams.emplace_back(device, backend->current_stream(device));
    }
  }
  return streams;
}

// While an engine thread works for another thread, it has that thread's streams and is recorded if that thread is.
void work_for(const GraphTask& graph) {
  graph.admission.apply();
  for (const auto& [device, stream] : graph.streams)
    if (device == *engine_thread_device) device_backend(device).set_current_stream(device, stream);
}

ReadyQueue& queue_of(GraphTask& graph, Device device) {
  if (device.is_cpu() || graph.owner_device == device) return graph.own_queue;
  static auto* mutex = new std::mutex();
  static auto* threads = new std::map<std::pair<DeviceType, int>, std::unique_ptr<DeviceThread>>();
  std::lock_guard lock(*mutex);
  auto& thread = (*threads)[{device.type, device.index}];
  if (!thread) thread = std::make_unique<DeviceThread>(device);
  return thread->queue();
}

void push(const std::shared_ptr<GraphTask>& graph, NodePtr node, InputBuffer inputs) {
  graph->outstanding.fetch_add(1, std::memory_order_relaxed);
  ReadyQueue& queue = queue_of(*graph, node->device());
  queue.push({graph, std::move(node), std::move(inputs)});
}

// Brings the gradient of one edge to the shape and type that the receiving node expects. Sums over the dimensions that were broadcast in
// the forward pass.
Tensor fit_gradient(const Node& from, std::size_t index, const Edge& edge, Tensor grad) {
  const InputMetadata& expected = edge.function->input_metadata()[edge.input_nr];
  if (grad.sizes() != IntArrayRef(expected.sizes)) {
    if (!is_expandable_to(expected.sizes, grad.sizes()))
      throw_error("autograd.backward",
                  "Function {} returned an invalid gradient at index {} - got {} but expected shape compatible with {}", from.name(), index,
                  to_string(grad.sizes()), to_string(expected.sizes));
    grad = sum_to(grad, expected.sizes);
  }
  if (grad.dtype() != expected.dtype) grad = grad.to(expected.dtype);
  if (grad.device() != expected.device)
    throw_error("autograd.backward", "Function {} returned an invalid gradient at index {} - expected device {} but got {}", from.name(),
                index, expected.device.str(), grad.device().str());
  return grad;
}

void call_tensor_hooks(Node& node, TensorVector& inputs) {
  for (const Node::TensorHook& hook : std::vector<Node::TensorHook>(node.tensor_hooks())) {
    Tensor& grad = inputs[hook.slot];
    if (!grad.defined()) continue;
    Tensor replaced = hook.hook(grad);
    if (replaced.defined()) grad = std::move(replaced);
  }
  for (const Node::RetainedGrad& retained : node.retained_grads()) {
    const Tensor& grad = inputs[retained.slot];
    if (!grad.defined()) continue;
    Tensor& target = *retained.grad;
    target = target.defined() ? target + grad : (GradMode::is_enabled() ? grad : grad.detach());
  }
}

// Passes the gradients of one node to the next nodes. A node that has received all its gradients becomes ready.
void distribute(const std::shared_ptr<GraphTask>& graph, Node& node, TensorVector&& grads) {
  for (std::size_t i = 0; i < grads.size() && i < node.num_outputs(); ++i) {
    const Edge& edge = node.next_edge(i);
    if (!edge.is_valid()) continue;
    Tensor grad = std::move(grads[i]);
    if (grad.defined()) grad = fit_gradient(node, i, edge, std::move(grad));
    Node* next = edge.function.get();
    std::unique_lock lock(graph->mutex);
    if (!graph->exec_info.empty()) {
      const auto info = graph->exec_info.find(next);
      if (info == graph->exec_info.end() || (!info->second.needed && info->second.captures.empty())) continue;
    }
    auto [buffer, is_new] = graph->waiting.try_emplace(next, next->num_inputs());
    buffer->second.add(edge.input_nr, std::move(grad));
    if (--graph->dependencies.at(next) != 0) continue;
    InputBuffer inputs = std::move(buffer->second);
    graph->waiting.erase(buffer);
    lock.unlock();
    push(graph, edge.function, std::move(inputs));
  }
}

// Stores the gradients that autograd.grad() asked for. True if the node need not be evaluated.
bool capture(GraphTask& graph, Node& node, const TensorVector& inputs) {
  std::lock_guard lock(graph.mutex);
  if (graph.exec_info.empty()) return false;
  const GraphTask::ExecInfo& info = graph.exec_info.at(&node);
  for (const GraphTask::Capture& wanted : info.captures) graph.captured[wanted.result] = inputs[wanted.slot];
  return !info.needed;
}

void evaluate(const std::shared_ptr<GraphTask>& graph, Node& node, InputBuffer&& buffer) {
  TensorVector inputs = buffer.take();
  call_tensor_hooks(node, inputs);
  if (capture(*graph, node, inputs)) return;
  record::OpScope scope(node.node_name().evaluate, record::known(node.device()), node.link(), record::EventKind::kBackward);
  TensorVector grads = node(std::move(inputs));
  if (!graph->keep_graph) node.release_variables();
  if (grads.size() < node.num_outputs()) grads.resize(node.num_outputs());
  distribute(graph, node, std::move(grads));
}

void execute_task(NodeTask task) {
  const std::shared_ptr<GraphTask> graph = std::move(task.graph);
  bool failed;
  {
    std::lock_guard lock(graph->mutex);
    failed = graph->error != nullptr;
  }
  if (!failed) {
    if (engine_thread_device != nullptr) work_for(*graph);
    GradModeGuard grad_mode(graph->grad_mode);
    try {
      evaluate(graph, *task.node, std::move(task.inputs));
    } catch (...) {
      std::lock_guard lock(graph->mutex);
      if (graph->error == nullptr) graph->error = std::current_exception();
    }
  }
  task.node.reset();
  if (graph->outstanding.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  graph->done.store(true, std::memory_order_release);
  graph->own_queue.wake();
}

// How many gradients each node will receive.
void count_dependencies(GraphTask& graph, Node* root) {
  std::vector<Node*> stack{root};
  std::unordered_set<Node*> seen{root};
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge.is_valid()) continue;
      ++graph.dependencies[edge.function.get()];
      if (seen.insert(edge.function.get()).second) stack.push_back(edge.function.get());
    }
  }
}

// Marks the nodes between the root and the wanted edges; only they are evaluated. An explicit stack replaces recursion.
void mark_needed(GraphTask& graph, Node* root, const std::vector<Edge>& wanted) {
  graph.captured.resize(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].is_valid()) graph.exec_info[wanted[i].function.get()].captures.push_back({wanted[i].input_nr, i});
  struct Frame {
    Node* node;
    std::size_t next;
  };
  std::vector<Frame> stack{{root, 0}};
  std::unordered_set<Node*> seen{root};
  graph.exec_info[root];
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next < frame.node->num_outputs()) {
      Node* child = frame.node->next_edge(frame.next++).function.get();
      if (child != nullptr && seen.insert(child).second) stack.push_back({child, 0});
      continue;
    }
    bool needed = false;
    for (const Edge& edge : frame.node->next_edges()) {
      const auto info = graph.exec_info.find(edge.function.get());
      needed = needed || (info != graph.exec_info.end() && (info->second.needed || !info->second.captures.empty()));
    }
    if (needed) graph.exec_info[frame.node].needed = true;
    stack.pop_back();
  }
}

// The first node of a pass: passes the user's gradients to the outputs.
class GraphRoot final : public Node {
 public:
  GraphRoot(std::vector<Edge> edges, TensorVector grads) : Node(std::numeric_limits<std::uint64_t>::max()), grads_(std::move(grads)) {
    set_next_edges(std::move(edges));
  }
  const NodeName& node_name() const override {
    static const NodeName name("torch::autograd::GraphRoot");
    return name;
  }

 protected:
  TensorVector apply(TensorVector&&) override { return grads_; }

 private:
  TensorVector grads_;
};

TensorVector execute(std::vector<Edge> roots, TensorVector grads, bool keep_graph, bool create_graph, const std::vector<Edge>& wanted) {
  auto graph = std::make_shared<GraphTask>();
  graph->keep_graph = keep_graph;
  graph->grad_mode = create_graph;
  graph->admission = record::ThreadAdmission::capture();
  graph->streams = join_streams();
  if (engine_thread_device != nullptr) graph->owner_device = *engine_thread_device;

  NodePtr start;
  InputBuffer inputs(0);
  if (roots.size() == 1) {
    start = roots[0].function;
    inputs = InputBuffer(start->num_inputs());
    inputs.add(roots[0].input_nr, std::move(grads[0]));
  } else {
    start = make_intrusive<GraphRoot>(std::move(roots), std::move(grads));
  }
  count_dependencies(*graph, start.get());
  if (!wanted.empty()) mark_needed(*graph, start.get(), wanted);

  push(graph, std::move(start), std::move(inputs));
  while (std::optional<NodeTask> task = graph->own_queue.pop(&graph->done)) execute_task(*std::move(task));
  if (graph->error != nullptr) std::rethrow_exception(graph->error);
  return std::move(graph->captured);
}

// The initial gradient of an output: the user's, or 1 for a scalar.
Tensor initial_gradient(const Tensor& output, const Tensor& given) {
  if (!given.defined()) {
    if (output.numel() != 1) throw_error("autograd.backward", "grad can be implicitly created only for scalar outputs");
    return ones_like(output);
  }
  if (given.sizes() != output.sizes())
    throw_error("autograd.backward", "Mismatch in shape: grad_output[0] has a shape of {} and output[0] has a shape of {}.",
                to_string(given.sizes()), to_string(output.sizes()));
  return given.dtype() == output.dtype() ? given : given.to(output.dtype());
}

TensorVector run(TensorList outputs, TensorList grad_outputs, bool keep_graph, bool create_graph, const std::vector<Edge>& wanted) {
  if (!grad_outputs.empty() && grad_outputs.size() != outputs.size())
    throw_error("autograd.backward", "got {} tensors and {} gradients", outputs.size(), grad_outputs.size());
  std::vector<Edge> roots;
  TensorVector grads;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Edge edge = gradient_edge(outputs[i]);
    if (!edge.is_valid()) throw_error("autograd.backward", "element {} of tensors does not require grad and does not have a grad_fn", i);
    grads.push_back(initial_gradient(outputs[i], grad_outputs.empty() ? Tensor() : grad_outputs[i]));
    roots.push_back(std::move(edge));
  }
  if (roots.empty()) throw_error("autograd.backward", "there is nothing to differentiate");
  return execute(std::move(roots), std::move(grads), keep_graph, create_graph, wanted);
}

}  // namespace

void backward(TensorList outputs, TensorList grad_outputs, std::optional<bool> retain_graph, bool create_graph) {
  run(outputs, grad_outputs, retain_graph.value_or(create_graph), create_graph, {});
}

TensorVector grad(TensorList outputs, TensorList inputs, TensorList grad_outputs, std::optional<bool> retain_graph, bool create_graph,
                  bool allow_unused) {
  if (inputs.empty()) throw_error("autograd.grad", "grad requires non-empty inputs.");
  std::vector<Edge> wanted;
  for (const Tensor& input : inputs) {
    if (!input.requires_grad()) throw_error("autograd.grad", "One of the differentiated Tensors does not require grad");
    wanted.push_back(gradient_edge(input));
  }
  TensorVector grads = run(outputs, grad_outputs, retain_graph.value_or(create_graph), create_graph, wanted);
  for (const Tensor& value : grads)
    if (!value.defined() && !allow_unused)
      throw_error("autograd.grad",
                  "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the "
                  "desired behavior.");
  return grads;
}

}  // namespace mindtorch::autograd
