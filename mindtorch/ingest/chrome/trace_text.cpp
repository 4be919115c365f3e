// Mapping, decompression and cutting.
#include "mindtorch/ingest/chrome/trace_text.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "mindtorch/base/error.h"

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat about {};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0) throw_io_error("ingest.read_chrome_trace", "read", path, errno);
    if (S_ISDIR(about.st_mode)) throw_io_error("ingest.read_chrome_trace", "read", path, EISDIR);
    size_ = static_cast<std::size_t>(about.st_size);
  }
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }
  std::size_t size() const { return size_; }

 private:
  int fd_;
  std::size_t size_ = 0;
};

// A text that grows while members are decompressed into it.
class Inflation {
 public:
  explicit Inflation(const std::string& path) : path_(path), decompressor_(libdeflate_alloc_decompressor()) {}
  ~Inflation() { libdeflate_free_decompressor(decompressor_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  void run(std::string_view bytes) {
    // The last word of a file with one member is its size; with many members it is at least a start.
    std::uint32_t hint = 0;
    if (bytes.size() >= sizeof hint) std::memcpy(&hint, bytes.data() + bytes.size() - sizeof hint, sizeof hint);
    grow(std::max<std::size_t>({bytes.size() * 4, hint, 4096}));
    while (!bytes.empty()) {
      std::size_t in = 0, out = 0;
      const auto result =
          libdeflate_gzip_decompress_ex(decompressor_, bytes.data(), bytes.size(), text_.get() + size_, capacity_ - size_, &in, &out);
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
        grow(capacity_ * 2);
      } else if (result == LIBDEFLATE_SUCCESS) {
        bytes.remove_prefix(in);
        size_ += out;
      } else {
        throw_error<InvalidArgument>("ingest.read_chrome_trace", "'{}' is damaged gzip, {} bytes before its end", path_, bytes.size());
      }
    }
    std::memset(text_.get() + size_, 0, kPadding);
  }

  std::unique_ptr<char[]> take() { return std::move(text_); }
  std::size_t size() const { return size_; }

 private:
  void grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity + kPadding);
    if (size_ > 0) std::memcpy(larger.get(), text_.get(), size_);
    text_ = std::move(larger);
    capacity_ = capacity;
  }

  const std::string& path_;
  libdeflate_decompressor* decompressor_;
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0, capacity_ = 0;
};

// Where an event starts on a line of its own, at or after `from`: "},\n  {\n "ph"". npos if there is none nearby.
std::size_t find_event(std::string_view text, std::size_t from) {
  constexpr std::size_t kReach = std::size_t{1} << 20;
  const std::string_view near = text.substr(0, std::min(text.size(), from + kReach));
  for (std::size_t line = near.find('\n', from); line != std::string_view::npos; line = near.find('\n', line + 1)) {
    const std::size_t brace = near.find_first_not_of(kSpace, line);
    if (brace == std::string_view::npos || near[brace] != '{') continue;
    const std::size_t key = near.find_first_not_of(kSpace, brace + 1);
    if (key == std::string_view::npos || near.substr(key, 4) != "\"ph\"") continue;
    const std::size_t comma = near.find_last_not_of(kSpace, line);
    if (comma == std::string_view::npos || comma == 0 || near[comma] != ',') continue;
    const std::size_t end = near.find_last_not_of(kSpace, comma - 1);
    if (end != std::string_view::npos && near[end] == '}') return brace;
  }
  return std::string_view::npos;
}

}  // namespace

TraceText::TraceText(const std::string& path) {
  map(path);
  if (view_.starts_with("\x1F\x8B")) {
    Inflation inflation(path);
    inflation.run(view_);
    decompressed_ = inflation.take();
    view_ = {decompressed_.get(), inflation.size()};
  }
}

TraceText::~TraceText() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_size_);
}

void TraceText::map(const std::string& path) {
  const OpenFile file(path);
  if (file.size() == 0) return;
  // Zero pages first, the file over their beginning: what follows the file's last page is readable too.
  mapping_size_ = file.size() + static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + kPadding;
  void* const base = ::mmap(nullptr, mapping_size_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw_io_error("ingest.read_chrome_trace", "map", path, errno);
  mapping_ = base;
  if (::mmap(base, file.size(), PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, file.fd(), 0) == MAP_FAILED) {
    throw_io_error("ingest.read_chrome_trace", "map", path, errno);
  }
  view_ = {static_cast<const char*>(base), file.size()};
}

std::vector<TextPiece> cut_between_events(const TextPiece& whole, std::size_t size) {
  const std::string_view text = whole.text;
  const std::string_view beginning = whole.prefix.empty() ? text : whole.prefix;
  const std::size_t first = beginning.find_first_not_of(kSpace);
  const bool is_object = first != std::string_view::npos && beginning[first] == '{';
  std::vector<TextPiece> pieces;
  std::size_t begin = 0;
  while (text.size() - begin > size + size / 2) {
    const std::size_t cut = find_event(text, begin + size);
    if (cut == std::string_view::npos) break;
    const std::string_view piece = text.substr(begin, text.rfind(',', cut) - begin);
    if (pieces.empty()) {
      pieces.push_back({whole.prefix, piece, is_object ? "]}" : "]"});
    } else {
      pieces.push_back({"[", piece, "]"});
    }
    begin = cut;
  }
  if (pieces.empty()) return {whole};
  pieces.push_back({is_object ? "{\"traceEvents\":[" : "[", text.substr(begin), whole.suffix});
  return pieces;
}

}  // namespace mindtorch::ingest::chrome
