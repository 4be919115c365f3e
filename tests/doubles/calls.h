// Counts the calls of each function of a double and makes them fail where a test asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace doubles {

class Calls {
 public:
  // What the call must return at once: 0, or the result that a test has asked for.
  std::int32_t begin(const char* function);

  void fail(const char* function, std::int32_t result, std::uint32_t skip, std::uint32_t times);
  std::uint64_t count(const std::string& function) const;  // "*": of all
  std::string last_failed() const;
  void reset();

 private:
  struct Failure {
    std::string function;
    std::int32_t result;
    std::uint32_t skip;
    std::uint32_t times;
    bool is_endless;
  };
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<Failure> failures_;
  std::string last_failed_;
};

}  // namespace doubles
