// Indices are moved towards the inputs, through operations that compute each element from elements at the same indices,
// so that only the requested elements are computed.
#include <algorithm>
#include <numeric>
#include <set>

#include "bitale/core/text.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/join.hpp"
#include "ops/shapes/make_vector.hpp"
#include "ops/shapes/shape.hpp"
#include "ops/shapes/specify_shape.hpp"
#include "rules/subtensor_bounds.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

bool is_only_use(const FunctionGraph& graph, const Variable& v) { return graph.clients(v).size() == 1; }

// The part of an operand that may broadcast: along broadcast dimensions only position 0 exists.
Variable part_of_repeating(const Variable& operand, const Bounds& bounds, const Variable& whole) {
  Bounds own = bounds;
  for (std::size_t axis = 0; axis < own.size(); ++axis)
    if (is_one(operand, int(axis)) && !is_one(whole, int(axis)))
      own[axis] = own[axis].integer ? at_index(int64_constant(0)) : DimBounds{};
  return part_of(operand, own);
}

std::optional<Variables> subtensor_of_elemwise(FunctionGraph& graph, const Apply& node) {
  const Variable& whole = node.input(0);
  const Bounds bounds = bounds_of(node);
  if (!scalar_op_of(whole) || !is_only_use(graph, whole) || all_full(bounds)) return std::nullopt;
  Variables operands;
  for (auto& operand : whole.owner().inputs()) operands.push_back(part_of_repeating(operand, bounds, whole));
  return one(fit(whole.owner().op()(operands), node.output()));
}

std::optional<Variables> subtensor_of_reduce(FunctionGraph& graph, const Apply& node) {
  const Variable& whole = node.input(0);
  const auto* op = op_as<CAReduce>(whole);
  if (!op || !is_only_use(graph, whole)) return std::nullopt;
  const Variable x = whole.owner().input(0);
  const Bounds outer = bounds_of(node);
  if (all_full(outer)) return std::nullopt;
  Bounds bounds;
  std::vector<int> axes;  // the reduced axes, counted in the part of x
  std::size_t next = 0;
  int position = 0;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const bool reduced = op->reduces(axis);
    bounds.push_back(reduced ? DimBounds{} : outer[next++]);
    if (reduced) axes.push_back(position);
    if (!bounds.back().integer) ++position;
  }
  std::optional<std::vector<int>> over;
  if (int(axes.size()) != position) over = axes;
  return one(fit((*make_ref<CAReduce>(op->kind, over, op->dtype))({part_of(x, bounds)}), node.output()));
}

// An index moves through transposed, new and dropped dimensions. A new dimension can only be taken whole or at position
// 0.
std::optional<Variables> subtensor_of_dimshuffle(FunctionGraph&, const Apply& node) {
  const auto* view = op_as<DimShuffle>(node.input(0));
  if (!view) return std::nullopt;
  const Bounds outer = bounds_of(node);
  if (all_full(outer)) return std::nullopt;
  const Variable x = node.input(0).owner().input(0);
  Bounds bounds(std::size_t(x.ndim()));
  for (std::size_t axis = 0; axis < outer.size(); ++axis) {
    const int from = view->new_order[axis];
    if (from != new_axis) {
      bounds[std::size_t(from)] = outer[axis];
    } else if (!outer[axis].is_full() && !(outer[axis].integer && known_position(outer[axis].index, 1))) {
      return std::nullopt;
    }
  }
  std::vector<int> position(bounds.size());  // in the part of x
  int next = 0;
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) position[axis] = bounds[axis].integer ? -1 : next++;
  std::vector<int> order;
  for (std::size_t axis = 0; axis < outer.size(); ++axis) {
    if (outer[axis].integer) continue;
    const int from = view->new_order[axis];
    order.push_back(from == new_axis ? new_axis : position[std::size_t(from)]);
  }
  return one(fit(dimshuffle(part_of(x, bounds), order), node.output()));
}

std::optional<Variables> subtensor_of_alloc(FunctionGraph&, const Apply& node) {
  const Variable& whole = node.input(0);
  if (!op_as<Alloc>(whole)) return std::nullopt;
  const Bounds bounds = bounds_of(node);
  if (all_full(bounds)) return std::nullopt;
  const Variable value = padded(whole.owner().input(0), whole.ndim());
  Bounds forgotten = bounds;  // along repeated dimensions: an index out of range would no longer fail
  for (int axis = 0; axis < whole.ndim(); ++axis)
    if (!is_one(value, axis) || is_one(whole, axis)) forgotten[std::size_t(axis)] = {};
  if (!never_fails(forgotten, whole.static_shape())) return std::nullopt;
  const Variables lengths = inferred_lengths(node.output());
  if (int(lengths.size()) != node.output().ndim()) return std::nullopt;
  return one(fit(alloc(part_of_repeating(value, bounds, whole), lengths), node.output()));
}

// A gather along repeated dimensions takes the same values everywhere.
std::optional<Variables> gather_of_alloc(FunctionGraph&, const Apply& node) {
  const Variable& whole = node.input(0);
  if (!op_as<Alloc>(whole)) return std::nullopt;
  const std::vector<int>& axes = op_as<AdvancedSubtensor>(node.output())->axes;
  const Variable value = padded(whole.owner().input(0), whole.ndim());
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (!is_one(value, axes[k]) || !are_positions(node.input(int(1 + k)), whole.static_shape()[std::size_t(axes[k])]))
      return std::nullopt;
  const Variables lengths = inferred_lengths(node.output());
  if (int(lengths.size()) != node.output().ndim()) return std::nullopt;
  const int index_ndim = node.input(1).ndim();
  std::vector<int> all(std::size_t(whole.ndim()));
  std::iota(all.begin(), all.end(), 0);
  const AdvancedIndex layout(axes, whole.ndim(), index_ndim);
  const std::vector<int> order = layout.region(all, std::vector<int>(std::size_t(index_ndim), new_axis));
  return one(fit(alloc(dimshuffle(value, order), lengths), node.output()));
}

// Promises are kept for dimensions that are taken whole.
std::optional<Variables> subtensor_of_specify_shape(FunctionGraph&, const Apply& node) {
  const auto* promise = op_as<SpecifyShape>(node.input(0));
  if (!promise) return std::nullopt;
  const Bounds bounds = bounds_of(node);
  const Apply below = node.input(0).owner();
  std::vector<std::optional<Operand>> lengths(bounds.size());
  for (std::size_t k = 0; k < promise->axes.size(); ++k) {
    const auto axis = std::size_t(promise->axes[k]);
    if (!bounds[axis].is_full()) return std::nullopt;
    lengths[axis] = Operand(below.input(int(1 + k)));
  }
  for (std::size_t axis = bounds.size(); axis-- > 0;)
    if (bounds[axis].integer) lengths.erase(lengths.begin() + std::ptrdiff_t(axis));
  return one(fit(specify_shape(part_of(below.input(0), bounds), lengths), node.output()));
}

// ---- parts ----------------------------------------------------------------------------------------------------------

std::optional<Variables> subtensor_of_make_vector(FunctionGraph&, const Apply& node) {
  const auto* made = op_as<MakeVector>(node.input(0));
  if (!made) return std::nullopt;
  const Variables elements = node.input(0).owner().inputs();
  const std::int64_t length = std::int64_t(elements.size());
  const DimBounds dim = bounds_of(node)[0];
  if (dim.integer) {
    const auto at = known_position(dim.index, length);
    return at ? one(fit(elements[std::size_t(*at)], node.output())) : std::nullopt;
  }
  const auto known = known_range(dim, length);
  if (!known) return std::nullopt;
  Variables part;
  for (std::int64_t k = 0; k < known->count; ++k) part.push_back(elements[std::size_t(known->start + k * known->step)]);
  return one(fit(make_vector(part, made->dtype), node.output()));
}

// The parts of a join with known lengths, each indexed by the positions that the index takes from it.
std::optional<Variables> parts_along(const Variables& parts, const DimBounds& dim, int axis, const Bounds& bounds) {
  std::int64_t total = 0;
  for (auto& part : parts) {
    const std::int64_t length = part.static_shape()[std::size_t(axis)];
    if (length == unknown_length) return std::nullopt;
    total += length;
  }
  const auto position = dim.integer ? known_position(dim.index, total) : std::nullopt;
  const auto known = dim.integer ? std::nullopt : known_range(dim, total);
  if (!position && !known) return std::nullopt;
  if (known && (known->step != 1 || known->count == 0)) return std::nullopt;
  const std::int64_t low = position ? *position : known->start, high = position ? low + 1 : low + known->count;
  Variables out;
  std::int64_t begin = 0;
  for (auto& part : parts) {
    const std::int64_t end = begin + part.static_shape()[std::size_t(axis)];
    Bounds own = bounds;
    const std::int64_t from = std::max(low, begin) - begin, to = std::min(high, end) - begin;
    if (position)
      own[std::size_t(axis)] = at_index(int64_constant(from));
    else
      own[std::size_t(axis)] = from > 0 || to < end - begin ? slice_of({from, to - from, 1}) : DimBounds{};
    if (from < to) out.push_back(part_of(part, own));
    begin = end;
  }
  return out;
}

// The first positions are in the first parts, even if the lengths of later parts are unknown.
std::optional<Variable> element_of_first(const Variables& parts, const Bounds& bounds, int axis) {
  const auto index = known_integer(bounds[std::size_t(axis)].index);
  if (!index) return std::nullopt;
  if (*index >= 0) {
    std::int64_t begin = 0;
    for (auto& part : parts) {
      const std::int64_t length = part.static_shape()[std::size_t(axis)];
      if (length == unknown_length) return std::nullopt;
      Bounds own = bounds;
      own[std::size_t(axis)] = at_index(int64_constant(*index - begin));
      if (*index - begin < length) return part_of(part, own);
      begin += length;
    }
    return std::nullopt;
  }
  std::int64_t end = 0;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::int64_t length = part->static_shape()[std::size_t(axis)];
    if (length == unknown_length) return std::nullopt;
    Bounds own = bounds;
    own[std::size_t(axis)] = at_index(int64_constant(*index - end));
    if (*index - end >= -length) return part_of(*part, own);
    end -= length;
  }
  return std::nullopt;
}

std::optional<Variables> subtensor_of_join(FunctionGraph& graph, const Apply& node) {
  const auto* op = op_as<Join>(node.input(0));
  if (!op) return std::nullopt;
  const Variables parts = node.input(0).owner().inputs();
  const Bounds bounds = bounds_of(node);
  if (all_full(bounds)) return std::nullopt;
  const DimBounds& along = bounds[std::size_t(op->axis)];
  if (along.integer) {
    if (const auto element = element_of_first(parts, bounds, op->axis)) return one(fit(*element, node.output()));
    return std::nullopt;
  }
  std::optional<Variables> chosen;
  if (!along.is_full()) {
    chosen = parts_along(parts, along, op->axis, bounds);
  } else if (is_only_use(graph, node.input(0))) {
    chosen.emplace();
    for (auto& part : parts) chosen->push_back(part_of(part, bounds));
  }
  if (!chosen || chosen->empty()) return std::nullopt;
  int axis = op->axis;
  for (int before = 0; before < op->axis; ++before) axis -= bounds[std::size_t(before)].integer;
  return one(fit(chosen->size() == 1 ? (*chosen)[0] : join(axis, *chosen), node.output()));
}

// ---- products -------------------------------------------------------------------------------------------------------

// dot(a, b)[i, j] is dot(a[i], b[:, j]).
std::optional<Variables> subtensor_of_dot(FunctionGraph& graph, const Apply& node) {
  const Variable& whole = node.input(0);
  if (!op_as<Dot>(whole) || !is_only_use(graph, whole)) return std::nullopt;
  const Bounds bounds = bounds_of(node);
  if (all_full(bounds)) return std::nullopt;
  Variable a = whole.owner().input(0), b = whole.owner().input(1);
  std::size_t next = 0;
  if (a.ndim() == 2) a = part_of(a, {bounds[next++], {}});
  if (b.ndim() == 2) b = part_of(b, {{}, bounds[next++]});
  return one(fit((*whole.owner_op())({a, b}), node.output()));
}

// Slices and batch positions of a batch of products, as long as the result is a batch.
std::optional<Variables> subtensor_of_batched_dot(FunctionGraph& graph, const Apply& node) {
  const Variable& whole = node.input(0);
  if (!op_as<BatchedDot>(whole) || !is_only_use(graph, whole)) return std::nullopt;
  const Bounds bounds = bounds_of(node);
  const std::size_t batch = bounds.size() - 2;
  if (all_full(bounds) || bounds[batch].integer || bounds[batch + 1].integer) return std::nullopt;
  Bounds left = bounds, right = bounds;
  left[batch + 1] = right[batch] = {};
  auto part = [&](const Variable& v, Bounds& own) {
    for (std::size_t axis = 0; axis < batch; ++axis)
      if (is_one(v, int(axis)) && !is_one(whole, int(axis)))
        own[axis] = own[axis].integer ? at_index(int64_constant(0)) : DimBounds{};
    return part_of(v, own);
  };
  const Apply product = whole.owner();
  return one(fit(matmul(part(product.input(0), left), part(product.input(1), right)), node.output()));
}

// Whether a gather takes no position twice, so that it is not larger than what it gathers from.
bool is_selection(const Variable& index) {
  if (!index.is_constant() || index.ndim() != 1) return false;
  const Array values = index.constant()->astype(DType::Int64).contiguous();
  std::set<std::int64_t> seen;
  for (std::int64_t k = 0; k < values.size(); ++k) {
    const std::int64_t at = values.data_as<std::int64_t>()[k];
    if (at < 0 || !seen.insert(at).second) return false;
  }
  return true;
}

std::optional<Variables> gather_of_dot(FunctionGraph& graph, const Apply& node) {
  const Variable& whole = node.input(0);
  const std::vector<int>& axes = op_as<AdvancedSubtensor>(node.output())->axes;
  if (!op_as<Dot>(whole) || !is_only_use(graph, whole) || axes.size() != 1 || !is_selection(node.input(1)))
    return std::nullopt;
  Variable a = whole.owner().input(0), b = whole.owner().input(1);
  const bool rows = axes[0] == 0 && a.ndim() == 2;
  if (rows)
    a = take(a, node.input(1), 0);
  else
    b = take(b, node.input(1), b.ndim() - 1);
  return one(fit((*whole.owner_op())({a, b}), node.output()));
}

// ---- gathers --------------------------------------------------------------------------------------------------------

// An index of a gather is moved before it: to the gathered tensor, or to the positions.
std::optional<Variables> subtensor_of_gather(FunctionGraph& graph, const Apply& node) {
  const auto* op = op_as<AdvancedSubtensor>(node.input(0));
  if (!op || !is_only_use(graph, node.input(0))) return std::nullopt;
  const Apply gather = node.input(0).owner();
  const Variable& x = gather.input(0);
  const Bounds outer = bounds_of(node);
  if (op->axes.size() != 1 || all_full(outer)) return std::nullopt;
  const int axis = op->axes[0], index_ndim = gather.input(1).ndim();
  Bounds of_index(outer.begin() + axis, outer.begin() + axis + index_ndim);
  // A position out of range is an error even if the element that it selects is not requested.
  if (!all_full(of_index) && !are_positions(gather.input(1), x.static_shape()[std::size_t(axis)])) return std::nullopt;
  Bounds of_x(outer.begin(), outer.begin() + axis);
  of_x.emplace_back();
  of_x.insert(of_x.end(), outer.begin() + axis + index_ndim, outer.end());
  int left = axis;
  for (int before = 0; before < axis; ++before) left -= of_x[std::size_t(before)].integer;
  const Variable index = part_of(gather.input(1), of_index), part = part_of(x, of_x);
  if (index.ndim() != 0)
    return one(fit((*make_ref<AdvancedSubtensor>(std::vector<int>{left}))({part, index}), node.output()));
  Bounds single(std::size_t(part.ndim()));
  single[std::size_t(left)] = at_index(index);
  return one(fit(part_of(part, single), node.output()));
}

void declare_subtensor_lift(Rules& rules) {
  auto number = [] { return sample_leaf(DType::Float64, {}); };
  auto length = [] { return sample_leaf(DType::Int64, {}); };
  auto of_length = [](std::int64_t n) { return sample_leaf(DType::Float64, {n}); };
  const Root root = Root::op({"Subtensor"}), gather = Root::op({"AdvancedSubtensor"});
  const Slice tail{1, {}, {}};
  using Axis = std::vector<int>;
  rules.function("subtensor_of_elemwise", root, subtensor_of_elemwise)
      .doc("Moves indexing of an elementwise result to the operands, so that only the requested elements are computed.")
      .tags(canonicalize, specialize, shape_unsafe, "local_subtensor_of_batch_dims", "local_subtensor_of_softmax")
      .sample([=] {
        return subtensor(exp(sample_matrix()) * sample_vector(), {IndexItem(1), tail});
      })
      .sample([=] { return subtensor(sample_vector() + sample_leaf(DType::Float64, {1}), {IndexItem(2)}); })
      .sample([=] {
        return subtensor(sin(sample_vector()), {Slice{{}, {}, -1}});
      });
  rules.function("subtensor_of_reduce", root, subtensor_of_reduce)
      .doc("Moves indexing of a reduction to its operand, so that only the requested elements are computed.")
      .tags(canonicalize, specialize, "local_subtensor_of_reduce", "local_subtensor_of_softmax")
      .sample([=] {
        return subtensor(sum(sample_leaf(DType::Float64, {any_length, any_length, any_length}), Axis{1}),
                         {IndexItem(1), tail});
      })
      .sample([=] { return subtensor(max(sample_matrix(), Axis{0}), {tail}); });
  rules.function("subtensor_of_dimshuffle", root, subtensor_of_dimshuffle)
      .doc("Moves indexing below views that reorder, add or drop dimensions.")
      .tags(canonicalize, specialize, "local_subtensor_of_transpose", "local_subtensor_of_expand_dims",
            "local_subtensor_of_squeeze")
      .sample([=] {
        return subtensor(transpose(sample_matrix()), {IndexItem(1), tail});
      })
      .sample([=] {
        return subtensor(expand_dims(sample_matrix(), 1), {tail, IndexItem(0)});
      })
      .sample([=] {
        return subtensor(squeeze(sample_leaf(DType::Float64, {any_length, 1, any_length})), {tail});
      });
  rules.function("subtensor_of_alloc", root, subtensor_of_alloc)
      .doc("Rewrites indexing of an Alloc as an Alloc of the indexed value.")
      .tags(useless, canonicalize, specialize, shape_unsafe, "local_subtensor_of_alloc",
            "local_basic_subtensor_of_alloc")
      .sample([=] {
        return subtensor(alloc(sample_vector(), {constant(Array(5L)), shape_i(sample_vector(), 0)}),
                         {IndexItem(1), tail});
      })
      .sample([=] {
        return subtensor(alloc(number(), {length(), length()}), {tail});
      });
  rules.function("gather_of_alloc", gather, gather_of_alloc)
      .doc("Rewrites a gather along broadcast dimensions of an Alloc as an Alloc with other lengths.")
      .tags(useless, canonicalize, specialize, shape_unsafe, "local_subtensor_of_alloc")
      .sample([=] {
        const Variable rows = constant(Array{0L, 4L, 1L, 1L}.reshape({2, 2}));
        return subtensor(alloc(sample_vector(), {constant(Array(5L)), shape_i(sample_vector(), 0)}), {IndexItem(rows)});
      })
      .sample([=] {
        const Variable columns = constant(Array{0L, 0L, 1L});
        const Variable x = sample_leaf(DType::Float64, {any_length, 1});
        return subtensor(alloc(x, {shape_i(x, 0), constant(Array(4L))}), {Slice{}, IndexItem(columns)});
      });
  rules.function("subtensor_of_specify_shape", root, subtensor_of_specify_shape)
      .doc("Moves indexing below a specify_shape of other dimensions.")
      .tags(canonicalize, "local_subtensor_SpecifyShape_lift")
      .sample([=] {
        return subtensor(specify_shape(sample_matrix(), {std::nullopt, Operand(3)}), {IndexItem(1)});
      });
  rules.function("subtensor_of_make_vector", root, subtensor_of_make_vector)
      .doc("Rewrites indexing of a MakeVector as the selected scalars.")
      .tags(useless, canonicalize, specialize, "local_subtensor_make_vector", "local_subtensor_shape_constant")
      .sample([=] {
        return exp((*make_ref<Subtensor>(IndexPattern({DimIndex{true, false, false, false}})))(
            {make_vector({number(), number()}), int64_constant(1)}));
      })
      .sample([=] {
        return subtensor(make_vector({number(), number(), number()}), {Slice{-2, {}, {}}});
      });
  rules.function("subtensor_of_join", root, subtensor_of_join)
      .doc("Rewrites indexing of a join as a join of the indexed parts.")
      .tags(canonicalize, specialize, shape_unsafe, "local_subtensor_of_join")
      .sample([=] {
        return subtensor(join(0, {of_length(2), sample_vector()}), {IndexItem(1)});
      })
      .sample([=] {
        return subtensor(join(0, {sample_vector(), of_length(2)}), {IndexItem(-1)});
      })
      .sample([=] {
        return subtensor(join(0, {of_length(2), of_length(3), of_length(1)}), {Slice{1, 4, {}}});
      })
      .sample([=] {
        return subtensor(join(1, {sample_matrix(), sample_matrix()}), {IndexItem(1), Slice{}});
      });
  rules.function("subtensor_of_dot", root, subtensor_of_dot)
      .doc("Rewrites indexing of a matrix product as a product of the indexed factors.")
      .tags(canonicalize, stabilize, structural, specialize, "local_subtensor_of_dot")
      .sample([=] {
        return subtensor(dot(sample_matrix(), sample_matrix()), {IndexItem(1), tail});
      })
      .sample([=] { return subtensor(dot(sample_matrix(), sample_vector()), {IndexItem(1)}); })
      .sample([=] { return subtensor(dot(sample_vector(), sample_matrix()), {tail}); });
  rules.function("subtensor_of_batched_dot", root, subtensor_of_batched_dot)
      .doc("Rewrites indexing of a batched matrix product as a batched product of the indexed factors.")
      .tags(canonicalize, specialize, shape_unsafe, "local_subtensor_of_batch_dims")
      .sample([=] {
        const Variable x = sample_leaf(DType::Float64, {any_length, any_length, any_length});
        return subtensor(matmul(x, sample_matrix()), {IndexItem(1), tail, tail});
      });
  rules.function("gather_of_dot", gather, gather_of_dot)
      .doc("Rewrites a gather of rows or columns of a matrix product as a product with gathered rows or columns.")
      .tags(canonicalize, stabilize, structural, specialize, "local_advanced_subtensor_of_dot")
      .sample([=] {
        const Variable rows = constant(Array{2L, 0L});
        return subtensor(dot(sample_matrix(), sample_matrix()), {IndexItem(rows)});
      })
      .sample([=] {
        const Variable columns = constant(Array{2L, 0L});
        return subtensor(dot(sample_matrix(), sample_matrix()), {Slice{}, IndexItem(columns)});
      });
  rules.function("subtensor_of_gather", root, subtensor_of_gather)
      .doc("Moves indexing of a gather to the gathered tensor or to the positions.")
      .tags(canonicalize, specialize, shape_unsafe, "local_subtensor_of_adv_subtensor")
      .sample([=] {
        const Variable rows = constant(Array{0L, 8L, 1L, 1L}.reshape({2, 2}));
        return subtensor(subtensor(sample_leaf(DType::Float64, {9, any_length}), {IndexItem(rows)}),
                         {IndexItem(1), tail, IndexItem(1)});
      })
      .sample([=] {
        const Variable columns = constant(Array{0L, 2L, 0L});
        const Variable x = sample_leaf(DType::Float64, {any_length, 3});
        return subtensor(subtensor(x, {Slice{}, IndexItem(columns)}), {tail, IndexItem(1)});
      })
      .sample([=] {
        const Variable rows = sample_leaf(DType::Int64, {2}), x = sample_leaf(DType::Float64, {9, any_length});
        return subtensor(subtensor(x, {IndexItem(rows - rows)}), {Slice{}, tail});
      });
}

const RegisterRules register_subtensor_lift("subtensor_lift", declare_subtensor_lift);

}  // namespace

}  // namespace bitale::rewriting
