// Graphs as the driver makes them: captured nodes, their clones in executable graphs, and a callback for each step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/doubles/cupti/capture_file.h"
#include "tests/doubles/cupti/cupti_double.h"
#include "tests/doubles/cupti/records.h"

namespace cupti_double {

struct Node {
  std::uint64_t id = 0;  // the graph's id in the upper half
  CuptiDoubleWork work;
};

struct Graph {
  std::uint32_t id = 0;
  bool is_executable = false;
  bool is_traced_whole = false;  // it was instantiated while graphs were traced as a whole
  std::vector<std::unique_ptr<Node>> nodes;
};

// As CUDA numbers them.
enum class CaptureMode : std::uint32_t { kGlobal, kThreadLocal, kRelaxed };

class Graphs {
 public:
  void begin_capture(std::uint32_t stream, CaptureMode mode);
  // Adds a node if the stream is captured; false if it is not.
  bool capture(const CuptiDoubleWork& work);
  // Null if something has invalidated the capture.
  Graph* end_capture(std::uint32_t stream);
  // The mode of this thread, which a new one replaces.
  static CaptureMode exchange_capture_mode(CaptureMode mode);
  // These invalidate the captures that a call of this thread conflicts with. True if there is one: the call must fail.
  bool refuse_unsafe_call();
  bool refuse_wait();
  Graph* instantiate(Graph* graph);
  void destroy(Graph* graph);
  // Makes the callbacks of a captured program again; handles stand for the ids of that program.
  void replay(const cupti_capture::GraphCallback& callback);
  void reset();

 private:
  Graph* add_graph();
  Node* add_node(Graph& graph, const CuptiDoubleWork& work);
  Node* replayed_node(std::uint64_t id);
  Graph* replayed_graph(std::uint32_t id);

  std::mutex mutex_;           // not held while the client's callback runs: it asks for ids
  std::uint32_t last_id_ = 0;  // counts on after a reset: an id is never given twice in a process
  std::vector<std::unique_ptr<Graph>> graphs_;
  struct Capture {
    Graph* graph;
    CaptureMode mode;
    std::thread::id thread;
    bool is_valid = true;
  };
  template <class ConflictsWith>
  bool invalidate_captures(ConflictsWith conflicts_with);
  std::map<std::uint32_t, Capture> captured_streams_;
  std::map<std::uint64_t, std::unique_ptr<Node>> replayed_nodes_;
  std::map<std::uint32_t, std::unique_ptr<Graph>> replayed_graphs_;
};

}  // namespace cupti_double
