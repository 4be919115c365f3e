// The kinds of records that a vendor's library lets a source enable, as texts for ActivitySource::diagnose().
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mindtorch::sources {

class TriedKinds {
 public:
  // `refusal` says why the library did not enable the kind; it is empty if it did.
  void add(std::string_view name, std::string_view refusal) {
    if (refusal.empty())
      append(enabled_, name, "");
    else
      append(refused_, name, refusal);
  }
  // "kinds that can be enabled", and "kinds that are refused" if there are any.
  std::vector<std::pair<std::string, std::string>> facts() const {
    std::vector<std::pair<std::string, std::string>> facts = {{"kinds that can be enabled", enabled_.empty() ? "none" : enabled_}};
    if (!refused_.empty()) facts.emplace_back("kinds that are refused", refused_);
    return facts;
  }

 private:
  static void append(std::string& list, std::string_view name, std::string_view refusal) {
    if (!list.empty()) list += ", ";
    list += name;
    if (!refusal.empty()) list.append(": ").append(refusal);
  }

  std::string enabled_;
  std::string refused_;
};

}  // namespace mindtorch::sources
