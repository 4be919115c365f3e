// Turns MSPTI's buffers into a DeviceBatch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/clock.h"
#include "mindtorch/record/device_batch.h"
#include "mindtorch/sources/mspti/mspti_abi.h"
#include "mindtorch/sources/record_store.h"

namespace mindtorch::sources::mspti {

// How far a device time may be from the host's clock. MSPTI compares the two clocks every 7 s and assumes the nominal frequency of the
// device's oscillator in between, which we take to be right to 100 parts per million.
inline constexpr std::uint64_t kDeviceTimeError = 700'000;

// Walks buffers by the sizes of records. MSPTI's own iterator keeps its position between calls and between buffers.
class Decoder {
 public:
  Decoder(const Functions& mspti, std::int64_t record_bytes);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  RecordStore& store() { return store_; }

  void decode(const std::uint8_t* buffer, std::size_t valid);
  // The devices that have reported work, as the program numbers them.
  const std::set<int>& devices() const { return devices_; }
  // From now on, calls that begin after `end` and the kernels that they launch are left out: a program may go on launching, faster than
  // records can be compared.
  void leave_out_after(std::uint64_t end);
  // Call once, when all buffers have come. `samples` compare MSPTI's host clock with `session`.
  record::DeviceBatch finish(const std::vector<RecordStore::Window>& windows, const std::vector<record::BracketedSample>& samples,
                             record::Clock& session);

 private:
  // A marker, or a range between two of them, as far as its records have come.
  struct Range {
    std::uint64_t start = 0, end = 0;  // 0: not known
    std::uint32_t place[2] = {};       // process and thread, or device and stream
  };
  struct Marker {
    const char* name = "";
    const char* domain = "";
    Range host, device;
    bool is_range = false;
  };

  void add(const std::uint8_t* record, std::uint32_t kind);
  void add(const KernelRecord& kernel);
  void add(const ApiRecord& call);
  void add(const HcclRecord& transfer);
  void add(const MemsetRecord& set);
  void add(const MemcpyRecord& copy);
  void add(const CommunicationRecord& collective);
  void add(const MarkerRecord& marker);
  void add_work(trace::EventKind kind, std::uint64_t start, std::uint64_t end, std::uint64_t correlation, std::uint32_t device_id,
                std::uint32_t stream, std::uint32_t name, std::uint32_t detail, bool has_host_times);

  bool is_left_out(const record::DeviceRecord& record);
  int device_index(std::uint32_t device_id);
  std::uint32_t name_id(const char* text);
  std::uint32_t detail(std::initializer_list<trace::Attribute> row);

  // finish()
  void add_markers();
  void add_memory();
  void link_queued_work(const std::vector<record::BracketedSample>& samples);
  void add_clocks(const std::vector<record::BracketedSample>& samples, record::Clock& session);
  std::map<int, std::uint64_t> earliness() const;

  RecordStore store_;
  record::DeviceBatch& batch_ = store_.batch();
  std::array<std::size_t, 16> sizes_{};  // of records, by kind; 0: unknown
  std::vector<std::uint32_t> visible_devices_;
  // Ids count up: a call that began after the end has a greater id than every call that ended before it.
  std::uint64_t end_ = ~std::uint64_t{0};
  std::uint64_t last_id_inside_ = 0;
  std::uint64_t first_id_after_ = ~std::uint64_t{0};
  std::set<int> devices_;
  std::unordered_map<const char*, std::uint32_t> names_;
  std::unordered_map<std::uint64_t, Marker> markers_;
  std::vector<MemoryRecord> memory_;
};

// The devices that ASCEND_RT_VISIBLE_DEVICES lists, in its order: the program's device i is the i-th of them. Empty: all devices. Exposed
// for tests.
std::vector<std::uint32_t> parse_visible_devices(std::string_view list);

}  // namespace mindtorch::sources::mspti
