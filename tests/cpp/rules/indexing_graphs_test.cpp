// Random chains of indexing, also by masks, updates, views and repetitions: all rules together preserve the values of
// the graph as built. Lengths are known, unknown or 1, bounds positive, negative, beyond the end or symbolic.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/evaluate.hpp"
#include "rewriting/engine.hpp"
#include "support/seeds.hpp"
#include "support/shrink.hpp"

using namespace bitale;

namespace {

using Axis = std::vector<int>;

class Chain {
 public:
  explicit Chain(unsigned seed) : random_(seed) {
    number_ = input(DType::Float64, {}, {});
    for (int i = 0; i < 3; ++i) positions_.push_back(input(DType::Int64, {}, {}));
    x_ = leaf(below(3) + 1);
    for (int steps = below(6) + 2; steps > 0; --steps) step();
  }

  Variables inputs;
  std::vector<Array> values;
  const Variable& result() const { return x_; }

 private:
  int below(int n) { return int(random_() % unsigned(n)); }
  bool coin() { return below(2) == 0; }

  Variable input(DType dtype, const Dims& type, const Dims& shape) {
    const Variable out(tensor_type(dtype, type), "v" + std::to_string(inputs.size()));
    Array value = Array::empty(DType::Float64, shape);
    for (std::int64_t k = 0; k < value.size(); ++k)
      value.mutable_data_as<double>()[k] = dtype == DType::Int64 ? below(3) : double(below(1000)) / 250 - 2;
    inputs.push_back(out);
    values.push_back(value.astype(dtype));
    return out;
  }
  Variable leaf(int rank) {
    Dims type, shape;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t length = below(4) == 0 ? 1 : 3 + below(2);
      shape.push_back(length);
      type.push_back(length == 1 || coin() ? length : unknown_length);
    }
    return input(DType::Float64, type, shape);
  }
  // An input that can be combined elementwise with x.
  Variable like(const Variable& x) {
    const Array value = evaluate(x, inputs, values);
    Dims type, shape;
    for (int axis = 0; axis < x.ndim(); ++axis) {
      const bool repeats = below(4) == 0;
      shape.push_back(repeats ? 1 : value.shape(axis));
      type.push_back(repeats || x.static_shape()[std::size_t(axis)] == 1 || coin() ? shape.back() : unknown_length);
    }
    return input(DType::Float64, type, shape);
  }

  std::optional<Operand> bound() {
    switch (below(4)) {
      case 0: return Operand(below(9) - 4);
      case 1: return Operand(positions_[std::size_t(below(3))]);
      case 2: return Operand(below(3));
      default: return std::nullopt;
    }
  }
  Slice slice() {
    const int steps[] = {1, 2, -1, -2, 3};
    return Slice{bound(), bound(), below(3) == 0 ? std::optional<Operand>(steps[below(5)]) : std::nullopt};
  }
  IndexItem item(bool tensors) {
    switch (below(tensors ? 5 : 4)) {
      case 0: return IndexItem(below(4) - 2);
      case 1: return below(3) == 0 ? IndexItem(positions_[std::size_t(below(3))]) : IndexItem(slice());
      case 2: return IndexItem(slice());
      case 3: return IndexItem(Slice{});
      default: break;
    }
    switch (below(3)) {
      case 0: return IndexItem(constant(Array{std::int64_t(below(2)), std::int64_t(below(3))}));
      case 1: return IndexItem(constant(Array{0L, 1L, 2L}));
      default: return IndexItem(make_vector({positions_[0], positions_[1]}));
    }
  }
  // A mask over dimensions of x_ that depends on values or is constant.
  IndexItem mask(int first, int count) {
    Axis others;
    for (int axis = 0; axis < x_.ndim(); ++axis)
      if (axis < first || axis >= first + count) others.push_back(axis);
    const Variable bits = gt(others.empty() ? x_ : sum(x_, others), 0.0777);
    return below(3) ? IndexItem(bits) : IndexItem(constant(evaluate(bits, inputs, values)));
  }
  std::vector<IndexItem> index() {
    std::vector<IndexItem> out;
    int tensors = 1;
    for (int axis = 0, covered = below(x_.ndim()) + 1; axis < covered; ++axis) {
      if (tensors > 0 && below(6) == 0) {
        const int count = 1 + below(covered - axis);
        out.push_back(mask(axis, count));
        axis += count - 1;
        --tensors;
        continue;
      }
      out.push_back(item(tensors > 0));
      if (out.back().kind == IndexItem::Kind::Tensor) --tensors;
    }
    return out;
  }

  void step() {
    const int rank = x_.ndim();
    if (rank == 0) return void(x_ = x_ * number_);
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return void(x_ = subtensor(x_, index()));
      case 5: return void(x_ = coin() ? sin(x_) : x_ * 2);
      case 6: return void(x_ = x_ + like(x_));
      case 7: return void(x_ = rank > 1 ? sum(x_, Axis{below(rank)}) : x_ + number_);
      case 8: return void(x_ = transpose(x_));
      case 9: return void(x_ = rank < 3 ? expand_dims(x_, below(rank + 1)) : sum(x_, Axis{0}));
      case 10: return void(x_ = join(0, {x_, coin() ? x_ : sin(x_)}));
      case 11: return rank == 2 ? void(x_ = dot(x_, transpose(x_))) : void(x_ = x_ / 3);
      case 12: {
        const auto items = index();
        return void(
            x_ = inc_subtensor(coin() ? x_ : zeros_like(x_), items, coin() ? number_ : sin(subtensor(x_, items))));
      }
      case 13: {
        const auto items = index();
        return void(x_ = set_subtensor(x_, items, coin() ? number_ : subtensor(x_, items) + number_));
      }
      case 14: return void(x_ = alloc(squeeze(subtensor(x_, {Slice{0, 1, {}}}), Axis{0}), lengths()));
      default: return void(x_ = flatten(exp(-sqr(x_))));
    }
  }
  Variables lengths() {
    Variables out;
    for (int axis = 0; axis < x_.ndim(); ++axis) out.push_back(shape_i(x_, axis));
    return out;
  }

  std::mt19937 random_;
  Variable number_, x_;
  Variables positions_;
};

bool same(const Array& before, const Array& after) {
  return before.dtype() == after.dtype() && before.shape() == after.shape() && allclose(before, after, 1e-9, 1e-9);
}

// The failure with this optimizer, or nothing. Throws if the graph can't be evaluated as built.
std::string trouble(const test::Case& graph, const char* optimizer) {
  const std::vector<Array> expected = evaluate(graph.outputs, graph.inputs, graph.values);
  FunctionGraph rewritten(graph.inputs, graph.outputs);
  try {
    rewrite(rewritten, query_of(optimizer));
    rewritten.check_integrity();
    const std::vector<Array> actual = evaluate(rewritten.outputs(), rewritten.inputs(), graph.values);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!same(expected[i], actual[i]))
        return "became " + rewriting::expression_text(rewritten.outputs()[i], 30) + "\n" + expected[i].str() +
               "\nbecame " + actual[i].str();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("random indexing keeps its values under all rules") {
  const config::Change strict("on_opt_error", "raise");
  std::int64_t tried = 0, done = 0, failed = 0;
  for (const std::int64_t seed : test::Seeds(4000)) {
    if (failed == 5) break;
    ++tried;
    CAPTURE(seed);
    test::Case graph;
    try {
      const Chain chain{unsigned(seed)};
      graph = {chain.inputs, {chain.result()}, chain.values};
      if (seed % 2 == 0) graph.outputs = grad(sum(sin(chain.result())), Variables{chain.inputs[0], chain.inputs[4]});
      evaluate(graph.outputs, graph.inputs, graph.values);
    } catch (const Error&) {
      continue;  // an index out of range, lengths that do not match, an unused input
    }
    ++done;
    for (const char* optimizer : {"fast_run", "fast_compile"}) {
      CAPTURE(optimizer);
      if (trouble(graph, optimizer).empty()) continue;
      ++failed;
      const test::Case small =
          test::shrink(graph, [&](const test::Case& each) { return !trouble(each, optimizer).empty(); });
      FAIL_CHECK(describe(small) << trouble(small, optimizer));
    }
  }
  CHECK(4 * done > tried);
}
