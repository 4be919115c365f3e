// What the double of every vendor's library has: counted calls, strings that outlive their callers, and a list of its client's mistakes.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "tests/doubles/calls.h"

namespace doubles {

// Every function may be called from any thread.
class LibraryBase {
 public:
  Calls calls;

  // Strings that live as long as the library.
  const char* keep(const std::string& text);

  // What the client did that the vendor's library does not allow.
  void add_violation(const std::string& sentence);
  // One sentence per line; empty if there is none.
  const char* violations();

 protected:
  // Forgets calls and violations. Strings stay: records that a client has may point to them.
  void reset_base();

 private:
  std::mutex mutex_;
  std::set<std::string> strings_;
  std::string violations_;
};

}  // namespace doubles
