// Rows of data whose groups are constant index vectors, as those of a regression by group, are put in the order of the
// groups once, when the function is made: elements that are gathered and those to which is added then come in runs.
// The order of rows is seen by nobody if all values with a row for each are computed of constants and gathered
// elements, row by row, and are read by reductions over the rows alone: sums, products of matrices, sums by group.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bitale/rewriting/passes.hpp"
#include "graph/pointer_map.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// Runs of less than 6 equal indices gained nothing, unless the rows are so many that what they gather is far apart
// (rows by group, performance.md: 30 November 2026).
constexpr std::int64_t worth_run = 6, many_rows = 1 << 14;

constexpr int none = -1;

// The axis along which each input of a node has the rows, and its output: `none` for an input that all rows share, and
// for an output that has reduced them.
struct RowAxes {
  std::vector<int> inputs;
  int output = none;
  bool operator==(const RowAxes&) const = default;
};

std::optional<RowAxes> axes_of_elemwise(const Apply& node, int axis) {
  RowAxes out{{}, axis};
  for (auto& input : node.inputs()) out.inputs.push_back(is_one(input, axis) ? none : axis);
  return out;
}

// The axis of a reduction's result that is this one of its input; `none` if it is reduced.
int reduced_axis(const CAReduce& op, int axis) {
  if (op.reduces(axis)) return none;
  int out = axis;
  for (int before = 0; before < axis; ++before) out -= op.reduces(before);
  return out;
}

// Of a node whose output has rows along an axis.
std::optional<RowAxes> axes_by_output(const Apply& node, int axis) {
  const Variable output = node.output(0);
  if (op_as<Elemwise>(output)) return axes_of_elemwise(node, axis);
  if (const auto* shuffle = op_as<DimShuffle>(output)) {
    const int from = shuffle->new_order[std::size_t(axis)];
    if (from < 0) return std::nullopt;
    return RowAxes{{from}, axis};
  }
  if (const auto* reduce = op_as<CAReduce>(output)) {
    for (int from = 0; from < node.input(0).ndim(); ++from)
      if (reduced_axis(*reduce, from) == axis) return RowAxes{{from}, axis};
    return std::nullopt;
  }
  if (op_as<Dot>(output))
    return node.input(0).ndim() == 2 && axis == 0 ? RowAxes{{0, none}, 0} : RowAxes{{none, 1}, axis};
  if (const auto* gather = op_as<AdvancedSubtensor>(output)) {
    const Variable& index = node.inputs().back();
    if (gather->axes != std::vector<int>{axis} || !index.is_constant() || index.ndim() != 1) return std::nullopt;
    return RowAxes{{none, 0}, axis};
  }
  return std::nullopt;
}

// Of a node that reads rows along an axis of its input.
std::optional<RowAxes> axes_by_input(const Apply& node, int input, int axis) {
  const Variable output = node.output(0);
  if (op_as<Elemwise>(output)) return axes_of_elemwise(node, axis);
  if (const auto* shuffle = op_as<DimShuffle>(output)) {
    const auto to = std::ranges::find(shuffle->new_order, axis);
    if (to == shuffle->new_order.end()) return std::nullopt;
    return RowAxes{{axis}, int(to - shuffle->new_order.begin())};
  }
  if (const auto* reduce = op_as<CAReduce>(output)) return RowAxes{{axis}, reduced_axis(*reduce, axis)};
  if (op_as<Dot>(output)) {
    const int rank = node.input(0).ndim(), summed = input == 0 ? rank - 1 : 0;
    if (axis == summed) return RowAxes{{rank - 1, 0}, none};
    return input == 0 ? RowAxes{{0, none}, 0} : RowAxes{{none, 1}, output.ndim() - 1};
  }
  if (const auto* scatter = op_as<AdvancedIncSubtensor>(output)) {
    const Variable& index = node.inputs().back();
    if (input != 1 || scatter->set || scatter->axes != std::vector<int>{axis}) return std::nullopt;
    if (!index.is_constant() || index.ndim() != 1) return std::nullopt;
    return RowAxes{{none, axis, 0}, none};
  }
  return std::nullopt;
}

// All that has the rows of a gathered vector, as far as it goes in both directions.
class Rows {
 public:
  Rows(const FunctionGraph& graph, const Variable& gathered, std::int64_t count) : graph_(graph), count_(count) {
    is_closed_ = add(gathered, op_as<AdvancedSubtensor>(gathered)->axes[0]);
    while (is_closed_ && !open_.empty()) {
      const Variable v = open_.back();
      open_.pop_back();
      is_closed_ = follow(v, *axes_.find(v.node()));
    }
  }

  // Whether only reductions read them.
  bool is_closed() const { return is_closed_; }
  bool contains(const Variable& v) const { return axes_.find(v.node()); }

  // The order of the index vectors, of which the one comes first that is used most often; none if the rows have it.
  std::optional<std::vector<std::int64_t>> order() const {
    std::vector<Key> keys;
    for (auto& [index, uses] : indices_) {
      Key key{index.constant()->astype(DType::Int64).contiguous(), uses};
      key.is_sorted = std::ranges::is_sorted(key.span());
      keys.push_back(std::move(key));
    }
    std::ranges::stable_sort(keys, std::greater<>(), [](auto& key) { return std::pair(key.uses, key.is_sorted); });
    if (keys[0].is_sorted || (count_ < many_rows && count_ < worth_run * keys[0].groups())) return std::nullopt;
    std::vector<std::int64_t> out(std::size_t(count_), 0);
    std::iota(out.begin(), out.end(), 0);
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) key->sort(out);
    return out;
  }

  // What reads the rows, and the same with the rows in another order.
  Replacements in_order(std::span<const std::int64_t> order) const {
    Replacements out;
    VariableMap moved;
    for (const Apply& node : graph_.toposort()) {
      const RowAxes* axes = nodes_.find(node.node());
      if (!axes) continue;
      Variables inputs = node.inputs();
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (axes->inputs[k] == none) continue;
        const auto [known, is_new] = moved.try_emplace(inputs[k]);
        if (is_new) known->second = constant(taken(*inputs[k].constant(), axes->inputs[k], order));
        inputs[k] = known->second;
      }
      const Variable result = node.with_inputs(inputs).output(0);
      if (axes->output == none)
        out.emplace_back(node.output(0), result);
      else
        moved.emplace(node.output(0), result);
    }
    return out;
  }

 private:
  // An index vector.
  struct Key {
    Array values;
    int uses;
    bool is_sorted = false;
    std::span<const std::int64_t> span() const { return {values.data_as<std::int64_t>(), std::size_t(values.size())}; }
    // Rows with equal elements stay in their order.
    void sort(std::vector<std::int64_t>& order) const {
      const auto [low, high] = std::ranges::minmax(span());
      const auto range = std::uint64_t(high) - std::uint64_t(low);
      if (range > 4 * order.size()) {
        std::ranges::stable_sort(order, std::less<>(), [&](std::int64_t row) { return (*this)[row]; });
        return;
      }
      std::vector<std::size_t> begins(std::size_t(range) + 2, 0);
      for (const std::int64_t element : span()) ++begins[std::size_t(element - low) + 1];
      std::partial_sum(begins.begin(), begins.end(), begins.begin());
      std::vector<std::int64_t> sorted(order.size());
      for (const std::int64_t row : order) sorted[begins[std::size_t((*this)[row] - low)]++] = row;
      order = std::move(sorted);
    }
    std::int64_t groups() const {
      std::vector<std::int64_t> sorted(span().begin(), span().end());
      std::ranges::sort(sorted);
      return std::ranges::unique(sorted).begin() - sorted.begin();
    }
    std::int64_t operator[](std::int64_t row) const { return values.data_as<std::int64_t>()[row]; }
  };

  static Array taken(const Array& values, int axis, std::span<const std::int64_t> order) {
    const Array from = values.contiguous();
    Array out = Array::empty(values.dtype(), values.shape());
    std::size_t bytes = itemsize(values.dtype());  // of what is adjacent in a row
    for (int k = axis + 1; k < values.ndim(); ++k) bytes *= std::size_t(values.shape(k));
    const std::size_t of_block = bytes * order.size();
    const auto* source = static_cast<const char*>(from.data());
    auto* to = static_cast<char*>(out.mutable_data());
    const auto* const end = source + itemsize(values.dtype()) * std::size_t(values.size());
    for (; source != end; source += of_block)
      for (const std::int64_t row : order) {
        std::memcpy(to, source + std::size_t(row) * bytes, bytes);
        to += bytes;
      }
    return out;
  }

  bool add(const Variable& v, int axis) {
    if (v.static_shape()[std::size_t(axis)] != count_) return false;
    auto [known, is_new] = axes_.insert(v.node());
    if (!is_new) return *known == axis;
    *known = axis;
    if (v.has_owner()) open_.push_back(v);
    return v.has_owner() || v.is_constant();
  }
  bool add(const Apply& node, const std::optional<RowAxes>& axes) {
    if (!axes || node.output_count() != 1) return false;
    auto [known, is_new] = nodes_.insert(node.node());
    if (!is_new) return *known == *axes;
    *known = *axes;
    for (std::size_t k = 0; k < axes->inputs.size(); ++k)
      if (axes->inputs[k] != none && !add(node.input(int(k)), axes->inputs[k])) return false;
    if (op_as<AdvancedSubtensor>(node.output(0)) || op_as<AdvancedIncSubtensor>(node.output(0)))
      count_use(node.inputs().back());
    return axes->output == none || add(node.output(0), axes->output);
  }
  void count_use(const Variable& index) {
    const auto known = std::ranges::find_if(indices_, [&](auto& each) { return each.first.same_as(index); });
    if (known != indices_.end())
      ++known->second;
    else
      indices_.emplace_back(index, 1);
  }
  bool follow(const Variable& v, int axis) {
    if (!add(v.owner(), axes_by_output(v.owner(), axis))) return false;
    return std::ranges::all_of(graph_.clients(v), [&](const Client& client) {
      if (!client.node) return false;
      const Apply node = Apply::of(client.node);
      return add(node, axes_by_input(node, client.index, axis));
    });
  }

  const FunctionGraph& graph_;
  std::int64_t count_;
  bool is_closed_ = false;
  PointerMap<int> axes_;                           // of values
  PointerMap<RowAxes> nodes_;                      // what computes them, and reductions that read them
  std::vector<std::pair<Variable, int>> indices_;  // and how often each is used
  Variables open_;
};

void sort_rows(FunctionGraph& graph) {
  const RuleScope scope("sorted_rows");
  Variables gathers;
  for (const Apply& node : graph.toposort()) {
    const Variable v = node.output(0);
    const auto* gather = op_as<AdvancedSubtensor>(v);
    if (gather && gather->axes.size() == 1 && axes_by_output(node, gather->axes[0])) gathers.push_back(v);
  }
  while (!gathers.empty()) {
    const Variable first = gathers.back();
    const std::int64_t count = first.owner().inputs().back().static_shape()[0];
    const Rows rows(graph, first, count);
    std::erase_if(gathers, [&](const Variable& v) { return v.same_as(first) || rows.contains(v); });
    if (!rows.is_closed() || !graph.contains(first)) continue;
    if (const auto order = rows.order()) graph.replace_all(rows.in_order(*order), "sorted_rows");
  }
}

const RegisterPasses register_sorted_rows({
    {"sorted_rows",
     1.9,
     {"fast_run"},
     "Sorts rows of constant data by constant index vectors that gather elements for them, where only reductions over "
     "the rows read the values.",
     sort_rows},
});

}  // namespace

}  // namespace bitale::rewriting
