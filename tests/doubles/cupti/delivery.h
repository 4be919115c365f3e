// Buffers: requested from the client when a record needs room, handed back when they are full or flushed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/doubles/cupti/cupti_double.h"
#include "tests/doubles/cupti/layouts.h"
#include "tests/doubles/cupti/records.h"

namespace cupti_double {

class Delivery {
 public:
  explicit Delivery(Layouts& layouts) : layouts_(layouts), thread_([this] { hand_over_buffers(); }) {}
  ~Delivery();

  void register_callbacks(abi::BufferRequested requested, abi::BufferCompleted completed);
  // Records are user-defined from then on.
  void register_callbacks(abi::SharedBufferRequested requested, abi::SharedBufferCompleted completed);
  bool is_registered() const;
  void set_faults(const CuptiDoubleFaults& faults);
  // The client promises that its buffers are zero, so that the library need not clear them.
  void trust_zeroed_buffers(bool trust);

  // Each lane fills buffers of its own: one for the device, one for each thread. The client is asked for a buffer while the library holds
  // its lock, on the thread that makes the record. If the client refuses, the record counts as dropped.
  void append(std::uint64_t lane, const std::string& record);
  void end_buffer(std::uint64_t lane);
  // Returns when every buffer that is due has been handed over.
  void flush();

  void count_dropped(std::uint64_t count);
  std::uint64_t take_dropped();
  std::uint64_t buffers_held() const;
  void reset();

 private:
  struct Buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    std::size_t max_records = 0;
    std::size_t used = 0;
    std::vector<std::size_t> record_sizes;
    std::shared_ptr<const BufferLayouts> layouts;  // null: classic records
    std::uint64_t due_flush = 0;                   // handed over when so many flushes have been asked for
  };
  bool has_room(const Buffer& buffer, std::size_t bytes) const;
  Buffer new_buffer();
  static std::string written(const Buffer& buffer, const std::string& record);
  bool request(Buffer& buffer, std::size_t needed);
  void close(Buffer buffer);
  void shuffle_records(Buffer& buffer);
  bool is_due(const Buffer& buffer) const { return buffer.due_flush <= flushes_; }
  void hand_over_buffers();

  Layouts& layouts_;
  mutable std::mutex mutex_;
  std::mutex handing_over_;  // held while the client's callback runs, as the library's own lock is
  std::condition_variable changed_;
  abi::BufferRequested requested_ = nullptr;
  abi::BufferCompleted completed_ = nullptr;
  abi::SharedBufferRequested shared_requested_ = nullptr;
  abi::SharedBufferCompleted shared_completed_ = nullptr;
  CuptiDoubleFaults faults_;
  std::mt19937_64 random_;
  bool trust_zeroed_ = false;
  std::map<std::uint64_t, Buffer> open_;
  std::deque<Buffer> closed_;
  std::uint64_t flushes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t held_ = 0;
  bool is_handing_over_ = false;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace cupti_double
