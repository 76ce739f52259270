// Replacements with conditions on the resulting graph.
#include <cstdio>

#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"

namespace bitale {

namespace {

// Refuses a change after which one of the nodes is still in the graph.
class RemovalCheck final : public Feature {
 public:
  explicit RemovalCheck(std::span<const Apply> nodes) : nodes_(nodes) {}
  std::string name() const override { return "replace_all_validate_remove"; }
  void on_validate(FunctionGraph& graph) override {
    for (auto& node : nodes_)
      if (graph.contains(node))
        throw ReplacementDidNotRemoveError(
            cat("the replacement did not remove ", node.op().label(), ": something still uses it"));
  }

 private:
  std::span<const Apply> nodes_;
};

class Attached {
 public:
  Attached(FunctionGraph& graph, std::shared_ptr<Feature> feature) : graph_(graph), feature_(std::move(feature)) {
    graph_.attach(feature_);
  }
  ~Attached() { graph_.detach(*feature_); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  FunctionGraph& graph_;
  std::shared_ptr<Feature> feature_;
};

}  // namespace

bool replace_validate(FunctionGraph& graph, const Variable& before, const Variable& after, std::string_view reason,
                      Verbose verbose) {
  const std::pair<Variable, Variable> pair(before, after);
  return replace_all_validate(graph, {&pair, 1}, reason, verbose);
}

bool replace_all_validate(FunctionGraph& graph, std::span<const std::pair<Variable, Variable>> pairs,
                          std::string_view reason, Verbose verbose) {
  std::string text;  // formatted before the replacement changes the nodes
  if (verbose == Verbose::Yes)
    for (auto& [before, after] : pairs)
      if (before.defined() && after.defined())
        text += cat("rewriting: `", reason, "` replaces ", before.str(), " of type ", before.type()->str(), " with ",
                    after.str(), "\n");
  const bool changed = graph.replace_all(pairs, reason);
  if (changed) std::fputs(text.c_str(), stderr);
  return changed;
}

bool replace_all_validate_remove(FunctionGraph& graph, std::span<const std::pair<Variable, Variable>> pairs,
                                 std::span<const Apply> remove, std::string_view reason, Verbose verbose) {
  const Attached condition(graph, std::make_shared<RemovalCheck>(remove));
  return replace_all_validate(graph, pairs, reason, verbose);
}

}  // namespace bitale
