// Rows by group: where nobody sees the order of the rows, they are sorted by constant index vectors, and all values
// stay what they are; elsewhere they are left alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

constexpr std::int64_t rows = 60;

Array numbers(const Dims& shape, unsigned seed) {
  std::minstd_rand draw(seed);
  Array out = Array::empty(DType::Float64, shape);
  std::generate_n(out.mutable_data_as<double>(), out.size(), [&] { return double(draw() % 2000) / 1000 - 1; });
  return out;
}
Variable groups(std::int64_t count, unsigned seed) {
  std::minstd_rand draw(seed);
  std::vector<std::int64_t> out(std::size_t(rows), 0);
  std::ranges::generate(out, [&] { return std::int64_t(draw()) % count; });
  return constant(Array(out));
}
Variable gathered(const Variable& x, const Variable& index) { return subtensor(x, {IndexItem(index)}); }

// Whether all constant index vectors are sorted by the first.
bool has_sorted_index(const FunctionGraph& graph) {
  for (const Apply& node : graph.toposort())
    for (const Variable& v : node.inputs())
      if (v.is_constant() && v.dtype() == DType::Int64 && v.static_shape() == Dims{rows}) {
        const std::span<const std::int64_t> values = v.constant()->span_as<std::int64_t>();
        if (std::ranges::is_sorted(values)) return true;
      }
  return false;
}

struct Parts {
  Variable a = tensor("a", DType::Float64, {8}), b = tensor("b", DType::Float64, {5}),
           c = tensor("c", DType::Float64, {30}), wide = tensor("wide", DType::Float64, {800}),
           m = tensor("m", DType::Float64, {8, 3}), w = tensor("w", DType::Float64, {4}),
           y_in = tensor("y", DType::Float64, {rows}), s = scalar("s");
  Variable g = groups(8, 1), h = groups(5, 2), y = constant(numbers({rows}, 3)), x = constant(numbers({rows, 4}, 4)),
           x3 = constant(numbers({rows, 3}, 5));
  Variables inputs() const { return {a, b, c, wide, m, w, y_in, s}; }
};

// Whether the pass sorted the rows. All values stay the same.
bool is_sorted_in(const Parts& parts, const Variables& outputs) {
  std::vector<Array> values;
  for (const Variable& input : parts.inputs())
    values.push_back(numbers(input.static_shape(), unsigned(7 + values.size())));
  const std::vector<Array> expected = evaluate(outputs, parts.inputs(), values);
  FunctionGraph graph(parts.inputs(), outputs);
  rewrite(graph, query_of("fast_run"));
  graph.check_integrity();
  const std::vector<Array> found = evaluate(graph.outputs(), graph.inputs(), values);
  for (std::size_t k = 0; k < found.size(); ++k) CHECK(allclose(found[k], expected[k], 1e-12, 1e-12));
  return has_sorted_index(graph);
}
bool is_sorted_in(const Parts& parts, const Variable& cost, bool with_gradient = true) {
  Variables outputs{cost};
  if (with_gradient)
    for (const Variable& v : parts.inputs())
      if (depends_on(cost, {&v, 1})) outputs.push_back(grad(cost, v));
  return is_sorted_in(parts, outputs);
}

}  // namespace

TEST_CASE("rows are sorted where only reductions read them") {
  const Parts p;
  const Variable of_a = gathered(p.a, p.g), of_b = gathered(p.b, p.h);
  SUBCASE("a sum") { CHECK(is_sorted_in(p, sum(sqr(of_a * p.s - p.y)))); }
  SUBCASE("crossing groups") { CHECK(is_sorted_in(p, sum(sqr(of_a + of_b * p.y)))); }
  SUBCASE("a product of matrices before and behind") { CHECK(is_sorted_in(p, sum(softplus(of_a + dot(p.x, p.w))))); }
  SUBCASE("rows of a matrix") {
    CHECK(is_sorted_in(p, sum(exp(sum(gathered(p.m, p.g) * p.x3, std::vector<int>{1}) - of_b))));
  }
  SUBCASE("rows along another axis") {
    const Variable columns = subtensor(transpose(p.m), {IndexItem(Slice{}), IndexItem(p.g)});  // (3, rows)
    CHECK(is_sorted_in(p, sum(tanh(columns * transpose(p.x3) + of_b))));
  }
  SUBCASE("groups far apart") {
    const Variable far = constant(p.g.constant()->astype(DType::Float64));
    CHECK(is_sorted_in(p, sum(sqr(gathered(p.wide, cast(far * 100, DType::Int64)) - p.y))));
  }
  SUBCASE("the largest of all") { CHECK(is_sorted_in(p, max(of_a * p.y), false)); }
  SUBCASE("sums by group") {
    CHECK(is_sorted_in(p, {inc_subtensor(p.b, {IndexItem(p.h)}, exp(of_a)), dot(transpose(p.x), of_a)}));
  }
  SUBCASE("two sets of rows") { CHECK(is_sorted_in(p, sum(exp(of_a)) + prod(gathered(p.b, groups(5, 11))))); }
}

TEST_CASE("rows whose order is visible stay as they are") {
  const Parts p;
  const Variable of_a = gathered(p.a, p.g), e = exp(of_a * p.y);
  SUBCASE("an output") { CHECK(!is_sorted_in(p, {e, sum(e)})); }
  SUBCASE("numbers of each call") { CHECK(!is_sorted_in(p, sum(exp(of_a * p.y_in)))); }
  SUBCASE("a single row") { CHECK(!is_sorted_in(p, sum(e) + subtensor(e, {IndexItem(3)}), false)); }
  SUBCASE("where the largest is") { CHECK(!is_sorted_in(p, {argmax(e), sum(e)})); }
  SUBCASE("running sums") { CHECK(!is_sorted_in(p, sum(sqr(cumsum(e, 0))), false)); }
  SUBCASE("the last of several values is kept") {
    CHECK(!is_sorted_in(p, {set_subtensor(p.b, {IndexItem(p.h)}, e), sum(e)}));
  }
  SUBCASE("rows of a matrix against each other") {
    CHECK(!is_sorted_in(p, sum(sqr(expand_dims(e, 0) - expand_dims(e, 1))), false));
  }
  SUBCASE("few rows of each group") { CHECK(!is_sorted_in(p, sum(exp(gathered(p.c, groups(30, 1)))))); }
}
