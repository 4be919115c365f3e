// OpenSpans: what is open at the current point of a walk along a track. The events of a track come in the order of their starts, outer ones
// before inner ones, so that a stack holds what is open.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mindtorch::trace {

// Value: what the walk knows about each span, often its EventIndex.
template <class Value>
class OpenSpans {
 public:
  struct Span {
    std::int64_t end_ns;
    Value value;
  };

  void open(std::int64_t end_ns, Value value) { spans_.push_back({end_ns, std::move(value)}); }
  // Closes what has ended by then, innermost first. Calls closed(span) for each, while it still is the innermost.
  template <class Closed>
  void close_until(std::int64_t time_ns, Closed closed) {
    for (; !spans_.empty() && spans_.back().end_ns <= time_ns; spans_.pop_back()) closed(std::as_const(spans_.back()));
  }
  void close_until(std::int64_t time_ns) {
    close_until(time_ns, [](const Span&) {});
  }
  void clear() { spans_.clear(); }

  bool empty() const { return spans_.empty(); }
  const Value& innermost() const { return spans_.back().value; }
  // Outermost first.
  std::span<const Span> all() const { return spans_; }

 private:
  std::vector<Span> spans_;
};

}  // namespace mindtorch::trace
