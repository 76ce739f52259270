// Validation of a graph by its features, and by user-supplied checks.
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"

namespace bitale {

void validate(FunctionGraph& graph) {
  for (auto& feature : graph.features()) {
    try {
      feature->on_validate(graph);
    } catch (Error& error) {
      error.add("feature", feature->name());
      throw;
    }
  }
}

bool is_consistent(FunctionGraph& graph) {
  try {
    validate(graph);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Validator::add(std::string check_name, Check check) {
  for (auto& [known, other] : checks_)
    if (known == check_name) throw ValueError(cat("validator: there is a check `", check_name, "` already"));
  checks_.emplace_back(std::move(check_name), std::move(check));
}

void Validator::on_validate(FunctionGraph& graph) {
  for (auto& [name, check] : checks_) {
    try {
      check(graph);
    } catch (Error& error) {
      error.add("check", name);
      throw;
    }
  }
}

}  // namespace bitale
