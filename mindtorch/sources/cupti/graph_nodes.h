// GraphNodes: which op captured which node of a CUDA graph, learned from CUPTI's callbacks while a graph is captured and instantiated.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/names.h"

namespace mindtorch::sources::cupti {

struct NodeOrigin {
  std::uint32_t recording = 0;            // the number of the recording that was running then
  std::uint64_t captured_at = 0;          // on the clock that the calls of that recording have
  std::uint32_t thread_id = 0;            // of the OS
  std::uint64_t capture_correlation = 0;  // of the call that was captured; 0 if it is not known (yet)
  std::uint32_t capture_recording = 0;    // the number of the recording that contains this call
  trace::NameId op = 0;                   // the innermost op that was open; 0 if nothing was recorded then
};

// Lives as long as the process, because a graph that is captured in one recording is replayed in another. Any thread.
class GraphNodes {
 public:
  // Called when one of the program's threads creates a node. The op that the thread executes at this moment is the node's origin.
  void created(std::uint64_t node, NodeOrigin origin);
  // Called when a node was copied. All nodes are copied when a graph is instantiated.
  void cloned(std::uint64_t node, std::uint64_t original);
  std::optional<NodeOrigin> find(std::uint64_t node) const;

  // The nodes that were captured while a recording ran, with an origin each. Copies are not among them.
  struct Created {
    std::uint64_t node;
    NodeOrigin origin;
  };
  std::vector<Created> created_in(std::uint32_t recording) const;
  void set_captured_call(std::uint64_t node, std::uint32_t recording, std::uint64_t correlation);

 private:
  // Beyond this a program that captures without end would fill the memory; its newest nodes then have no origin.
  static constexpr std::size_t kMostNodes = std::size_t{4} << 20;
  // A node and the one it was copied from share an entry.
  std::uint32_t entry_of(std::uint64_t node) const;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint32_t> entry_of_node_;
  std::vector<Created> entries_;  // in the order of creation
};

}  // namespace mindtorch::sources::cupti
