// Applies the rules of a phase until a fixed point, or once in a given order. Each replacement is a transaction of the
// FunctionGraph; new nodes carry the rule's name and the user's line of the node that they replace.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewriting/stage.hpp"

namespace bitale::rewriting {

// A rule that has raised, or whose change (null if it made none) the graph has refused.
struct Failure {
  std::exception_ptr error;
  const Rule& rule;
  const Apply& node;
  const Change* change;
};

// The settings of one call of rewrite().
struct Session {
  explicit Session(RewriteReport& report);
  RewriteReport& report;
  bool verbose;
  std::string silenced;  // rules not printed in verbose mode: ",a,b,"
  bool is_silenced(std::string_view rule) const;
  std::string on_error;                                 // config.on_opt_error
  std::function<void(const Failure&)> on_failure = {};  // instead: may throw; when it returns, rewriting goes on
  std::optional<std::vector<Apply>> nodes = {};         // to walk over, instead of all nodes, each after those it reads
  double max_use_ratio;
};

void run(const Stage& stage, FunctionGraph& graph, Session& session);
// Tries the stage's rules on one node. Returns whether one of them has changed the graph.
bool try_at(const Stage& stage, FunctionGraph& graph, const Apply& node, Session& session);

// A short text of an expression, a few levels deep.
std::string expression_text(const Variable& expression, int levels = 4);

}  // namespace bitale::rewriting
