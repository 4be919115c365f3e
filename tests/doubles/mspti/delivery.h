// Buffers: one at a time for the whole process, requested from the client when a record needs room, handed back when it is 80 % full or
// flushed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/sources/mspti/mspti_abi.h"

namespace mspti_double {

namespace abi = mindtorch::sources::mspti;

class Delivery {
 public:
  ~Delivery() { join_retirements(); }

  void register_callbacks(abi::BufferRequested requested, abi::BufferCompleted completed);
  bool is_registered() const;

  // Requests a buffer if there is none, while the lock is held. If the client refuses, the record is dropped and only logged, and the first
  // null buffer is handed back like a full one.
  template <class Record>
  void append(const Record& record) {
    append(&record, sizeof record);
  }
  void append(const void* record, std::size_t bytes);
  // Hands the current buffer over on the thread of the caller, while the lock is held.
  void flush();
  void hold_retired_buffers(bool hold);
  // Requests buffers until the client refuses one, and keeps them. The record that the refused request was for is dropped.
  void hoard_buffers();
  void hand_back_hoard();

  std::uint64_t buffers_held() const;
  std::uint64_t refused() const;
  // True on a thread that is inside a callback of the client.
  static bool is_in_callback();
  void reset();

 private:
  struct Buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
  };
  // Null if the client refuses. The lock is held.
  Buffer request();
  void hand_over(const Buffer& buffer, abi::BufferCompleted completed);
  void retire(const Buffer& buffer);
  void join_retirements();

  mutable std::mutex mutex_;
  abi::BufferRequested requested_ = nullptr;
  abi::BufferCompleted completed_ = nullptr;
  Buffer current_;
  std::vector<Buffer> hoard_;
  std::uint64_t held_ = 0;
  std::uint64_t refused_ = 0;

  mutable std::mutex retirement_mutex_;
  std::condition_variable released_;
  bool holds_retired_ = false;
  std::vector<std::thread> retirements_;
};

}  // namespace mspti_double
