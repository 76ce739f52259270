// What ops declare about which elements of their inputs an element of an output depends on, compared with what changes
// when an element of an input does; and patterns of Jacobians that are found from graphs.
#include "autodiff/dependencies.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bitale/autodiff/sparse.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/sparse/functions.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

bool is_real_float(const Variable& v) { return as_tensor(v.type()) && is_float(v.dtype()) && !is_complex(v.dtype()); }

// Whether an input of the node that is not connected to the output may depend on the leaf.
bool has_other_path(const Apply& node, int output, const Variable& leaf) {
  const auto pattern = node.op().connection_pattern(node);
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    if (!pattern[i][std::size_t(output)] && std::ranges::any_of(graph_inputs(Variables{node.inputs()[i]}),
                                                                [&](const Variable& v) { return v.same_as(leaf); }))
      return true;
  return false;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The first element that changes with one that it is declared not to depend on, or an empty text.
std::string violation(const Sample& sample, int output, const Variable& leaf, const Array& at) {
  const Variables leaves = graph_inputs(sample.node.inputs());
  const Variable x(tensor_type(leaf.dtype(), at.shape()), "x");
  Replacements fixed;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    if (leaves[k].same_as(leaf))
      fixed.push_back({leaf, x});
    else if (as_tensor(leaves[k].type()))
      fixed.push_back({leaves[k], constant(sample.values[k])});
    else
      return {};
  }
  const Variable result = clone_replace(Variables{sample.node.output(output)}, fixed)[0];
  const ElementDependencies found = dependencies_of(result, x, {});
  const auto value = [&](const Array& given) {
    return evaluate(result, Variables{x}, std::vector<Array>{given}).astype(DType::Float64).contiguous();
  };
  const Array before = value(at);
  for (std::int64_t j = 0; j < at.size(); ++j) {
    Array moved = at.copy().astype(DType::Float64).contiguous();
    moved.mutable_data_as<double>()[j] += 0.01;
    Array after;
    try {
      after = value(moved.astype(leaf.dtype()));
    } catch (const Error&) {
      continue;  // outside the domain
    }
    if (after.size() != before.size()) return {};
    for (std::int64_t i = 0; i < before.size(); ++i) {
      if (same(before.data_as<double>()[i], after.data_as<double>()[i])) continue;
      const auto set = found.of_expression ? found.of_expression->data_as<std::int64_t>()[i] : ElementSets::none;
      if (!std::ranges::binary_search(found.sets.elements(set), j))
        return cat("element ", i, " of output ", output, " changes with element ", j);
    }
  }
  return {};
}

std::vector<std::vector<std::int64_t>> rows_of(const sparse::Pattern& pattern) {
  const sparse::Elements elements = elements_of(pattern, "test");
  std::vector<std::vector<std::int64_t>> out(std::size_t(elements.lengths[0]));
  for (std::size_t k = 0; k < elements.rows.size(); ++k)
    out[std::size_t(elements.rows[k])].push_back(elements.columns[k]);
  return out;
}

}  // namespace

TEST_CASE("elements change only with elements on which they are declared to depend") {
  int checked = 0;
  for (auto& entry : op_registry()) {
    for (const Sample& sample : entry.samples()) {
      const Variables leaves = graph_inputs(sample.node.inputs());
      INFO(cat(entry.name, " ", sample.node.op().label(), " ", sample.note));
      for (int output = 0; output < int(sample.node.output_count()); ++output) {
        if (!is_real_float(sample.node.output(output))) continue;
        for (std::size_t k = 0; k < leaves.size(); ++k) {
          if (!is_real_float(leaves[k]) || has_other_path(sample.node, output, leaves[k])) continue;
          try {
            CHECK(violation(sample, output, leaves[k], sample.values[k]) == "");
            ++checked;
          } catch (const NotImplementedError&) {
            // The length of the result depends on values.
          }
        }
      }
    }
  }
  CHECK(checked > 500);
}

TEST_CASE("sets are stored once") {
  ElementSets sets;
  const auto a = sets.single(3), b = sets.single(1), c = sets.single(2);
  CHECK(sets.single(3) == a);
  CHECK(sets.united(a, b) == sets.united(b, a));
  CHECK(sets.united(sets.united(a, b), c) == sets.united(a, sets.united(b, c)));
  CHECK(sets.united(std::vector{a, ElementSets::none, b, c, a}) == sets.united(sets.united(a, b), c));
  CHECK(sets.united(a, ElementSets::none) == a);
  CHECK(sets.united(std::vector<ElementSets::Set>{}) == ElementSets::none);
  const auto all = sets.elements(sets.united(std::vector{a, b, c}));
  CHECK(std::vector(all.begin(), all.end()) == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("patterns of a chain's Hessian and of its gradient") {
  const Variable x(tensor_type(DType::Float64, Dims{std::int64_t(5)}), "x");
  const Variable before = subtensor(x, {Slice{{}, Operand(-1), {}}}), after = subtensor(x, {Slice{Operand(1), {}, {}}});
  const Variable cost = sum(sqr(after - sqr(before))) + sum(exp(before * 0.5));
  CHECK(rows_of(hessian_pattern(cost, x)) ==
        std::vector<std::vector<std::int64_t>>{{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4}});
  const sparse::Matrix found = sparse_hessian(cost, x);
  const Function f = function({x}, {to_dense(found), hessian(cost, x)});
  const Results both = f({Array{0.1, -0.4, 0.9, 1.3, -0.7}});
  CHECK(allclose(both[0], both[1], 1e-12, 1e-12));
}

TEST_CASE("a chain of a hundred thousand nodes has a pattern") {
  const Variable x(tensor_type(DType::Float64, Dims{std::int64_t(2)}), "x");
  Variable y = x;
  for (int k = 0; k < 100000; ++k) y = y + 1.0;
  CHECK(rows_of(jacobian_pattern(y, x)) == std::vector<std::vector<std::int64_t>>{{0}, {1}});
}

TEST_CASE("unknown lengths are refused by name") {
  const Variable x = vector("x");
  CHECK_THROWS_WITH_AS(jacobian_pattern(sqr(x), x), doctest::Contains("not known statically"), NotImplementedError);
}
