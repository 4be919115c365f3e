// Capturing, cloning and destroying graphs.
#include "tests/doubles/cupti/graphs.h"

#include <algorithm>
#include <utility>

#include "tests/doubles/cupti/library.h"

namespace cupti_double {
namespace {

thread_local CaptureMode thread_mode = CaptureMode::kGlobal;

std::int32_t node_type(const CuptiDoubleWork& work) {
  switch (work.activity_kind) {
    case abi::kMemcpy: return 1;
    case abi::kMemset: return 2;
    default: return 0;
  }
}

void notify(std::uint32_t callback_id, const abi::GraphData& data) {
  const abi::ResourceData resource{nullptr, nullptr, const_cast<abi::GraphData*>(&data)};
  library().call_back(abi::kResourceDomain, callback_id, &resource);
}

}  // namespace

Graph* Graphs::add_graph() {
  std::lock_guard lock(mutex_);
  graphs_.push_back(std::make_unique<Graph>());
  graphs_.back()->id = ++last_id_;
  return graphs_.back().get();
}

Node* Graphs::add_node(Graph& graph, const CuptiDoubleWork& work) {
  std::lock_guard lock(mutex_);
  graph.nodes.push_back(std::make_unique<Node>());
  *graph.nodes.back() = {std::uint64_t{graph.id} << 32 | (graph.nodes.size() - 1), work};
  return graph.nodes.back().get();
}

void Graphs::begin_capture(std::uint32_t stream, CaptureMode mode) {
  Graph* graph = add_graph();
  {
    std::lock_guard lock(mutex_);
    captured_streams_[stream] = {graph, mode, std::this_thread::get_id()};
  }
  notify(abi::kGraphCreated, {.graph = graph});
}

bool Graphs::capture(const CuptiDoubleWork& work) {
  Graph* graph = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto found = captured_streams_.find(work.stream);
    if (found == captured_streams_.end()) return false;
    if (!found->second.is_valid) return true;  // the launch fails
    graph = found->second.graph;
  }
  Node* node = add_node(*graph, work);
  notify(abi::kGraphNodeCreated, {.graph = graph, .node = node, .node_type = node_type(work)});
  return true;
}

Graph* Graphs::end_capture(std::uint32_t stream) {
  std::lock_guard lock(mutex_);
  const auto found = captured_streams_.find(stream);
  if (found == captured_streams_.end()) return nullptr;
  const Capture capture = captured_streams_.extract(found).mapped();
  return capture.is_valid ? capture.graph : nullptr;
}

CaptureMode Graphs::exchange_capture_mode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

template <class ConflictsWith>
bool Graphs::invalidate_captures(ConflictsWith conflicts_with) {
  std::lock_guard lock(mutex_);
  bool is_refused = false;
  for (auto& [stream, capture] : captured_streams_) {
    if (!conflicts_with(capture)) continue;
    capture.is_valid = false;
    is_refused = true;
  }
  return is_refused;
}

bool Graphs::refuse_unsafe_call() {
  if (thread_mode == CaptureMode::kRelaxed) return false;
  return invalidate_captures([](const Capture& capture) {
    if (capture.thread == std::this_thread::get_id()) return capture.mode != CaptureMode::kRelaxed;
    return capture.mode == CaptureMode::kGlobal && thread_mode == CaptureMode::kGlobal;
  });
}

bool Graphs::refuse_wait() {
  return invalidate_captures([](const Capture&) { return true; });
}

Graph* Graphs::instantiate(Graph* graph) {
  Graph* clone = add_graph();
  clone->is_executable = true;
  clone->is_traced_whole = library().traces_whole_graphs();
  notify(abi::kGraphCreated, {.graph = clone});
  for (const auto& original : graph->nodes) {
    Node* node = add_node(*clone, original->work);
    const std::int32_t type = node_type(node->work);
    notify(abi::kGraphNodeCreated, {.graph = clone, .node = node, .node_type = type});
    notify(abi::kGraphNodeCloned,
           {.graph = clone, .original_graph = graph, .node = node, .original_node = original.get(), .node_type = type});
  }
  notify(abi::kGraphExecCreated, {.graph = graph, .graph_exec = clone});
  return clone;
}

void Graphs::destroy(Graph* graph) {
  if (graph->is_executable) {
    notify(abi::kGraphExecDestroyStarting, {.graph = graph, .graph_exec = graph});
  } else {
    notify(abi::kGraphDestroyStarting, {.graph = graph});
  }
  for (const auto& node : graph->nodes) notify(abi::kGraphNodeDestroyStarting, {.graph = graph, .node = node.get()});
  std::lock_guard lock(mutex_);
  std::erase_if(graphs_, [graph](const auto& each) { return each.get() == graph; });
}

Node* Graphs::replayed_node(std::uint64_t id) {
  if (id == 0) return nullptr;
  std::lock_guard lock(mutex_);
  auto& node = replayed_nodes_[id];
  if (!node) node = std::make_unique<Node>(Node{.id = id});
  return node.get();
}

Graph* Graphs::replayed_graph(std::uint32_t id) {
  if (id == 0) return nullptr;
  std::lock_guard lock(mutex_);
  last_id_ = std::max(last_id_, id);
  auto& graph = replayed_graphs_[id];
  if (!graph) graph = std::make_unique<Graph>(Graph{.id = id});
  return graph.get();
}

void Graphs::replay(const cupti_capture::GraphCallback& callback) {
  notify(callback.callback_id, {.graph = replayed_graph(callback.graph),
                                .original_graph = replayed_graph(callback.original_graph),
                                .node = replayed_node(callback.node),
                                .original_node = replayed_node(callback.original_node),
                                .node_type = callback.node_type,
                                .graph_exec = replayed_graph(callback.graph_exec)});
}

void Graphs::reset() {
  std::lock_guard lock(mutex_);
  graphs_.clear();
  captured_streams_.clear();
  replayed_nodes_.clear();
  replayed_graphs_.clear();
}

}  // namespace cupti_double
