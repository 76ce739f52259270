// The contents of a node's provenance: the chain of rules that created it, oldest first, and the user's line. When the
// result of a rule is replaced again, the new node's chain continues the old one's.
#pragma once

#include <string>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The names of the rules, oldest first; for a long chain the last eight. Empty for a node as the user wrote it.
std::vector<std::string> rules_of(const Provenance& provenance);
// "pow_two, then sqr_of_sqr; model.py:3, in `f`"; "" when nothing is known.
std::string provenance_text(const Provenance& provenance);

// An interned copy of the name, to which nodes may refer: it lives as long as the process.
const char* interned_rule(const std::string& name);
// The chain `earlier` continued with `rule`, in the form of Provenance::rule; either may be null. A rule that is in the
// chain already is not added again.
const char* chain_rules(const char* earlier, const char* rule);

}  // namespace bitale
