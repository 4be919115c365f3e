// Argument use: which types and shapes the calls of an op had, and how two runs differ in them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// Types and shapes as texts, each with the time of the calls that had them. Empty if arguments were not recorded.
struct ArgumentUse {
  std::map<std::string, double> types;   // "float32, int64"
  std::map<std::string, double> shapes;  // "[[32, 64], [64, 64]]"

  void add(const ArgumentUse& other);
};

// Reads the arguments of calls; texts are made once for each set of types and of shapes.
class MINDTORCH_EXPORT ArgumentReader {
 public:
  // `words` is a row of Recording::inputs.
  void add(std::span<const std::int64_t> words, double time_ns, ArgumentUse& use);

 private:
  ShapeIds shape_ids_;
  std::unordered_map<std::uint32_t, std::string> shapes_;  // by their id
  std::map<std::vector<trace::ScalarType>, std::string> types_;
  std::vector<Argument> arguments_;
  std::vector<trace::ScalarType> signature_;
};

// "float32 → float64": what only the first run has, and what only the second one has in its place, each by most time. Empty if the runs do
// not differ, or if one of them did not record arguments.
MINDTORCH_EXPORT std::vector<std::string> argument_changes(const ArgumentUse& before, const ArgumentUse& after);

}  // namespace mindtorch::analyze
