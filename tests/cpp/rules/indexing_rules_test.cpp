// Rules about indexing in combination: only the indexed elements are computed.
#include <doctest/doctest.h>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "rewriting/engine.hpp"

using namespace bitale;

namespace {

using Axis = std::vector<int>;

std::string after(const Variable& expression) {
  return rewriting::expression_text(rewrite_graph(expression, {"fast_run"}), 30);
}

// Whether every Subtensor indexes the leaf directly after rewriting.
bool indexes_only(const Variable& leaf, const Variable& expression) {
  for (auto& node : toposort(Variables{rewrite_graph(expression, {"fast_run"})}))
    if (node.op().name() == "Subtensor" && !node.input(0).same_as(leaf)) return false;
  return true;
}

}  // namespace

TEST_CASE("indexing is moved to the inputs") {
  const Variable x = dmatrix("x"), y = dvector("y");
  CHECK(indexes_only(x, subtensor(softmax(x, Axis{1}), {IndexItem(1)})));
  CHECK(indexes_only(x, subtensor(log_softmax(x, Axis{1}), {IndexItem(1)})));
  CHECK(indexes_only(x, subtensor(exp(transpose(x)) * 2, {Slice{1, {}, {}}, IndexItem(0)})));
  CHECK(indexes_only(x, subtensor(sum(sqr(x), Axis{1}), {IndexItem(2)})));
  CHECK_FALSE(indexes_only(x, subtensor(softmax(x, Axis{1}), {Slice{}, IndexItem(1)})));  // depends on all columns
}

TEST_CASE("nested slices are merged") {
  const Variable x = dvector("x"), i = lscalar("i");
  CHECK(after(subtensor(subtensor(x, {Slice{1, {}, {}}}), {Slice{{}, -1, {}}})) ==
        after(subtensor(x, {Slice{1, -1, {}}})));
  CHECK(after(subtensor(subtensor(x, {Slice{2, {}, 3}}), {IndexItem(4)})) == after(subtensor(x, {IndexItem(14)})));
  CHECK(after(subtensor(subtensor(x, {Slice{{}, {}, -1}}), {IndexItem(0)})) == after(subtensor(x, {IndexItem(-1)})));
  CHECK(after(subtensor(subtensor(x, {Slice{{}, {}, -1}}), {Slice{{}, {}, -1}})) == "x");
  // If a sign is unknown, or a bound may lie beyond the vector, no single slice is equivalent.
  CHECK(after(subtensor(subtensor(x, {Slice{-5, {}, {}}}), {Slice{1, {}, {}}})) !=
        after(subtensor(x, {Slice{-4, {}, {}}})));
  CHECK(after(subtensor(subtensor(x, {Slice{i, {}, {}}}), {IndexItem(1)})) != after(subtensor(x, {IndexItem(i + 1)})));
}

TEST_CASE("gradients of indexing accumulate in one array") {
  const Variable x = dvector("x");
  const Variable cost = sqr(subtensor(x, {IndexItem(0)})) + subtensor(x, {IndexItem(1)});
  const Variable g = rewrite_graph(grad(cost, x), {"fast_run"});
  int updates = 0, sums = 0;
  for (auto& node : toposort(Variables{g})) {
    updates += node.op().name() == "IncSubtensor";
    sums += node.op().name() == "Elemwise" && node.output().ndim() == 1;
  }
  CHECK(updates == 2);
  CHECK(sums == 0);
}

TEST_CASE("gradients of parts of a vector are stored, and added only where parts may overlap") {
  const Variable q = dvector("q");
  const auto count_of = [&](const Variable& cost, std::string_view label) {
    int found = 0;
    for (auto& node : toposort(Variables{rewrite_graph(grad(cost, q), {"fast_run"})}))
      found += node.op().label().starts_with(label);
    return found;
  };
  const auto head = subtensor(q, {IndexItem(0)}), next = subtensor(q, {IndexItem(1)});
  const auto last = subtensor(q, {IndexItem(-1)});
  const auto rest = subtensor(q, {Slice{2, {}, {}}}), tail = subtensor(q, {Slice{1, {}, {}}});
  const Variable parts = sin(head) * exp(next) + sum(cos(rest));
  CHECK(count_of(parts, "IncSubtensor") == 0);
  CHECK(count_of(parts, "SetSubtensor") == 3);
  CHECK(count_of(sin(head) + cos(last), "IncSubtensor") == 1);
  CHECK(count_of(sin(next) + sum(cos(tail)), "IncSubtensor") == 1);
}

TEST_CASE("reads of writes and joins of slices are simplified") {
  const Variable x = dvector("x"), s = dscalar("s"), n = lscalar("n");
  const Variable y = tensor("y", DType::Float64, {4});
  CHECK(after(subtensor(set_subtensor(y, {IndexItem(2)}, s), {IndexItem(2)})) == "s");
  CHECK(after(subtensor(set_subtensor(y, {IndexItem(2)}, s), {IndexItem(0)})) == after(subtensor(y, {IndexItem(0)})));
  // An index that may be out of range is still checked.
  CHECK(after(subtensor(set_subtensor(x, {IndexItem(2)}, s), {IndexItem(2)})) != "s");
  CHECK(after(join(0, {subtensor(x, {Slice{{}, n, {}}}), subtensor(x, {Slice{n, {}, {}}})})) == "x");
  CHECK(after(subtensor(x, {IndexItem(arange(shape_i(x, 0)))})) == "x");
}

TEST_CASE("only gathered rows are multiplied") {
  const Variable w = tensor("w", DType::Float64, {50, 6}), b = tensor("b", DType::Float64, {6, 12});
  const Variable t = tensor("t", DType::Float64, {4, 6, 12}), u = tensor("u", DType::Float64, {50, 4});
  const auto rows = [](std::vector<std::int64_t> positions) { return constant(Array(positions)); };
  // The largest number of rows of a product's result.
  const auto multiplied = [](const Variables& outputs) {
    std::int64_t most = 0;
    for (auto& node : toposort(rewrite_graph(outputs, {"fast_run"}))) {
      const std::string name(node.op().name());
      if (name != "Dot" && name != "BatchedDot") continue;
      for (auto length : node.output().static_shape()) most = std::max(most, length);
    }
    return most;
  };
  const Variable some = rows({3, 3, 49, 0}), others = rows({7, 8, 9}), product = dot(w, b);
  CHECK(multiplied({take(product, some)}) == 12);  // a position twice, too
  CHECK(multiplied({take(exp(product) + 1., some)}) == 12);
  CHECK(multiplied({take(reshape(product, {50, 3, 4}), some)}) == 12);
  CHECK(multiplied({take(matmul(w, t), some, 1)}) == 12);
  CHECK(multiplied({take(sum(reshape(product, {50, 3, 4}), std::vector<int>{2}), some)}) == 50);  // no way through sums
  const Variable placed = squeeze(matmul(reshape(product, {50, 3, 4}), expand_dims(u, 2)), {{2}});
  CHECK(multiplied({take(placed, some)}) == 12);
  CHECK(multiplied({take(placed, some), take(placed, others)}) == 12);               // all that is needed
  CHECK(multiplied({take(product, some), sum(product)}) == 50);                      // all rows are needed
  CHECK(multiplied({take(product, rows(std::vector<std::int64_t>(60, 1)))}) == 50);  // more rows than there are
}
