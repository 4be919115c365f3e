// The container of a .mtrec file: a header, then chunks, each compressed and checksummed on its own, so that a file is readable up to any
// damage and a writer that is killed leaves at most one torn chunk at the end.
//
// All numbers are little-endian.
//   file   magic[8]  major u8  minor u8  zero u16  byte order mark u32  chunks...
//   chunk  checksum u64  type u32  raw size u32  stored size u32  zstd frame[stored size]
// The checksum is XXH3-64 of everything after it, seeded with the chunk's offset: a chunk that moved, or lost its neighbour, does not pass.
// A reader refuses a newer major version; of a newer minor version it skips chunk types and trailing fields that it does not know.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace mindtorch::trace {

inline constexpr std::uint8_t kFormatMajor = 1;
inline constexpr std::uint8_t kFormatMinor = 5;
inline constexpr std::size_t kMaxRawChunk = std::size_t{256} << 20;

enum class ChunkType : std::uint32_t {};
constexpr ChunkType make_chunk_type(const char (&name)[5]) {
  std::uint32_t type = 0;
  for (int i = 0; i < 4; ++i) type |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(name[i])) << (8 * i);
  return static_cast<ChunkType>(type);
}

// The file that a ChunkWriter fills. Used by one thread at a time.
class ChunkTarget {
 public:
  virtual ~ChunkTarget() = default;
  struct Written {
    std::size_t bytes = 0;
    int error = 0;  // errno, if not all bytes were written
  };
  virtual Written append(std::span<const char> bytes) noexcept = 0;
  // Cuts the file back to its first `size` bytes; append() goes on behind them. Returns errno, or 0.
  virtual int cut(std::uint64_t size) noexcept = 0;
};

// Appends chunks to an empty file, each with one call of append(). One thread at a time.
class ChunkWriter {
 public:
  // `target`, or the file that `fd` names, must outlive the writer; `path` is for errors. Writes the file's header.
  ChunkWriter(ChunkTarget& target, std::string path, int zstd_level);
  ChunkWriter(int fd, std::string path, int zstd_level);
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  // Throws IoError if the bytes could not all be written (the file is then cut back to what it was, and the call may be repeated), and
  // InvalidArgument if there are more than kMaxRawChunk.
  void write(ChunkType type, std::span<const char> raw);
  std::uint64_t offset() const noexcept { return offset_; }  // bytes in the file

 private:
  void begin(int zstd_level);
  void append(std::span<const char> bytes);
  std::unique_ptr<ChunkTarget> own_target_;  // null if the target belongs to the caller
  ChunkTarget& target_;
  std::string path_;
  std::uint64_t offset_ = 0;
  int torn_ = 0;  // errno of a failed write whose remains could not be cut off: nothing may follow them
  Column<char> buffer_;
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> zstd_;
};

struct Chunk {
  ChunkType type{};
  std::uint64_t offset = 0;       // of the chunk in the file
  std::span<const char> payload;  // valid until the next call of next()
};

// Iterates over the chunks of a file in memory. No length in it is trusted.
class ChunkReader {
 public:
  // Throws InvalidArgument with `path` if the bytes are not a recording file, or have a newer major version. `budget`, if there is one,
  // must outlive it.
  ChunkReader(std::string_view bytes, const std::string& path, MemoryBudget* budget = nullptr);
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;

  // Returns the next chunk, or no value at the end of the bytes or at damage. Takes its size from the budget for good, which bounds the
  // time that decompressing takes as well: a few bytes can stand for a chunk of kMaxRawChunk. Throws BudgetExceeded.
  std::optional<Chunk> next();
  // Skips the damaged chunk at offset() by its stored length. Returns false if there is no chunk or its length exceeds the file.
  // A length that is corrupt itself leads to a chunk whose checksum does not pass.
  bool skip_damaged();
  // Describes what is wrong with the chunk at offset(); empty if nothing is.
  const std::optional<std::string>& damage() const noexcept { return damage_; }
  std::uint64_t offset() const noexcept { return offset_; }  // behind the last good chunk
  std::uint8_t minor() const noexcept { return minor_; }
  bool newer_minor() const noexcept { return minor_ > kFormatMinor; }

 private:
  std::optional<Chunk> fail(std::string damage);
  std::string_view bytes_;
  MemoryBudget* budget_;
  std::uint64_t offset_ = 0;
  std::uint8_t minor_ = 0;
  std::optional<std::string> damage_;
  Column<char> raw_;
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> zstd_;
};

// True if the bytes start with the magic of our files.
bool has_magic(std::string_view bytes);

}  // namespace mindtorch::trace
