// The peer of runtime/tiny_add: x + x on four elements in LibTorch. Compiled by benchmarks/runtime.py against the installed torch. Reads
// lines "add <count>", answers with the nanoseconds that one addition took.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <iostream>
#include <string>

int main() {
  at::set_num_threads(1);
  const at::Tensor x = at::ones({4});
  for (std::string name, count; std::cin >> name >> count;) {
    const long long n = std::stoll(count);
    const auto start = std::chrono::steady_clock::now();
    for (long long i = 0; i < n; ++i) {
      const at::Tensor sum = x + x;
      asm volatile("" : : "g"(&sum) : "memory");
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    std::cout << elapsed.count() / static_cast<double>(n) << std::endl;
  }
}
