// Records with selected fields, as a subscriber of CUPTI 13.3 or later gets them: where the fields are, and one record as bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/sources/cupti/cupti_abi_v2.h"
#include "tests/doubles/cupti/records.h"

namespace cupti_double {

// The layouts of the records in one buffer.
class BufferLayouts {
 public:
  struct Field {
    std::int32_t id = 0;
    std::size_t classic_offset = 0, classic_bytes = 0;
    std::size_t offset = 0, bytes = 0;
    bool is_correlation = false;
  };
  struct OfKind {
    std::vector<Field> fields;
    std::size_t record_bytes = 0;
  };
  std::map<std::uint32_t, OfKind> kinds;
  std::uint64_t correlation_base = 0;

  // The classic record with the selected fields; empty if nothing of its kind is selected. A record of a kind that no version knows stays
  // as it is.
  std::string encode(const std::string& classic) const;
  std::size_t record_bytes(std::uint32_t kind) const { return kinds.contains(kind) ? kinds.at(kind).record_bytes : 0; }
};

// What a client is told about a buffer, for as long as this object lives. Then it is overwritten, so that a client who kept a pointer into
// it reads nonsense.
class DescribedLayouts {
 public:
  explicit DescribedLayouts(const BufferLayouts& layouts);
  ~DescribedLayouts();
  abi::CompleteInfo* info() { return &info_; }

 private:
  std::map<std::uint32_t, std::vector<abi::FieldEntry>> entries_;
  std::map<std::uint32_t, abi::LayoutOfKind> layouts_;
  std::vector<abi::LayoutOfKind*> by_kind_;
  abi::CompleteInfo info_{};
};

// The selections of one subscriber. Any thread.
class Layouts {
 public:
  // False if a field is not known, or if the first one is not the kind.
  bool select(std::uint32_t kind, std::span<const std::int32_t> ids);
  // For the next buffer. With a seed, fields have random places, which change with every `change_every`-th buffer.
  std::shared_ptr<const BufferLayouts> next(std::uint64_t seed, std::uint32_t change_every, std::uint64_t correlation_base);
  void reset();

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::vector<std::int32_t>> selected_;
  std::uint64_t buffers_ = 0;
};

}  // namespace cupti_double
