// What a node's provenance says: the chain of rules that made it, oldest first, and the user's line. When what a rule
// made is replaced again, the new node's chain goes on from the old one's.
#pragma once

#include <string>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The names of the rules, oldest first: of a long chain the last eight. Empty for a node as the user wrote it.
std::vector<std::string> rules_of(const Provenance& provenance);
// "pow_two, then sqr_of_sqr; model.py:3, in `f`"; "" when nothing is known.
std::string provenance_text(const Provenance& provenance);

// The name as nodes may refer to it: a copy that lives as long as the process.
const char* interned_rule(const std::string& name);
// The chain that goes on from `earlier` with `rule`, as Provenance::rule has it; either may be null. A rule that is in
// the chain already is not added again.
const char* chain_rules(const char* earlier, const char* rule);

}  // namespace bitale
