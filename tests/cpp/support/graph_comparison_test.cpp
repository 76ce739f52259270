// Tests of the comparison of random graphs: exact matrices by rewriting explain discrete results that depend on them,
// and deliberately wrong rules explain nothing.
#include "support/graph_comparison.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"
#include "rules/matrices.hpp"
#include "support/registry_graphs.hpp"

using namespace bitale;
using rewriting::Root;
using rewriting::Rules;
using test::Case;

namespace {

// Rules for solve(a, a), which is the identity.
void register_planted_rules() {
  static const bool once = [] {
    const auto becomes = [](auto&& value_of) {
      return [value_of](FunctionGraph&, const Apply& node) -> std::optional<Variables> {
        const auto system = rewriting::as_system(node.output());
        if (!system || !system->a.same_as(system->b)) return std::nullopt;
        return rewriting::fitted(node, Variables{value_of(eye(shape_i(system->a, 0)), system->a)});
      };
    };
    rewriting::register_rules([&](Rules& rules) {
      const auto plant = [&](const char* name, auto&& value_of) {
        rules.function(name, Root::op({"Solve", "Blockwise"}), becomes(value_of))
            .tags(rewriting::specialize, rewriting::opt_in);
      };
      plant("test_own_system", [](const Variable& identity, const Variable&) { return identity; });
      plant("test_wrong_factor", [](const Variable& identity, const Variable&) { return identity * 2.0; });
      plant("test_slightly_wrong", [](const Variable& identity, const Variable&) { return identity * (1 + 1e-6); });
      plant("test_wrong_rows", [](const Variable& identity, const Variable&) { return flip(identity, Axes{{0}}); });
      plant("test_wrong_element",
            [](const Variable& identity, const Variable& a) { return switch_(eq(a, min(a)), 1e-5, identity); });
    });
    return true;
  }();
  (void)once;
}

// The reported difference when the graph is computed with one planted rule.
test::Run by_rule(const std::string& rule) {
  return [rule](const Case& each) { return evaluate(rewrite_graph(each.outputs, {rule}), each.inputs, each.values); };
}
std::string difference_by(const std::string& rule, const Case& graph) {
  return test::difference(graph, by_rule(rule), test::reference(graph).results);
}

// A matrix for which most elements of solve(a, a) have rounding errors.
Array rounded_matrix() {
  Array value = Array::empty(DType::Float64, {4, 4});
  for (int k = 0; k < 16; ++k) value.mutable_data_as<double>()[k] = std::sin(1.7 * k * k + 0.3);
  return value;
}

}  // namespace

TEST_CASE("the comparison accepts discrete results that depend on an exact matrix") {
  register_planted_rules();
  const Variable a = matrix("a"), s = solve(a, a);
  for (const Variable& reader :
       {cast(all(eq(s, eye(4))), DType::Int64), exp(cast(prod(sum(eq(s, 0.0), Axes{{0}})), DType::Float64))}) {
    const Case graph{{a}, {reader}, {rounded_matrix()}};
    CHECK_MESSAGE(difference_by("test_own_system", graph).empty(), test::describe(graph));
    // Perturbation of each node alone does not explain it.
    const std::vector<Array> got = by_rule("test_own_system")(graph);
    CHECK_FALSE(test::difference(graph, got, test::reference(graph).results).empty());
  }
}

TEST_CASE("the comparison detects a wrong rule through discrete results") {
  register_planted_rules();
  for (const char* rule : {"test_wrong_factor", "test_slightly_wrong", "test_wrong_rows", "test_wrong_element"}) {
    CAPTURE(rule);
    const Variable a = matrix("a");
    const Array value = rounded_matrix();
    const Variable s = solve(a, a);
    CHECK_FALSE(difference_by(rule, {{a}, {s}, {value}}).empty());
    CHECK_FALSE(difference_by(rule, {{a}, {sum(exp(s)), s}, {value}}).empty());
    // Far from a discontinuity rounding has no effect, and rules whose error reaches it are detected.
    if (std::string_view(rule) == "test_wrong_factor" || std::string_view(rule) == "test_wrong_rows")
      CHECK_FALSE(difference_by(rule, {{a}, {gt(s, 0.5), gt(s, 1.5)}, {value}}).empty());
  }
}

TEST_CASE("the comparison accepts errors that rounding explains, and no others") {
  register_planted_rules();
  const Variable a = matrix("a"), x = vector("x");
  const Array value = rounded_matrix();
  const auto refuses_unless = [](const Variable& condition, const Variable& y) {
    return check_and_raise(y, {condition}, "ValueError", "refused");
  };
  // The deviations from the identity sum to 0 for the exact identity.
  const Variable off = solve(a, a) - eye(4);
  const Case by_rounding{{a, x}, {refuses_unless(gt(sum(abs(off)), 0.0), x)}, {value, Array{1., 2.}}};
  CHECK(difference_by("test_own_system", by_rounding).empty());
  CHECK_FALSE(
      difference_by("test_wrong_factor", {{a, x}, {refuses_unless(lt(sum(abs(off)), 0.1), x)}, by_rounding.values})
          .empty());
}

TEST_CASE("the comparison accepts any quotient by what rounding left of a zero") {
  const Variable x = scalar("x");
  const Array value = Array(1.4);
  const auto accepts = [&](const Variable& denominator) {
    const Case graph{{x}, {1.0 / denominator}, {value}};
    return test::difference(graph, std::vector<Array>{Array(1e5)}, test::reference(graph).results).empty();
  };
  const Variable zero = sqr(sin(x)) + sqr(cos(x)) - 1.0;
  CHECK(accepts(zero));
  CHECK_FALSE(accepts(zero + 1e-3));
  // Nor is it known that there is a value.
  const auto accepts_an_error = [&](const Variable& denominator) {
    const Case graph{{x}, {gt(1.0 / denominator, 0.0)}, {value}};
    const auto fails = [](const Case&) -> std::vector<Array> { throw LinAlgError("singular"); };
    return test::difference(graph, fails, test::reference(graph).results).empty();
  };
  CHECK(accepts_an_error(zero));
  CHECK_FALSE(accepts_an_error(zero + 1e-3));
}

// An intermediate value that is wrong by a thousandth, in all runs of the graph alike.
TEST_CASE("the comparison detects wrong intermediate values of random graphs") {
  int wrong = 0, found = 0, by_rounding = 0;
  for (std::int64_t seed = 1; seed <= 150; ++seed) {
    const Case graph = test::registry_graph(std::uint64_t(seed), 8);
    Variables inner;
    for (auto& node : toposort(graph.outputs))
      for (auto& output : node.outputs())
        if (as_tensor(output.type()) && is_float(output.dtype())) inner.push_back(output);
    if (inner.empty()) continue;
    const Variable victim = inner[std::size_t(seed) % inner.size()];
    const Variable moved = cast(victim * 1.001 + 1e-3, victim.dtype());
    const test::Run run = [&](const Case& each) {
      return evaluate(clone_replace(each.outputs, {{victim, moved}}), each.inputs, each.values);
    };
    try {
      const auto [expected, is_finite] = test::reference(graph);
      const std::vector<Array> got = run(graph);
      bool differs = false;
      for (std::size_t k = 0; k < got.size(); ++k) differs |= !identical(got[k], expected[k]);
      if (!differs || !is_finite) continue;
      ++wrong;
      found += !test::difference(graph, run, expected).empty();
      by_rounding += !test::difference(graph, got, expected).empty();
    } catch (const Error&) {
      // A later node refuses the wrong value.
    }
  }
  CHECK(wrong > 50);
  CHECK_MESSAGE(found * 100 >= wrong * 80, found << " of " << wrong);  // rounding may explain the rest
  // Next to a jump (mod(a, a)) rounding may explain any value of a run.
  CHECK(found <= by_rounding);
  CHECK(found + 1 >= by_rounding);
}
