// Turns CUPTI's buffers into a DeviceBatch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mindtorch/record/device_batch.h"
#include "mindtorch/sources/cupti/cupti_abi.h"
#include "mindtorch/sources/cupti/driver.h"
#include "mindtorch/sources/cupti/graph_nodes.h"

namespace mindtorch::sources::cupti {

// One thread at a time. Everything that lies inside the windows is kept: launches that began there, and the device work they caused.
class Decoder {
 public:
  struct Window {
    std::uint64_t begin = 0;
    std::uint64_t end = ~std::uint64_t{0};
  };

  // `recording` is the number of the recording in the process, from 1 on.
  Decoder(const Functions& cupti, GraphNodes& nodes, std::uint32_t recording, std::int64_t record_bytes)
      : cupti_(cupti), nodes_(nodes), recording_(recording), most_bytes_(record_bytes) {}

  void decode(std::uint8_t* buffer, std::size_t valid);
  // keep_last: drops calls that ended before `time`, together with the work that they launched.
  void forget_before(std::uint64_t time);
  void count_dropped(std::uint64_t count, std::string_view why) { batch_.count_dropped(count, why); }
  // Reports that work was still running after this time.
  void note_deadline(std::chrono::milliseconds deadline) { deadline_ = deadline; }
  // Call once, when all buffers have come.
  record::DeviceBatch finish(std::vector<Window> windows, std::vector<record::BracketedSample> samples);

  std::size_t size() const { return batch_.records.size(); }
  // True if device work of the windows is known whose call is not: the call may still be under way.
  bool lacks_calls(const std::vector<Window>& windows) const;

  // After finish(), sorted: the correlations of calls that were captured in this recording, and the keys of calls that were captured in an
  // earlier recording and replayed in this one.
  const std::vector<std::uint64_t>& captured_calls() const { return captured_calls_; }
  const std::vector<std::uint64_t>& replayed_calls() const { return replayed_calls_; }

 private:
  // Where a piece of device work ran, as all kinds of records say it.
  struct Place {
    std::uint32_t device, context, stream;
  };
  struct KernelConfig {
    std::uint64_t graph_node;
    std::uint32_t device, context;
    std::int32_t grid[3], block[3], shared_memory;
    std::uint32_t registers;
    friend bool operator==(const KernelConfig&, const KernelConfig&) = default;
  };
  struct ConfigHash {
    std::size_t operator()(const KernelConfig& config) const noexcept;
  };
  struct ApiFunction {
    std::uint32_t name = 0;
    std::uint32_t detail = 0;
    bool is_kept = true;
    bool launches = false;
  };
  struct KernelName {
    std::string mangled;  // an address may be used again for another name
    std::uint32_t id = 0;
  };

  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const PeerCopyRecord& copy);
  void add(const MemsetRecord& set);
  void add(const SynchronizationRecord& wait);
  void add(const ApiRecord& call);
  void add(const OverheadRecord& overhead);
  void add(const GraphTraceRecord& replay);
  void add_work(trace::EventKind kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation, Place place, std::uint32_t name,
                std::uint32_t detail);
  void store(const record::DeviceRecord& record);

  std::uint32_t kernel_name(const char* mangled);
  std::uint32_t kernel_detail(const KernelRecord& kernel);
  std::uint32_t copy_detail(std::uint32_t context, std::uint64_t bytes, std::uint64_t graph_node);
  const ApiFunction& api_function(std::uint32_t kind, std::uint32_t callback_id);
  const DeviceProperties* properties(std::uint32_t device);
  std::uint32_t add_detail(std::vector<trace::Attribute> row, std::uint64_t graph_node);

  // Which calls lie inside the windows, by correlation.
  struct Calls {
    std::unordered_set<std::uint64_t> outside;
    std::uint64_t first = ~std::uint64_t{0}, last = 0;  // inside
    bool has_launched(std::uint64_t correlation) const {
      return correlation >= first && correlation <= last && !outside.contains(correlation);
    }
  };
  Calls find_calls(const std::vector<Window>& windows) const;
  void drop_outside(const std::vector<Window>& windows);
  void match_captures(std::uint64_t since);
  void name_captured_ops();

  const Functions& cupti_;
  GraphNodes& nodes_;
  const std::uint32_t recording_;
  const std::int64_t most_bytes_;
  record::DeviceBatch batch_;
  std::vector<DeviceProperties> properties_;
  std::unordered_map<const char*, KernelName> kernel_names_;
  std::unordered_map<KernelConfig, std::uint32_t, ConfigHash> kernel_details_;
  std::unordered_map<std::uint64_t, ApiFunction> api_functions_;  // by kind and number
  std::unordered_map<std::uint32_t, std::uint64_t> node_of_detail_;
  std::uint64_t forgotten_correlation_ = 0;  // keep_last: what has this correlation or a smaller one is gone
  std::uint64_t over_budget_ = 0;
  std::uint64_t last_refused_call_ = 0;      // its kernels may be there
  std::vector<std::uint64_t> without_time_;  // correlations of device records that cannot be placed
  std::vector<std::uint64_t> unfinished_;
  std::uint64_t unknown_ = 0;
  std::vector<std::uint64_t> captured_calls_;
  std::vector<std::uint64_t> replayed_calls_;
  std::chrono::milliseconds deadline_{0};
};

}  // namespace mindtorch::sources::cupti
