// The container of a .mtrec file.
#include "mindtorch/trace/chunk_file.h"

#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"

namespace mindtorch::trace {
namespace {

// The magic is not text, and any tool that treats the file as text damages it.
constexpr std::array<char, 8> kMagic = {'M', 'T', 'R', 'E', 'C', '\r', '\n', '\x1a'};
constexpr std::uint32_t kByteOrderMark = 0x01020304;
constexpr std::size_t kFileHeader = 16;
constexpr std::size_t kChunkHeader = 20;
constexpr std::size_t kChecksum = 8;  // its size; it comes first and covers what follows

template <class T>
void store(char* at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<char>(value >> (8 * i));
}

template <class T>
T fetch(const char* at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(static_cast<std::uint8_t>(at[i])) << (8 * i));
  return value;
}

std::uint64_t checksum(std::string_view chunk, std::uint64_t offset) {
  return XXH3_64bits_withSeed(chunk.data() + kChecksum, chunk.size() - kChecksum, offset);
}

std::array<char, kFileHeader> file_header() {
  std::array<char, kFileHeader> header{};
  std::ranges::copy(kMagic, header.begin());
  header[8] = static_cast<char>(kFormatMajor);
  header[9] = static_cast<char>(kFormatMinor);
  store(&header[12], kByteOrderMark);
  return header;
}

}  // namespace

bool has_magic(std::string_view bytes) { return bytes.starts_with(std::string_view(kMagic.data(), kMagic.size())); }

void ChunkWriter::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void ChunkReader::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

namespace {

// A file at a descriptor of the caller.
class DescriptorTarget final : public ChunkTarget {
 public:
  explicit DescriptorTarget(int fd) : fd_(fd), identity_(identity_of(fd)) {}

  Written append(std::span<const char> bytes) noexcept override {
    if (identity_of(fd_) != identity_) return {0, EBADF};
    Written written;
    while (written.bytes < bytes.size()) {
      // This is nearly always one call. After a short write, the next call returns the error.
      const ssize_t count = ::write(fd_, bytes.data() + written.bytes, bytes.size() - written.bytes);
      if (count >= 0) {
        written.bytes += static_cast<std::size_t>(count);
      } else if (errno != EINTR) {
        written.error = errno;
        break;
      }
    }
    return written;
  }

  int cut(std::uint64_t size) noexcept override {
    if (identity_of(fd_) != identity_) return EBADF;
    const auto end = static_cast<off_t>(size);
    return ::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end ? 0 : errno;
  }

 private:
  const int fd_;
  const FileIdentity identity_;
};

}  // namespace

ChunkWriter::ChunkWriter(int fd, std::string path, int zstd_level)
    : own_target_(std::make_unique<DescriptorTarget>(fd)), target_(*own_target_), path_(std::move(path)), zstd_(ZSTD_createCCtx()) {
  begin(zstd_level);
}

ChunkWriter::ChunkWriter(ChunkTarget& target, std::string path, int zstd_level)
    : target_(target), path_(std::move(path)), zstd_(ZSTD_createCCtx()) {
  begin(zstd_level);
}

void ChunkWriter::begin(int zstd_level) {
  if (zstd_ == nullptr) throw std::bad_alloc();
  if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, zstd_level))) {
    throw_error<InvalidArgument>("trace.save", "zstd has no level {}", zstd_level);
  }
  append(file_header());
}

ChunkWriter::~ChunkWriter() = default;

void ChunkWriter::write(ChunkType type, std::span<const char> raw) {
  if (raw.size() > kMaxRawChunk)
    throw_error<InvalidArgument>("trace.save", "a chunk of {} bytes is over the limit of {}", raw.size(), kMaxRawChunk);
  buffer_.resize(std::max(buffer_.size(), kChunkHeader + ZSTD_compressBound(raw.size())));
  const std::size_t stored =
      ZSTD_compress2(zstd_.get(), buffer_.data() + kChunkHeader, buffer_.size() - kChunkHeader, raw.data(), raw.size());
  if (ZSTD_isError(stored)) throw_error("trace.save", "zstd: {}", ZSTD_getErrorName(stored));
  store(&buffer_[8], static_cast<std::uint32_t>(type));
  store(&buffer_[12], static_cast<std::uint32_t>(raw.size()));
  store(&buffer_[16], static_cast<std::uint32_t>(stored));
  const std::span<const char> chunk(buffer_.data(), kChunkHeader + stored);
  store(&buffer_[0], checksum({chunk.data(), chunk.size()}, offset_));
  append(chunk);
}

void ChunkWriter::append(std::span<const char> bytes) {
  if (torn_ != 0) throw_io_error("trace.save", "write", path_, torn_);
  const ChunkTarget::Written written = target_.append(bytes);
  if (written.error != 0) {
    if (written.bytes > 0 && target_.cut(offset_) != 0) torn_ = written.error;
    throw_io_error("trace.save", "write", path_, written.error);
  }
  offset_ += bytes.size();
}

ChunkReader::ChunkReader(std::string_view bytes, const std::string& path, MemoryBudget* budget)
    : bytes_(bytes), budget_(budget), zstd_(ZSTD_createDCtx()) {
  if (zstd_ == nullptr) throw std::bad_alloc();
  if (!has_magic(bytes)) throw_error<InvalidArgument>("trace.load", "'{}' is not a recording", path);
  if (bytes.size() < kFileHeader) {
    fail("the file ends inside its header");
    return;
  }
  const auto major = static_cast<std::uint8_t>(bytes[8]);
  minor_ = static_cast<std::uint8_t>(bytes[9]);
  if (major != kFormatMajor) {
    throw_error<InvalidArgument>("trace.load", "'{}' is of format version {}.{}, this library reads version {}", path, major, minor_,
                                 kFormatMajor);
  }
  if (fetch<std::uint32_t>(&bytes[12]) != kByteOrderMark) throw_error<InvalidArgument>("trace.load", "'{}' is not in our byte order", path);
  offset_ = kFileHeader;
}

ChunkReader::~ChunkReader() = default;

std::optional<Chunk> ChunkReader::fail(std::string damage) {
  damage_ = std::move(damage);
  return std::nullopt;
}

std::optional<Chunk> ChunkReader::next() {
  if (damage_ || offset_ == bytes_.size()) return std::nullopt;
  const std::string_view rest = bytes_.substr(offset_);
  if (rest.size() < kChunkHeader) return fail("the file ends inside a chunk");
  const std::size_t raw_size = fetch<std::uint32_t>(&rest[12]);
  const std::size_t stored_size = fetch<std::uint32_t>(&rest[16]);
  // The two cases cannot be told apart, because the length itself may be corrupt.
  if (stored_size > rest.size() - kChunkHeader) return fail("the file ends inside a chunk, or the chunk's length is corrupt");
  const std::string_view chunk = rest.substr(0, kChunkHeader + stored_size);
  if (fetch<std::uint64_t>(&chunk[0]) != checksum(chunk, offset_)) return fail("the checksum of a chunk is wrong");
  if (raw_size > kMaxRawChunk) return fail("a chunk is over the size limit");
  if (budget_ != nullptr) budget_->take(raw_size);
  if (raw_.size() < raw_size) raw_ = Column<char>(raw_size);
  const std::size_t got = ZSTD_decompressDCtx(zstd_.get(), raw_.data(), raw_size, chunk.data() + kChunkHeader, stored_size);
  if (ZSTD_isError(got) || got != raw_size) return fail("a chunk does not decompress to its size");
  const Chunk result{static_cast<ChunkType>(fetch<std::uint32_t>(&chunk[8])), offset_, {raw_.data(), raw_size}};
  offset_ += chunk.size();
  return result;
}

bool ChunkReader::skip_damaged() {
  const std::string_view rest = bytes_.substr(offset_);
  if (!damage_ || offset_ == 0 || rest.size() < kChunkHeader) return false;
  const std::size_t stored_size = fetch<std::uint32_t>(&rest[16]);
  if (stored_size > rest.size() - kChunkHeader) return false;
  offset_ += kChunkHeader + stored_size;
  damage_.reset();
  return true;
}

}  // namespace mindtorch::trace
