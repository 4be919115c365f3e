// libdeflate decompresses whole members, three times as fast as zlib; zlib takes what libdeflate refuses, as it says how far it got.
#include "mindtorch/ingest/gzip_text.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "mindtorch/ingest/read_limits.h"

namespace mindtorch::ingest {
namespace {

constexpr std::size_t kSmallestText = 4096;
constexpr std::uint64_t kBestRatio = 1032;  // deflate cannot compress better

// zlib's state for one gzip member.
class Inflater {
 public:
  explicit Inflater(std::string_view bytes) {
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
    // zlib never writes to its input, but is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    rest_ = bytes.size();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills at most `size` bytes at `to`; returns how many. 0 means that there is no more.
  std::size_t read(char* to, std::size_t size) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // zlib counts in 32 bits
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min(size, kMostAtOnce));
    const uInt room = stream_.avail_out;
    while (result_ == Z_OK && stream_.avail_out > 0) {
      const auto in = static_cast<uInt>(std::min(rest_, kMostAtOnce));
      stream_.avail_in = in;
      result_ = inflate(&stream_, Z_NO_FLUSH);
      rest_ -= in - stream_.avail_in;
    }
    return room - stream_.avail_out;
  }
  std::size_t rest() const { return rest_; }
  std::string_view fault() const {
    return result_ == Z_BUF_ERROR ? "it ends early" : stream_.msg != nullptr ? stream_.msg : "it is corrupt";
  }

 private:
  z_stream stream_{};
  std::size_t rest_ = 0;
  int result_ = Z_OK;
};

// A text that grows while members are decompressed into it.
class Inflation {
 public:
  Inflation(std::size_t padding, trace::MemoryBudget& budget)
      : padding_(padding), budget_(budget), decompressor_(libdeflate_alloc_decompressor()) {
    if (decompressor_ == nullptr) throw std::bad_alloc();
  }
  ~Inflation() { libdeflate_free_decompressor(decompressor_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  GzipText run(const std::string_view bytes) {
    std::string_view rest = bytes;
    try {
      return run(bytes, rest);
    } catch (const trace::BudgetExceeded&) {
      throw NeedsMemory({bytes.size() - rest.size(), "file", "its decompressed text"});
    }
  }

 private:
  // `rest` is what is left of `bytes` behind the members that have been decompressed.
  GzipText run(const std::string_view bytes, std::string_view& rest) {
    grow(first_capacity(bytes));
    GzipText result;
    while (!rest.empty()) {
      std::size_t in = 0, out = 0;
      const auto code =
          libdeflate_gzip_decompress_ex(decompressor_, rest.data(), rest.size(), text_.get() + size_, capacity_ - size_, &in, &out);
      if (code == LIBDEFLATE_INSUFFICIENT_SPACE) {
        grow(2 * capacity_);
      } else if (code == LIBDEFLATE_SUCCESS) {
        rest.remove_prefix(in);
        size_ += out;
      } else {
        result.damage = salvage(rest, bytes.size());
        break;
      }
    }
    std::memset(text_.get() + size_, 0, padding_);
    result.text = std::move(text_);
    result.size = size_;
    return result;
  }

  // The last word of a file with one member is the size of its text. It may lie, so it is believed only as far as it is plausible.
  std::size_t first_capacity(std::string_view bytes) const {
    std::uint32_t told = 0;
    if (bytes.size() >= sizeof told) std::memcpy(&told, bytes.data() + bytes.size() - sizeof told, sizeof told);
    const std::uint64_t plausible = std::min<std::uint64_t>(kBestRatio * bytes.size(), budget_.left() / 4);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(told, kSmallestText, std::max<std::uint64_t>(plausible, kSmallestText)));
  }

  void grow(std::size_t capacity) {
    budget_.take(capacity + padding_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity + padding_);
    if (size_ > 0) std::memcpy(larger.get(), text_.get(), size_);
    if (text_ != nullptr) budget_.give_back(capacity_ + padding_);
    text_ = std::move(larger);
    capacity_ = capacity;
  }

  // Takes what can be decompressed of a damaged member.
  std::string salvage(std::string_view member, std::size_t file_size) {
    Inflater inflater(member);
    while (true) {
      if (size_ == capacity_) grow(2 * capacity_);
      const std::size_t got = inflater.read(text_.get() + size_, capacity_ - size_);
      if (got == 0) break;
      size_ += got;
    }
    return fmt::format("the gzip data is damaged at byte {} of {} ({})", file_size - inflater.rest(), file_size, inflater.fault());
  }

  std::size_t padding_;
  trace::MemoryBudget& budget_;
  libdeflate_decompressor* decompressor_;
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B"); }

GzipText decompress_gzip(std::string_view bytes, std::size_t padding, trace::MemoryBudget& budget) {
  return Inflation(padding, budget).run(bytes);
}

std::string gzip_beginning(std::string_view bytes, std::size_t size) {
  std::string text(size, '\0');
  text.resize(Inflater(bytes).read(text.data(), size));
  return text;
}

}  // namespace mindtorch::ingest
