// Whether a rewrite rule is at work. Its operands are variables of a graph, of which each has its dtype, rather than
// numbers that stand in a program.
#pragma once

namespace bitale {

// Of this thread: while a RuleScope lives.
bool is_in_rule();

}  // namespace bitale
