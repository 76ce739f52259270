// Rewriters written in Python as the engine calls them, and rules as Python holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"
#include "held.hpp"

namespace bitale::python {

// A function of a FunctionGraph, which may change it during the call.
struct PythonPass {
  Held function;
  void operator()(FunctionGraph& graph) const;
};

// What a node rewriter does with a node. `rewriter` is the object that Python knows it by.
struct PythonChange {
  Held rewriter, function;
  std::optional<rewriting::Change> operator()(FunctionGraph& graph, const Apply& node) const;
};

// A rule as Python holds it. It can be declared more than once, with other tags each time, unless it is one that
// exists.
struct RuleObject {
  std::string name, doc;
  std::vector<std::string> tags;
  std::function<rewriting::Rule&(rewriting::Rules&)> declare;  // empty for one that exists
  mutable std::shared_ptr<const rewriting::Rule> known;        // once it was asked for

  static RuleObject of(std::shared_ptr<const rewriting::Rule> rule);
  rewriting::Rule& declare_with(rewriting::Rules& rules, const std::vector<std::string>& more) const;
  const std::shared_ptr<const rewriting::Rule>& rule() const;
};

// The Python object of a rule: the node rewriter that it was made of, or a RuleObject.
nb::object rewriter_of(const std::shared_ptr<const rewriting::Rule>& rule);
// The rule of a RuleObject, or of a node rewriter written in Python, to which it gives this name. TypeError for
// anything else.
std::shared_ptr<const rewriting::Rule> rule_of(nb::handle rewriter, const std::optional<std::string>& name);
// From a pair of a rule, node rewriter or function of a graph, and its position.
ExtraRewrite extra_rewrite_of(nb::handle pair);

}  // namespace bitale::python
