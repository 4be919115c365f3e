// Measures rates with loops of independent multiply-adds in registers, and the bandwidth with arrays that no cache holds. Every processor
// works at the same time, in rounds. A rate is work by the time that a thread had a processor, so that other programs, which take turns
// with it, change little; the best round counts, because what they do to caches and clocks only makes a round slower.
#include "mtprof/cpu_speed.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace mindtorch::mtprof {
namespace {

constexpr int kRounds = 8;
constexpr auto kRound = std::chrono::milliseconds(40);
constexpr int kChains = 12;         // of multiply-adds that do not wait for each other: latency times throughput of current processors
constexpr int kRepetitions = 2000;  // between two looks at the clock

// Keeps the compiler from leaving a loop out whose result nobody uses.
volatile double g_sink = 0;

// Does some work and returns how much: FLOPs or bytes.
using Task = std::function<double()>;

#if defined(__x86_64__)

__attribute__((target("avx512f"))) double float32_avx512() {
  __m512 chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = _mm512_set1_ps(1.0F + static_cast<float>(k));
  const __m512 factor = _mm512_set1_ps(0.9999F), addend = _mm512_set1_ps(0.0001F);
  for (int i = 0; i < kRepetitions; ++i) {
    for (int k = 0; k < kChains; ++k) chains[k] = _mm512_fmadd_ps(chains[k], factor, addend);
  }
  float all = 0;
  for (int k = 0; k < kChains; ++k) all += _mm512_cvtss_f32(chains[k]);
  g_sink = all;
  return 2.0 * 16 * kChains * kRepetitions;
}

__attribute__((target("avx512f"))) double float64_avx512() {
  __m512d chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = _mm512_set1_pd(1.0 + k);
  const __m512d factor = _mm512_set1_pd(0.9999), addend = _mm512_set1_pd(0.0001);
  for (int i = 0; i < kRepetitions; ++i) {
    for (int k = 0; k < kChains; ++k) chains[k] = _mm512_fmadd_pd(chains[k], factor, addend);
  }
  double all = 0;
  for (int k = 0; k < kChains; ++k) all += _mm512_cvtsd_f64(chains[k]);
  g_sink = all;
  return 2.0 * 8 * kChains * kRepetitions;
}

__attribute__((target("avx512f,avx512bf16"))) double bfloat16_avx512() {
  __m512 chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = _mm512_set1_ps(1.0F + static_cast<float>(k));
  const __m512bh factor = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.01F), _mm512_set1_ps(0.01F));
  for (int i = 0; i < kRepetitions; ++i) {
    for (int k = 0; k < kChains; ++k) chains[k] = _mm512_dpbf16_ps(chains[k], factor, factor);
  }
  float all = 0;
  for (int k = 0; k < kChains; ++k) all += _mm512_cvtss_f32(chains[k]);
  g_sink = all;
  return 2.0 * 32 * kChains * kRepetitions;
}

__attribute__((target("avx2,fma"))) double float32_avx2() {
  __m256 chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = _mm256_set1_ps(1.0F + static_cast<float>(k));
  const __m256 factor = _mm256_set1_ps(0.9999F), addend = _mm256_set1_ps(0.0001F);
  for (int i = 0; i < kRepetitions; ++i) {
    for (int k = 0; k < kChains; ++k) chains[k] = _mm256_fmadd_ps(chains[k], factor, addend);
  }
  float all = 0;
  for (int k = 0; k < kChains; ++k) all += _mm256_cvtss_f32(chains[k]);
  g_sink = all;
  return 2.0 * 8 * kChains * kRepetitions;
}

__attribute__((target("avx2,fma"))) double float64_avx2() {
  __m256d chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = _mm256_set1_pd(1.0 + k);
  const __m256d factor = _mm256_set1_pd(0.9999), addend = _mm256_set1_pd(0.0001);
  for (int i = 0; i < kRepetitions; ++i) {
    for (int k = 0; k < kChains; ++k) chains[k] = _mm256_fmadd_pd(chains[k], factor, addend);
  }
  double all = 0;
  for (int k = 0; k < kChains; ++k) all += _mm256_cvtsd_f64(chains[k]);
  g_sink = all;
  return 2.0 * 4 * kChains * kRepetitions;
}

Task float32_task() {
  if (__builtin_cpu_supports("avx512f")) return float32_avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Task(float32_avx2) : Task();
}

Task float64_task() {
  if (__builtin_cpu_supports("avx512f")) return float64_avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Task(float64_avx2) : Task();
}

// A processor with tiles multiplies bfloat16 with them, several times faster than with vectors: its peak stays unknown here.
Task bfloat16_task() {
  constexpr unsigned kHasTiles = 1U << 22, kHasVectors = 1U << 5;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kHasTiles) != 0 || a == 0) return {};
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & kHasVectors) == 0 || !__builtin_cpu_supports("avx512f")) return {};
  return bfloat16_avx512;
}

#else

// The compiler turns vectors of this size into the registers that the processor has.
template <class Number>
double vector_chains() {
  constexpr int kLanes = 16 / sizeof(Number);
  typedef Number Vector __attribute__((vector_size(16)));
  Vector chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = Vector{} + static_cast<Number>(1 + k);
  const Vector factor = Vector{} + static_cast<Number>(0.9999), addend = Vector{} + static_cast<Number>(0.0001);
  for (int i = 0; i < kRepetitions; ++i) {
    for (int k = 0; k < kChains; ++k) chains[k] = chains[k] * factor + addend;
  }
  double all = 0;
  for (int k = 0; k < kChains; ++k) all += static_cast<double>(chains[k][0]);
  g_sink = all;
  return 2.0 * kLanes * kChains * kRepetitions;
}

Task float32_task() { return vector_chains<float>; }
Task float64_task() { return vector_chains<double>; }
Task bfloat16_task() { return {}; }

#endif

// Seconds for which this thread had a processor.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Work in a second of all tasks together, each on a thread of its own.
double best_rate(const std::vector<Task>& tasks) {
  std::atomic<int> round = -1;
  std::atomic<std::size_t> ready = 0;
  std::vector<std::array<double, kRounds>> rates(tasks.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    threads.emplace_back([&, k] {
      tasks[k]();  // pages are there and clocks are up before the first round
      ++ready;
      while (round < 0) std::this_thread::yield();
      for (int now = round; now < kRounds; now = round) {
        const double start = processor_seconds();
        double work = 0;
        while (round == now) work += tasks[k]();
        rates[k][static_cast<std::size_t>(now)] = work / std::max(1e-9, processor_seconds() - start);
      }
    });
  }
  while (ready < tasks.size()) std::this_thread::yield();
  for (int k = 0; k < kRounds; ++k) {
    round = k;
    std::this_thread::sleep_for(kRound);
  }
  round = kRounds;
  for (std::thread& thread : threads) thread.join();
  double best = 0;
  for (std::size_t k = 0; k < kRounds; ++k) {
    double all = 0;
    for (const auto& each : rates) all += each[k];
    best = std::max(best, all);
  }
  return best;
}

std::size_t processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
  return std::max(1U, std::thread::hardware_concurrency());
}

double rate_of(const Task& task) { return task ? best_rate(std::vector<Task>(processors(), task)) : 0; }

// The first line of a file of the system; empty if there is none.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The largest cache of one processor, in bytes; 0 if the system does not say.
double largest_cache() {
  double largest = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string size = line_of("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    if (size.empty()) continue;
    const double unit = size.ends_with('M') ? 1048576.0 : 1024.0;
    largest = std::max(largest, std::atof(size.c_str()) * unit);
  }
  return largest;
}

// Reading an array, and copying one half of it to the other, a piece at a time so that a round ends in time. The pieces follow each other
// through arrays that are together four times as large as the cache.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : words_(bytes / sizeof(std::uint64_t)), data_(new std::uint64_t[words_]) {
    std::memset(data_.get(), 1, words_ * sizeof(std::uint64_t));
  }

  double read() {
    const std::uint64_t* from = next(words_);
    std::array<std::uint64_t, 8> sums{};
    for (std::size_t i = 0; i < kPiece; i += sums.size()) {
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += from[i + k];
    }
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sums) all += sum;
    g_sink = static_cast<double>(all);
    return static_cast<double>(kPiece * sizeof(std::uint64_t));
  }

  double copy() {
    const std::size_t half = words_ / 2;
    std::uint64_t* from = next(half);
    std::memcpy(from + half, from, kPiece * sizeof(std::uint64_t));
    return 2.0 * kPiece * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t kPiece = 1 << 17;  // words: 1 MiB

  std::uint64_t* next(std::size_t words) {
    if (at_ + kPiece > words) at_ = 0;
    std::uint64_t* piece = data_.get() + at_;
    at_ += kPiece;
    return piece;
  }

  std::size_t words_, at_ = 0;
  std::unique_ptr<std::uint64_t[]> data_;
};

// Bytes in a second, the faster of reading and copying.
double bandwidth(double cache) {
  constexpr double kLeast = 64e6, kMost = 2e9;
  const std::size_t threads = processors();
  const double bytes = std::clamp(4 * cache / static_cast<double>(threads), kLeast, kMost / static_cast<double>(threads));
  std::vector<std::shared_ptr<Memory>> arrays;
  std::vector<Task> reads, copies;
  for (std::size_t k = 0; k < threads; ++k) {
    const auto memory = arrays.emplace_back(std::make_shared<Memory>(static_cast<std::size_t>(std::max(bytes, 4e6))));
    reads.emplace_back([memory] { return memory->read(); });
    copies.emplace_back([memory] { return memory->copy(); });
  }
  return std::max(best_rate(reads), best_rate(copies));
}

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name") && line.find(':') + 2 < line.size()) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

}  // namespace

trace::DevicePeaks measure_cpu() {
  trace::DevicePeaks peaks;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  peaks.device = valid_utf8(model_name());
  peaks.host = valid_utf8(host.data());
  const auto set = [&](trace::ComputeUnit unit, double rate) { peaks.tflops[static_cast<std::size_t>(unit)] = rate / 1e12; };
  set(trace::ComputeUnit::kFloat32, rate_of(float32_task()));
  set(trace::ComputeUnit::kFloat64, rate_of(float64_task()));
  set(trace::ComputeUnit::kBFloat16, rate_of(bfloat16_task()));
  const double cache = largest_cache();
  peaks.tbytes = bandwidth(cache) / 1e12;
  peaks.cache_mbytes = cache / 1e6;
  peaks.source = "measured on this machine by mtprof peaks";
  return peaks;
}

}  // namespace mindtorch::mtprof
