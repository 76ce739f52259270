// Sums over the stored elements of large sparse matrices whose pattern is constant: the elements are added in blocks of
// the result, and within a block in the order of what they read, so that a core's caches hold both. Their terms are
// expressions of constants, which are put in this order, and of elements of vectors at constant positions.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bitale/ops/segments.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/array_loops.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/segment_scatter.hpp"
#include "ops/indexing/segment_sum.hpp"
#include "ops/shapes/alloc.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

constexpr std::int64_t least_elements = 1 << 16;      // below, nothing is gained
constexpr int block_bits = 18;                        // a block of the result has 256 KiB, an eighth to half of a cache
constexpr std::int64_t simulated_elements = 1 << 20;  // how many elements tell about all
constexpr int largest_expression = 64;                // nodes of the terms

// Numbers of elements of a vector, which are less than 2^31. The lists are as long as the matrix has elements.
using Positions = std::vector<std::int32_t>;

// None if one is negative or too large.
std::optional<Positions> positions_of(const Array& index) {
  const Array known = index.dtype() == DType::Int32 ? index.contiguous() : index.astype(DType::Int64).contiguous();
  Positions out(std::size_t(known.size()));
  bool fits = true;
  const auto convert = [&]<class T>(const T* from) {
    for (std::size_t k = 0; k < out.size(); ++k) {
      fits &= from[k] >= 0 && std::int64_t(from[k]) < std::int64_t(INT32_MAX);
      out[k] = std::int32_t(from[k]);
    }
  };
  if (known.dtype() == DType::Int32)
    convert(known.data_as<std::int32_t>());
  else
    convert(known.data_as<std::int64_t>());
  if (!fits) return std::nullopt;
  return out;
}

// A direct-mapped cache of 1 MiB.
class Cache {
 public:
  bool misses(std::int64_t vector, std::int64_t byte) {
    const std::int64_t line = (byte >> 6) + (vector << 48);
    std::int64_t& there = lines_[std::size_t(((byte >> 6) + vector * 7919) & (size - 1))];
    return std::exchange(there, line) != line;
  }

 private:
  static constexpr std::int64_t size = 1 << 14;
  std::vector<std::int64_t> lines_ = std::vector<std::int64_t>(std::size_t(size), -1);
};

// The sum, for each element of a vector, of the terms whose target it is.
struct TermsOfSum {
  Variable terms;
  Positions targets;
  std::int64_t length;  // of the result
};

std::optional<TermsOfSum> sum_at(const Apply& node) {
  const Variable output = node.output();
  if (output.ndim() != 1 || output.static_shape()[0] == unknown_length) return std::nullopt;
  if (output.dtype() != DType::Float32 && output.dtype() != DType::Float64) return std::nullopt;
  const bool is_segments = op_as<SegmentSum>(output) != nullptr;
  const Variable terms = node.input(is_segments ? 0 : 1), positions = node.input(is_segments ? 1 : 2);
  if (!positions.is_constant() || terms.ndim() != 1 || terms.dtype() != output.dtype()) return std::nullopt;
  const std::int64_t count = terms.static_shape()[0];
  if (count == unknown_length || count < least_elements) return std::nullopt;
  if (is_segments) {
    const std::optional<Positions> bounds = positions_of(*positions.constant());
    if (!bounds || bounds->front() != 0 || bounds->back() != count) return std::nullopt;
    TermsOfSum out{terms, Positions(std::size_t(count)), output.static_shape()[0]};
    for (std::size_t row = 0; row + 1 < bounds->size(); ++row)
      std::fill(out.targets.begin() + (*bounds)[row], out.targets.begin() + (*bounds)[row + 1], std::int32_t(row));
    return out;
  }
  const auto& update = dynamic_cast<const AdvancedIncSubtensor&>(node.op());
  const Variable& start = node.input(0);
  const auto started_as = scalar_constant(op_as<Alloc>(start) ? start.owner().input(0) : start);
  if (update.set || started_as != 0.0 || positions.ndim() != 1) return std::nullopt;
  std::optional<Positions> targets = positions_of(*positions.constant());
  if (!targets) return std::nullopt;
  return TermsOfSum{terms, std::move(*targets), output.static_shape()[0]};
}

// The terms as an expression of vectors with one element each.
class Terms {
 public:
  Terms(const FunctionGraph& graph, std::int64_t count) : graph_(graph), count_(count) {}

  // Whether the variable is such an expression, of which nobody else needs a part.
  bool examine(const Variable& v, const Apply& user) {
    if (is_single(v) || (v.is_constant() && v.ndim() == 1 && v.static_shape()[0] == count_)) return true;
    if (++nodes_ > largest_expression || v.ndim() != 1 || only_user(graph_, v) != user.node()) return false;
    if (const auto* gather = op_as<AdvancedSubtensor>(v)) {
      const Variable index = v.owner().input(v.owner().inputs().size() - 1);
      if (gather->axes != std::vector<int>{0} || !index.is_constant() || index.ndim() != 1) return false;
      if (v.owner().input(0).ndim() != 1) return false;
      std::optional<Positions> positions = positions_of(*index.constant());
      if (positions) reads.push_back(std::move(*positions));
      return positions.has_value();
    }
    if (!op_as<Elemwise>(v)) return false;
    const Apply node = v.owner();
    return std::all_of(node.inputs().begin(), node.inputs().end(),
                       [&](const Variable& each) { return examine(each, node); });
  }

  // The same in another order.
  Variable taken(const Variable& v, const Positions& order) const {
    if (is_single(v)) return v;
    if (v.is_constant()) return taken_constant(*v.constant(), order);
    Variables inputs = v.owner().inputs();
    if (op_as<AdvancedSubtensor>(v)) {
      inputs.back() = taken_constant(*inputs.back().constant(), order);
      return v.owner().op()(inputs);
    }
    for (auto& each : inputs) each = taken(each, order);
    return v.owner().op()(inputs);
  }

  std::vector<Positions> reads;  // where vectors are read

 private:
  static Variable taken_constant(const Array& values, const Positions& order) {
    const Array from = values.contiguous();
    Array out = Array::empty(values.dtype(), {std::int64_t(order.size())});
    visit_dtype(values.dtype(), [&]<class T>() {
      const T* const source = static_cast<const T*>(from.data());
      T* to = static_cast<T*>(out.mutable_data());
      for (const std::int32_t k : order) *to++ = source[k];
    });
    return constant(out);
  }

  const FunctionGraph& graph_;
  const std::int64_t count_;
  int nodes_ = 0;
};

// How many of the first elements' reads of each vector miss a cache, which holds the result, too. The result is last.
std::vector<std::int64_t> misses_of(const std::vector<Positions>& reads, const Positions& targets,
                                    std::int64_t item_size) {
  std::vector<std::int64_t> out(reads.size() + 1, 0);
  Cache cache;
  const auto count = std::size_t(std::min<std::int64_t>(std::int64_t(targets.size()), simulated_elements));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t vector = 0; vector < out.size(); ++vector) {
      const Positions& at = vector < reads.size() ? reads[vector] : targets;
      out[vector] += cache.misses(std::int64_t(vector), std::int64_t(at[k]) * item_size);
    }
  return out;
}

// Numbers of elements sorted by a key below `limit`; those with equal keys stay in their order.
template <class Key>
Positions sorted_by(std::size_t count, std::size_t limit, Key&& key) {
  Positions begin(limit + 1, 0), out(count);
  for (std::size_t k = 0; k < count; ++k) ++begin[key(k) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (std::size_t k = 0; k < count; ++k) out[std::size_t(begin[key(k)]++)] = std::int32_t(k);
  return out;
}

std::optional<Variables> sums_in_blocks(FunctionGraph& graph, const Apply& node) {
  const std::optional<TermsOfSum> sum = sum_at(node);
  if (!sum) return std::nullopt;
  const Positions& targets = sum->targets;
  const std::size_t count = targets.size();
  Terms terms(graph, std::int64_t(count));
  if (!terms.examine(sum->terms, node)) return std::nullopt;
  const std::size_t item_size = itemsize(sum->terms.dtype());
  const std::vector<std::int64_t> misses = misses_of(terms.reads, targets, std::int64_t(item_size));
  const std::int64_t many = std::min(std::int64_t(count), simulated_elements) / 4;
  if (std::accumulate(misses.begin(), misses.end(), std::int64_t(0)) < many) return std::nullopt;
  if (*std::max_element(targets.begin(), targets.end()) >= sum->length) return std::nullopt;

  const int bits = block_bits - (item_size == 8 ? 3 : 2);
  const auto width = std::int64_t(1) << bits, blocks = ((sum->length - 1) >> bits) + 1;
  const auto block_of = [&](std::size_t k) { return std::size_t(targets[k]) >> bits; };
  Positions order;
  const auto worst = std::max_element(misses.begin(), misses.end() - 1) - misses.begin();
  if (!terms.reads.empty() && misses[std::size_t(worst)] >= many) {
    // Parts of the vector of 64 elements, within which the order does not matter.
    const Positions& at = terms.reads[std::size_t(worst)];
    const std::size_t parts = (std::size_t(*std::max_element(at.begin(), at.end())) >> 6) + 1;
    if (std::size_t(blocks) * parts > 4 * count) return std::nullopt;
    order = sorted_by(count, std::size_t(blocks) * parts,
                      [&](std::size_t k) { return block_of(k) * parts + (std::size_t(at[k]) >> 6); });
  } else {
    order = sorted_by(count, std::size_t(blocks), block_of);
  }
  std::vector<std::int64_t> bounds(std::size_t(blocks) + 1, 0);
  for (std::size_t k = 0; k < count; ++k) ++bounds[block_of(k) + 1];
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  Array columns = Array::empty(DType::Int32, {std::int64_t(count)});
  std::int32_t* column = columns.mutable_data_as<std::int32_t>();
  for (const std::int32_t k : order) *column++ = std::int32_t(targets[std::size_t(k)] & (width - 1));
  const Variable parts =
      (*make_ref<SegmentScatter>(width))({terms.taken(sum->terms, order), constant(Array(bounds)), constant(columns)});
  const Variable all = reshape(parts, Operands({int64_constant(blocks * width)}));
  return one(fit(subtensor(all, {IndexItem(Slice{{}, sum->length, {}})}), node.output()));
}

// ---- samples --------------------------------------------------------------------------------------------------------

constexpr std::int64_t sample_length = 1 << 18, sample_elements = 1 << 16;

template <class Rule>
Variable integers(std::int64_t count, Rule&& rule) {
  std::vector<std::int64_t> values;
  for (std::int64_t k = 0; k < count; ++k) values.push_back(rule(k));
  return constant(Array(values));
}
Variable scattered_positions() {
  return integers(sample_elements, [](std::int64_t k) { return k * 104729 % sample_length; });
}
Variable sample_factors() {
  std::vector<double> values;
  for (std::int64_t k = 0; k < sample_elements; ++k) values.push_back(double(k % 7) - 3);
  return constant(Array(values));
}

void declare_segment_blocks(Rules& rules) {
  rules.function("sums_in_blocks", Root::op({"SegmentSum", "AdvancedIncSubtensor"}), sums_in_blocks)
      .doc(
          "Rewrites the product of a large sparse matrix of constant pattern with a vector, if its reads or additions "
          "are scattered over more memory than a cache has, so that elements are added in blocks of the result.")
      .tags(specialize)
      .depth(8)
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {sample_length});
        return segment_sum(sample_factors() * subtensor(x, {IndexItem(scattered_positions())}),
                           integers(sample_elements / 4 + 1, [](std::int64_t row) { return 4 * row; }));
      })
      .sample([] {
        const Variable x = sample_leaf(DType::Float64, {sample_elements / 4});
        const Variable rows = integers(sample_elements, [](std::int64_t k) { return k / 4; });
        const Variable start = zeros({sample_length}, DType::Float64);
        return inc_subtensor(start, {IndexItem(scattered_positions())},
                             sample_factors() * exp(subtensor(x, {IndexItem(rows)})));
      });
}

const RegisterRules register_segment_blocks("segment_blocks", declare_segment_blocks);

}  // namespace

}  // namespace bitale::rewriting
