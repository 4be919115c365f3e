// Turns CUPTI's buffers into a DeviceBatch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/device_batch.h"
#include "mindtorch/sources/cupti/call_log.h"
#include "mindtorch/sources/cupti/cupti_abi.h"
#include "mindtorch/sources/cupti/driver.h"
#include "mindtorch/sources/cupti/graph_nodes.h"
#include "mindtorch/sources/cupti/kinds.h"
#include "mindtorch/sources/cupti/record_reader.h"
#include "mindtorch/sources/record_store.h"

namespace mindtorch::sources::cupti {

class Decoder {
 public:
  // `recording` is the number of the recording in the process, from 1 on.
  Decoder(const Functions& cupti, GraphNodes& nodes, std::uint32_t recording, std::int64_t record_bytes)
      : store_(record_bytes, kSessionClock), cupti_(cupti), nodes_(nodes), recording_(recording) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  RecordStore& store() { return store_; }

  void decode(std::uint8_t* buffer, std::size_t valid) { decode_all(ClassicRecords(cupti_, buffer, valid)); }
  // The same for a buffer of user-defined records.
  void decode(const std::uint8_t* buffer, std::size_t valid, const RecordLayouts& layouts) {
    decode_all(UserDefinedRecords(layouts, buffer, valid));
  }
  void set_extra_parts(ExtraParts parts) { extra_parts_ = parts; }
  // Calls come from callbacks, which tell the lower 32 bits of correlations only: the others of records are left out from then on.
  void expect_calls_of_callbacks() { has_short_correlations_ = true; }
  void add(const TakenCall& taken);
  // Readings of CUPTI's clock so far, with which the records can be placed.
  void set_samples(std::vector<record::BracketedSample> samples) {
    batch_.clocks = {{.name = "cupti", .samples = std::move(samples)}, {.name = "session", .is_session_clock = true, .samples = {}}};
  }
  // spill: as the store's, with records that are complete.
  void write_before(Moment time, const std::vector<RecordStore::Window>& windows, const std::function<void(record::DeviceBatch&)>& write);
  // Call once, when all buffers have come.
  record::DeviceBatch finish(const std::vector<RecordStore::Window>& windows, std::vector<record::BracketedSample> samples);

 private:
  static constexpr std::uint8_t kSessionClock = 1;  // of the batch's clocks

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

  template <class Records>
  void decode_all(Records records);
  void add(const Activity& record);
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const PeerCopyRecord& copy);
  void add(const MemsetRecord& set);
  void add(const SynchronizationRecord& wait);
  void add(const ApiRecord& call);
  void add(const OverheadRecord& overhead);
  void add(const GraphTraceRecord& replay);
  void add(const EnvironmentRecord& measurement);
  void add(const CudaEventRecord& event);
  void place_events_at_their_calls();
  void add_work(trace::EventKind kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation, Place place, std::uint32_t name,
                std::uint32_t detail);

  std::uint32_t kernel_name(const char* mangled);
  std::uint32_t kernel_detail(const KernelRecord& kernel);
  std::uint32_t copy_detail(std::uint32_t context, std::uint64_t bytes, std::uint64_t graph_node);
  const ApiFunction& api_function(std::uint32_t kind, std::uint32_t callback_id);
  const DeviceProperties* properties(std::uint32_t device);
  std::uint32_t add_detail(std::vector<trace::Attribute> row, std::uint64_t graph_node);

  // Completes the records of the batch, before they are written or returned.
  void complete_records();
  void match_captures();
  void name_captured_ops();

  RecordStore store_;
  record::DeviceBatch& batch_ = store_.batch();
  const Functions& cupti_;
  GraphNodes& nodes_;
  const std::uint32_t recording_;
  bool has_short_correlations_ = false;
  std::uint64_t upper_correlation_ = 0;  // of the record that is decoded: classic records have 32 bits only
  std::vector<DeviceProperties> properties_;
  std::unordered_map<const char*, KernelName> kernel_names_;
  std::unordered_map<KernelConfig, std::uint32_t, ConfigHash> kernel_details_;
  std::unordered_map<std::uint64_t, ApiFunction> api_functions_;  // by kind and number
  std::unordered_map<std::uint32_t, std::uint64_t> node_of_detail_;
  ExtraParts extra_parts_;
  std::vector<record::DeviceRecord> events_without_time_;  // until their calls are known
};

}  // namespace mindtorch::sources::cupti
