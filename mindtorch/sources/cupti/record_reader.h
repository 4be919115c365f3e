// Readers of CUPTI's buffers. Both kinds of buffers yield the structs of cupti_abi.h, so that there is one decoder for both.
//
// Records of CUPTI up to 13.2 are these structs, followed by what a version appends. From 13.3 on a subscriber selects the fields of its
// records, and the library says with each buffer where they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "mindtorch/sources/cupti/cupti_abi.h"
#include "mindtorch/sources/cupti/cupti_abi_v2.h"

namespace mindtorch::sources::cupti {

// The fields that the decoder uses of a kind of records, by CUPTI's numbers; empty if the kind cannot be user-defined here.
std::vector<std::int32_t> selected_fields(std::uint32_t kind);

// Where the selected fields are in the records of one buffer.
class RecordLayouts {
 public:
  // `info` may be null, or say nothing: no record can be read then.
  explicit RecordLayouts(const CompleteInfo* info);

  // One field, from a record of the buffer to a struct of cupti_abi.h.
  struct FieldCopy {
    std::uint32_t from, to, bytes;
  };
  struct OfKind {
    std::size_t record_bytes = 0;  // 0: the buffer has no such records
    std::uint32_t struct_number = 0;
    std::uint32_t upper_correlation = 0;  // the offset of the upper half of the correlation; 0: it has none
    std::vector<FieldCopy> copies;        // empty: the decoder does not know the kind
  };
  const OfKind* find(std::uint32_t kind) const { return kind < kinds_.size() && kinds_[kind].record_bytes != 0 ? &kinds_[kind] : nullptr; }

 private:
  std::vector<OfKind> kinds_;
};

// The layouts that buffers have had. The library describes them with each buffer, while they hardly ever change. Any thread.
class LayoutTable {
 public:
  // The number of the layouts of a buffer, from 1 on. Call it in the callback that hands the buffer over.
  std::uint32_t number_of(const CompleteInfo* info);
  const RecordLayouts& at(std::uint32_t number) const;

 private:
  struct Known {
    std::uint64_t fingerprint;
    RecordLayouts layouts;
  };
  mutable std::mutex mutex_;
  std::deque<Known> all_;  // entries never move
};

// A buffer of classic records.
class ClassicRecords {
 public:
  ClassicRecords(const Functions& cupti, std::uint8_t* buffer, std::size_t valid) : cupti_(cupti), buffer_(buffer), valid_(valid) {}
  // Null at the end, and where a record cannot be read.
  const Activity* next() {
    result_ = valid_ == 0 ? Result{kMaxLimitReached} : cupti_.cuptiActivityGetNextRecord(buffer_, valid_, &current_);
    return result_ == kSuccess ? current_ : nullptr;
  }
  // After the last record: false if the rest of the buffer could not be read.
  bool has_been_read() const { return result_ == kMaxLimitReached; }
  std::uint64_t upper_correlation() const { return 0; }

 private:
  const Functions& cupti_;
  std::uint8_t* buffer_;
  std::size_t valid_;
  Activity* current_ = nullptr;
  Result result_ = kSuccess;
};

// A buffer of records with selected fields. The structs that next() returns have zeros in all other fields.
class UserDefinedRecords {
 public:
  UserDefinedRecords(const RecordLayouts& layouts, const std::uint8_t* buffer, std::size_t valid)
      : layouts_(layouts), at_(buffer), end_(buffer + valid) {}
  // Valid until the next call.
  const Activity* next();
  bool has_been_read() const { return at_ == end_; }
  // The bits of the latest record's correlation that its struct has no room for.
  std::uint64_t upper_correlation() const { return upper_correlation_; }

  static constexpr std::size_t kStructs = 11;  // one for each kind that the decoder knows

 private:
  struct alignas(8) Struct {
    std::array<std::uint8_t, sizeof(KernelRecord)> bytes{};
  };

  const RecordLayouts& layouts_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint64_t upper_correlation_ = 0;
  std::array<Struct, kStructs> structs_;  // one for each kind: what is not selected stays zero
  Activity unknown_{};
};

}  // namespace mindtorch::sources::cupti
