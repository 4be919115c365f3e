// The second thread behind Output: compresses and writes full blocks in order.
#include "mindtorch/export/output.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"

namespace mindtorch::exporter {
namespace {

constexpr std::size_t kPlainBlock = std::size_t{256} << 10;  // stays in the cache between formatting and writing
constexpr std::size_t kGzipBlock = std::size_t{1} << 20;     // a member each: larger ones compress better
constexpr int kBlocks = 4;                                   // one being filled, one being written, two for an uneven pace
constexpr int kGzipLevel = 1;

bool ends_with_gz(std::string_view path) { return path.ends_with(".gz"); }

}  // namespace

class Output::Worker {
 public:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    std::size_t size = 0;
  };

  explicit Worker(const std::string& path) : file_(path), block_size_(ends_with_gz(path) ? kGzipBlock : kPlainBlock) {
    free_.reserve(kBlocks);  // so that handing blocks back needs no memory
    if (ends_with_gz(path)) gzip_ = std::make_unique<GzipMember>(path);
  }

  ~Worker() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // Hands the block in use over and gets an empty one with room for `size` bytes. Waits while all blocks are on their way to the file.
  void exchange(std::size_t size) {
    if (block_.size > 0 && !thread_.joinable() && !start_thread()) {
      write(block_);
      block_.size = 0;
    }
    std::unique_lock lock(mutex_);
    if (block_.size > 0) {
      full_.push_back(std::exchange(block_, {}));
      changed_.notify_all();
    } else {
      free_.push_back(std::exchange(block_, {}));
    }
    changed_.wait(lock, [&] { return error_ || !free_.empty(); });
    if (error_) std::rethrow_exception(error_);
    block_ = std::move(free_.back());
    free_.pop_back();
    lock.unlock();
    if (block_.capacity < size || !block_.bytes) {
      block_.bytes = std::make_unique_for_overwrite<char[]>(std::max(size, block_size_));
      block_.capacity = std::max(size, block_size_);
    }
    block_.size = 0;
  }

  // Everything handed over and the block in use are in the file, and the file is in place.
  void finish() {
    if (thread_.joinable()) {
      std::unique_lock lock(mutex_);
      full_.push_back(std::exchange(block_, {}));
      finished_ = true;
      lock.unlock();
      changed_.notify_all();
      thread_.join();
      if (error_) std::rethrow_exception(error_);
    } else {
      write(block_);
    }
    file_.commit();
  }

  Block& block() { return block_; }

 private:
  // Makes one gzip member per call.
  class GzipMember {
   public:
    explicit GzipMember(const std::string& path) : compressor_(libdeflate_alloc_compressor(kGzipLevel)) {
      if (compressor_ == nullptr) throw_io_error("export.output", "compress", path, ENOMEM);
    }
    ~GzipMember() { libdeflate_free_compressor(compressor_); }
    GzipMember(const GzipMember&) = delete;
    GzipMember& operator=(const GzipMember&) = delete;

    std::string_view compress(std::string_view bytes) {
      const std::size_t bound = libdeflate_gzip_compress_bound(compressor_, bytes.size());
      if (bound > capacity_) {
        buffer_ = std::make_unique_for_overwrite<char[]>(bound);
        capacity_ = bound;
      }
      return {buffer_.get(), libdeflate_gzip_compress(compressor_, bytes.data(), bytes.size(), buffer_.get(), capacity_)};
    }

   private:
    libdeflate_compressor* compressor_;
    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_ = 0;
  };

  // False if the system has no thread to give: the caller then writes each block itself.
  bool start_thread() {
    try {
      thread_ = std::thread([this] { run(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return abandoned_ || finished_ || !full_.empty(); });
      if (abandoned_ || full_.empty()) return;
      Block block = std::move(full_.front());
      full_.pop_front();
      lock.unlock();
      std::exception_ptr error;
      try {
        write(block);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      free_.push_back(std::move(block));
      error_ = error;
      changed_.notify_all();
      if (error) return;
    }
  }

  void write(const Block& block) {
    const std::string_view bytes(block.bytes.get(), block.size);
    // An empty gzip file still needs one member.
    if (gzip_ && (!bytes.empty() || !wrote_)) {
      file_.write(gzip_->compress(bytes));
    } else {
      file_.write(bytes);
    }
    wrote_ = true;
  }

  AtomicFile file_;
  std::size_t block_size_;
  std::unique_ptr<GzipMember> gzip_;
  bool wrote_ = false;  // of the thread that writes
  Block block_;         // of the caller

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> full_;
  std::vector<Block> free_{kBlocks - 1};
  std::exception_ptr error_;
  bool finished_ = false;
  bool abandoned_ = false;
  std::thread thread_;
};

Output::Output(const std::string& path) : worker_(std::make_unique<Worker>(path)) {}
Output::~Output() = default;

void Output::next_block(std::size_t size) {
  const std::size_t filled = static_cast<std::size_t>(at_ - begin_);
  worker_->block().size = filled;
  handed_over_ += filled;
  begin_ = at_ = limit_ = nullptr;
  worker_->exchange(size);
  begin_ = at_ = worker_->block().bytes.get();
  limit_ = begin_ + worker_->block().capacity;
}

void Output::append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (at_ == limit_) next_block(1);
    const std::size_t part = std::min(bytes.size(), static_cast<std::size_t>(limit_ - at_));
    std::memcpy(at_, bytes.data(), part);
    at_ += part;
    bytes.remove_prefix(part);
  }
}

void Output::commit() {
  worker_->block().size = static_cast<std::size_t>(at_ - begin_);
  handed_over_ = size();
  begin_ = at_ = limit_ = nullptr;
  worker_->finish();
}

void write_output(const std::string& path, std::string_view bytes) {
  Output out(path);
  out.append(bytes);
  out.commit();
}

}  // namespace mindtorch::exporter
