// explain and dprint(provenance): each node has the rules that made it and the source location of the expression it
// came from.
#include <doctest/doctest.h>

#include "bitale/compile/function.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/printing/printing.hpp"
#include "bitale/rewriting/rewriting.hpp"

using namespace bitale;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a chain of rules grows without repetition and up to a limit") {
  CHECK(chain_rules(nullptr, nullptr) == nullptr);
  CHECK(std::string(chain_rules(nullptr, "a")) == "a");
  CHECK(std::string(chain_rules("a", nullptr)) == "a");
  const char* both = chain_rules("a", "b");
  CHECK(std::string(both) == "a, then b");
  CHECK(chain_rules("a", "b") == both);
  CHECK(std::string(chain_rules(both, "a")) == "a, then b");
  const char* chain = "r0";
  for (const char* rule : {"r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"}) chain = chain_rules(chain, rule);
  const auto names = rules_of({{}, chain});
  REQUIRE(names.size() == 8);
  CHECK(names.front() == "r2");
  CHECK(names.back() == "r9");
}

TEST_CASE("a node that is replaced again keeps the earlier rules") {
  const Variable x = vector("x");
  const Variable first = exp(x), second = tanh(x), third = sin(x);
  FunctionGraph graph({x}, {first}, Clone::No);
  {
    const RuleScope rule("one");
    CHECK(graph.replace(first, cosh(x), "one"));
  }
  {
    const RuleScope rule("two");
    CHECK(graph.replace(graph.outputs()[0], sinh(x), "two"));
  }
  const Provenance& provenance = graph.outputs()[0].owner().provenance();
  CHECK(rules_of(provenance) == std::vector<std::string>{"one", "two"});
  CHECK(has(provenance.where.str(), "explain_test.cpp"));
  CHECK(has(provenance_text(provenance), "one, then two; "));
}

TEST_CASE("a function explains its nodes") {
  const Variable x = vector("x"), y = vector("y");
  const Function f = function({x, y}, log(1 + x) * tanh(y));
  const std::string text = f.explain();
  CHECK(has(text, "log1p"));
  CHECK(has(text, "rules: none, it is as written"));
  CHECK(has(text, "explain_test.cpp"));
  CHECK(has(f.dprint("graph", Function::Provenance::Yes), "{log1p; "));
  CHECK_FALSE(has(f.dprint(), "{log1p; "));
  CHECK(has(dprint(f.graph(), {.provenance = true}), "{log1p; "));
  CHECK_FALSE(has(dprint(f.graph()), "{"));
  CHECK(f.rewrite_report().hits("log1p") == 1);
  CHECK(f.rewrite_report().nodes_before > f.rewrite_report().nodes_after);
}
