// Applies the rules of a phase until a fixed point. Each replacement is a transaction of the FunctionGraph; new nodes
// carry the rule's name and the user's line of the node that they replace.
#pragma once

#include "rewriting/database.hpp"

namespace bitale::rewriting {

// The settings of one call of rewrite().
struct Session {
  explicit Session(RewriteReport& report);
  RewriteReport& report;
  bool verbose;
  std::string silenced;  // rules not printed in verbose mode: ",a,b,"
  bool is_silenced(std::string_view rule) const;
  std::string on_error;  // config.on_opt_error
  double max_use_ratio;
};

void run(const Stage& stage, FunctionGraph& graph, Session& session);

// A short text of an expression, a few levels deep.
std::string expression_text(const Variable& expression, int levels = 4);

}  // namespace bitale::rewriting
