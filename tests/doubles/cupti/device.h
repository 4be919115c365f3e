// The "GPU": work runs on streams, one piece after the other, and becomes a record when it has ended.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/doubles/cupti/cupti_double.h"
#include "tests/doubles/cupti/graphs.h"

namespace cupti_double {

class Device {
 public:
  void enqueue(const CuptiDoubleWork& work, std::uint32_t correlation);
  // All nodes on one stream; one record for all of them if the client asked for graphs as a whole.
  void enqueue_graph(const Graph& graph, std::uint32_t stream, std::uint32_t correlation);

  // Writes the records of work that has ended.
  void settle();
  // Writes the records of all work; what still runs has no end, and no record of it follows.
  void settle_forcibly();
  void wait_until_idle();
  void hold(bool held);
  // When the work that is on a stream now ends, on CLOCK_MONOTONIC; now if there is none.
  std::int64_t end_of_stream(std::uint32_t device, std::uint32_t stream);

  void set_faults(const CuptiDoubleFaults& faults);
  // A record of the device, with the faults that are on. Also for records that were captured elsewhere.
  void write_record(std::string record, std::uint32_t tools);
  void add_truth(const CuptiDoubleTruth& truth);
  std::size_t take_truth(CuptiDoubleTruth* out, std::size_t capacity);
  std::uint64_t lost() const;
  std::uint64_t zeroed() const;
  void reset();

 private:
  struct Pending {
    std::int64_t start = 0;  // CLOCK_MONOTONIC
    std::int64_t end = 0;
    std::string record;
    std::uint32_t tools = 0;  // that get it
  };
  // Where the work finds its place on its stream; the record follows if the client asked for its kind.
  Pending place(const CuptiDoubleWork& work);
  void add(Pending pending, std::uint32_t kind, std::uint32_t correlation, std::uint64_t node);
  void settle_until(std::int64_t now);
  void write(std::string record, std::uint32_t tools);

  mutable std::mutex mutex_;
  bool is_held_ = false;
  CuptiDoubleFaults faults_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> stream_ends_;  // by device and stream
  std::vector<Pending> pending_;
  std::vector<CuptiDoubleTruth> truth_;
  std::uint64_t written_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t zeroed_ = 0;
};

}  // namespace cupti_double
