// Reductions: nested reductions are merged, views and repetitions of their operands are removed, and factors that are
// the same for all terms are moved out of a sum.
#include "ops/reductions/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bitale/core/text.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/join.hpp"
#include "ops/shapes/make_vector.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

using AxisList = std::vector<int>;

const CAReduce& reduction_of(const Apply& node) { return *op_as<CAReduce>(node.output()); }

AxisList reduced_axes(const CAReduce& op, int rank) {
  AxisList out;
  for (int axis = 0; axis < rank; ++axis)
    if (op.reduces(axis)) out.push_back(axis);
  return out;
}

// The same kind of reduction over other axes.
Variable reduce(const CAReduce& like, const Variable& x, AxisList axes) {
  std::sort(axes.begin(), axes.end());
  std::optional<AxisList> over;
  if (int(axes.size()) != x.ndim()) over = std::move(axes);
  return (*make_ref<CAReduce>(like.kind, over, like.dtype))({x});
}

// v without the dimensions `axes`, which have length 1.
Variable without(const Variable& v, const AxisList& axes) {
  AxisList kept;
  for (int axis = 0; axis < v.ndim(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) kept.push_back(axis);
  return int(kept.size()) == v.ndim() ? v : dimshuffle(v, kept);
}

bool all_one(const Variable& v, const AxisList& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) { return is_one(v, axis); });
}

// ---- shapes of reductions -------------------------------------------------------------------------------------------

// Dimensions of length 1 are dropped instead of reduced.
std::optional<Variables> drop_single_dimensions(FunctionGraph&, const Apply& node) {
  const CAReduce& op = reduction_of(node);
  const Variable& x = node.input(0);
  AxisList singles, rest;
  for (int axis : reduced_axes(op, x.ndim())) {
    // Axes are counted after the drop.
    if (is_one(x, axis))
      singles.push_back(axis);
    else
      rest.push_back(axis - int(singles.size()));
  }
  const bool reduces_nothing = singles.empty() && rest.empty();
  if (singles.empty() && !reduces_nothing) return std::nullopt;
  const Variable squeezed = without(x, singles);
  return one(fit(rest.empty() ? cast(squeezed, node.output().dtype()) : reduce(op, squeezed, rest), node.output()));
}

std::optional<Variables> reduce_of_reduce(FunctionGraph&, const Apply& node) {
  const CAReduce& op = reduction_of(node);
  const Variable& inner = node.input(0);
  const auto* below = op_as<CAReduce>(inner);
  if (!below || &below->kind != &op.kind || below->dtype != op.dtype) return std::nullopt;
  const Variable x = inner.owner().input(0);
  AxisList kept, axes = reduced_axes(*below, x.ndim());
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (!below->reduces(axis)) kept.push_back(axis);
  for (int axis : reduced_axes(op, inner.ndim())) axes.push_back(kept[std::size_t(axis)]);
  return one(reduce(op, x, axes));
}

// A reduction of a view is a view of a reduction; a full reduction needs no view.
std::optional<Variables> reduce_of_dimshuffle(FunctionGraph&, const Apply& node) {
  const CAReduce& op = reduction_of(node);
  const Variable& view = node.input(0);
  const auto* shuffle = op_as<DimShuffle>(view);
  if (!shuffle) return std::nullopt;
  const Variable x = view.owner().input(0);
  if (!shuffle->dropped().empty()) return std::nullopt;  // a squeeze is kept below the reduction
  AxisList axes;
  std::vector<int> rank_after(std::size_t(x.ndim()), -1), order;
  for (int axis : reduced_axes(op, view.ndim()))
    if (const int source = shuffle->new_order[std::size_t(axis)]; source != new_axis) axes.push_back(source);
  if (axes.empty()) return std::nullopt;
  int next = 0;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) rank_after[std::size_t(axis)] = next++;
  for (int axis = 0; axis < view.ndim(); ++axis) {
    if (op.reduces(axis)) continue;
    const int source = shuffle->new_order[std::size_t(axis)];
    order.push_back(source == new_axis ? new_axis : rank_after[std::size_t(source)]);
  }
  const Variable reduced = reduce(op, x, axes);
  bool same = int(order.size()) == reduced.ndim();
  for (std::size_t k = 0; k < order.size(); ++k) same &= order[k] == int(k);
  return one(fit(same ? reduced : dimshuffle(reduced, order), node.output()));
}

// ---- repeated values ------------------------------------------------------------------------------------------------

bool is_finite_constant(const Variable& v) {
  Variable source = v;
  while (op_as<DimShuffle>(source)) source = source.owner().input(0);
  if (!source.is_constant()) return false;
  const Array values = source.constant()->astype(DType::Float64).contiguous();
  const auto* data = values.data_as<double>();
  return std::all_of(data, data + values.size(), [](double value) { return std::isfinite(value); });
}

// Whether no element can be infinite or nan.
bool is_always_finite(const Variable& v) {
  Variable source = v;
  while (op_as<DimShuffle>(source)) source = source.owner().input(0);
  if (is_discrete(source.dtype())) return true;
  const auto* op = scalar_op_of(source);
  return is_finite_constant(source) ||
         (op && op->name.starts_with("cast") && is_discrete(source.owner().input(0).dtype()));
}

// The reduction of `count` copies of a value: a multiple, a power, or, for extremes of at least one, the value itself.
// For a count of 0, any is false and all is true.
Variable repeated_reduction(std::string_view kind, const Variable& value, const Variable& count, DType dtype) {
  if (kind == "sum") {
    const Variable multiple = mul(cast(value, dtype), cast(count, dtype));
    // An empty sum of infinities is 0, but inf * 0 is nan.
    const bool always_right = !is_float(dtype) || is_always_finite(value) || known_integer(count).value_or(0) > 0;
    return always_right ? multiple : switch_(eq(count, 0), zeros_like(multiple), multiple);
  }
  if (kind == "prod") return pow(cast(value, dtype), count);
  if (kind == "any") return and_(cast(value, DType::Bool), gt(count, 0));
  if (kind == "all") return or_(cast(value, DType::Bool), eq(count, 0));
  return value;
}

std::optional<Variables> reduce_of_alloc(FunctionGraph&, const Apply& node) {
  const CAReduce& op = reduction_of(node);
  const Variable& repeated = node.input(0);
  const Variable output = node.output();
  if (!op_as<Alloc>(repeated)) return std::nullopt;
  const AxisList axes = reduced_axes(op, repeated.ndim());
  const Variable value = padded(repeated.owner().input(0), repeated.ndim());
  if (axes.empty() || !all_one(value, axes)) return std::nullopt;
  const bool is_extreme = op.kind.combiner == program::Combiner::max || op.kind.combiner == program::Combiner::min;
  const auto is_empty = [&](int axis) { return repeated.static_shape()[std::size_t(axis)] <= 0; };  // or may be
  if (is_extreme && std::ranges::any_of(axes, is_empty)) return std::nullopt;
  Variable count;
  Variables kept;
  for (int axis = 0; axis < repeated.ndim(); ++axis) {
    const Variable& length = repeated.owner().input(1 + axis);
    if (!op.reduces(axis))
      kept.push_back(length);
    else
      count = count.defined() ? mul(count, length) : length;
  }
  const Variable all = repeated_reduction(op.kind.name, without(value, axes), count, output.dtype());
  return one(fit(kept.empty() ? all : alloc(all, kept), output));
}

// A few scalars are combined directly: the number of elements of x becomes a product of lengths.
std::optional<Variables> reduce_of_make_vector(FunctionGraph&, const Apply& node) {
  const CAReduce& op = reduction_of(node);
  constexpr std::size_t max_elements = 16;
  if (!op_as<MakeVector>(node.input(0)) || (op.kind.name != "sum" && op.kind.name != "prod")) return std::nullopt;
  const Variables elements = node.input(0).owner().inputs();
  if (elements.empty() || elements.size() > max_elements) return std::nullopt;
  Variable total;
  for (auto& element : elements) {
    const Variable own = cast(element, node.output().dtype());
    total = !total.defined() ? own : op.kind.name == "sum" ? add(total, own) : mul(total, own);
  }
  return one(fit(total, node.output()));
}

// A reduction over the axis along which a few single rows were joined combines the rows elementwise.
std::optional<Variables> reduce_of_join(FunctionGraph& graph, const Apply& node) {
  const CAReduce& op = reduction_of(node);
  const Variable& joined = node.input(0);
  const auto* join = op_as<Join>(joined);
  constexpr std::size_t max_pieces = 16;
  if (!join || graph.clients(joined).size() != 1) return std::nullopt;
  if (reduced_axes(op, joined.ndim()) != AxisList{join->axis}) return std::nullopt;
  const std::string_view kinds[] = {"sum", "prod", "max", "min"};
  if (std::find(std::begin(kinds), std::end(kinds), op.kind.name) == std::end(kinds)) return std::nullopt;
  const Variables pieces = joined.owner().inputs();
  if (pieces.size() > max_pieces) return std::nullopt;
  Variable total;
  for (auto& piece : pieces) {
    if (!is_one(piece, join->axis) || piece.dtype() != node.output().dtype()) return std::nullopt;
    const Variable own = without(piece, {join->axis});
    total = total.defined() ? apply_elemwise(op.kind.scalar_name, std::vector<Variable>{total, own}) : own;
  }
  return one(fit(total, node.output()));
}

// ---- factors --------------------------------------------------------------------------------------------------------

bool is_float_reduction(const Apply& node, std::string_view kind) {
  return reduction_of(node).kind.name == kind && is_float(node.input(0).dtype()) &&
         node.input(0).dtype() == node.output().dtype();
}

std::optional<Variables> sum_of_neg(FunctionGraph&, const Apply& node) {
  if (!is_float_reduction(node, "sum") || !is_elemwise(node.input(0), "neg")) return std::nullopt;
  return one(-reduce(reduction_of(node), node.input(0).owner().input(0),
                     reduced_axes(reduction_of(node), node.input(0).ndim())));
}

// A reduced product or quotient, split into the factor or divisor that is the same for all terms, and the rest.
struct Scaled {
  Variable factor, rest;
  bool divides = false;
};

// Whether the same reduction of x is computed anyway, as of the weights of a softmax, which are read, too.
bool is_reduced_likewise(const FunctionGraph& graph, const Variable& x, const Apply& node) {
  const auto clients = graph.clients(x);
  return std::any_of(clients.begin(), clients.end(), [&](const Client& client) {
    if (!client.node || x.ndim() != node.input(0).ndim()) return false;
    const Apply other = Apply::of(client.node);
    const auto* reduction = op_as<CAReduce>(other.output());
    return reduction && reduction->kind.name == reduction_of(node).kind.name &&
           other.output().dtype() == node.output().dtype() &&
           reduced_axes(*reduction, x.ndim()) == reduced_axes(reduction_of(node), x.ndim());
  });
}

std::optional<Scaled> scaled_terms(const FunctionGraph& graph, const Apply& node) {
  const Variable& product = node.input(0);
  const bool is_product = is_elemwise(product, "mul"), is_quotient = is_elemwise(product, "true_div");
  if (!is_product && !is_quotient) return std::nullopt;
  const AxisList axes = reduced_axes(reduction_of(node), product.ndim());
  const Apply inner = product.owner();
  const bool is_only_use = graph.clients(product).size() == 1;
  for (int i = is_product ? 0 : 1; i < 2; ++i) {
    const Variable &factor = inner.input(i), &rest = inner.input(1 - i);
    const bool covered =
        std::all_of(axes.begin(), axes.end(), [&](int axis) { return !is_one(rest, axis) || is_one(product, axis); });
    if (all_one(factor, axes) && covered && rest.dtype() == product.dtype() &&
        (is_only_use || is_reduced_likewise(graph, rest, node)))
      return Scaled{factor, rest, is_quotient};
  }
  return std::nullopt;
}

// The reduction of the rest, with the factor (to a power) outside.
std::optional<Variables> taken_out(const Scaled& scaled, const Variable& outside, const Apply& node) {
  const Variable rest = reduce(reduction_of(node), scaled.rest, reduced_axes(reduction_of(node), scaled.rest.ndim()));
  return one(fit(scaled.divides ? rest / outside : outside * rest, node.output()));
}

// Whether a sum of `terms` over the axes surely has a term.
bool has_terms(const Variable& terms, const AxisList& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](int axis) { return terms.static_shape()[std::size_t(axis)] > 0; });
}

// Whether a sum of `terms` over the axes has no term, where only a call knows.
Variable has_no_terms(const Variable& terms, const AxisList& axes) {
  Variable out;
  for (int axis : axes) {
    if (terms.static_shape()[std::size_t(axis)] > 0) continue;
    const Variable is_empty = eq(length_of(terms, axis), int64_constant(0));
    out = out.defined() ? or_(out, is_empty) : is_empty;
  }
  return out;
}

// A factor of a sum of `terms`: 1 in place of it where the sum has no terms, since the sum is 0 then, also of terms
// that would be infinite or nan.
Variable factor_of_terms(const Variable& factor, const Variable& terms, const AxisList& axes) {
  if (has_terms(terms, axes) || is_always_finite(factor)) return factor;
  return switch_(has_no_terms(terms, axes), constant_like(1, factor.dtype()), factor);
}

// sum(a * x) is a * sum(x) where a is the same for all terms; likewise x / a.
std::optional<Variables> sum_of_scaled(FunctionGraph& graph, const Apply& node) {
  if (!is_float_reduction(node, "sum")) return std::nullopt;
  const auto scaled = scaled_terms(graph, node);
  if (!scaled) return std::nullopt;
  const AxisList axes = reduced_axes(reduction_of(node), node.input(0).ndim());
  if (scaled->divides && !has_terms(scaled->rest, axes)) {
    const double divisor = scalar_constant(scaled->factor).value_or(0);
    if (divisor == 0 || std::isnan(divisor)) return std::nullopt;
  }
  const Variable factor = without(scaled->factor, axes);
  return taken_out(*scaled, scaled->divides ? factor : factor_of_terms(factor, scaled->rest, axes), node);
}

// prod(a * x) of n elements is a ** n * prod(x). For many elements the power overflows or underflows long before the
// product does, so that the rule for these applies only on request.
constexpr std::int64_t few_elements = 8;

std::optional<Variables> prod_of_scaled(FunctionGraph& graph, const Apply& node, std::int64_t max_elements) {
  if (!is_float_reduction(node, "prod")) return std::nullopt;
  const Variable& product = node.input(0);
  const AxisList axes = reduced_axes(reduction_of(node), product.ndim());
  std::int64_t known = 1;
  Variable count;
  for (int axis : axes) {
    const Variable length = length_of(product, axis);
    const std::int64_t elements = product.static_shape()[std::size_t(axis)];
    known = elements == unknown_length || known > max_elements ? max_elements + 1 : known * elements;
    count = count.defined() ? lengths::mul(count, length) : length;
  }
  if (!count.defined() || known > max_elements) return std::nullopt;
  const auto scaled = scaled_terms(graph, node);
  if (!scaled) return std::nullopt;
  return taken_out(*scaled, pow(without(scaled->factor, axes), cast(count, node.output().dtype())), node);
}

// The sum of (x[b, c] * y[a, c]) ** 2 over b and c, the squared gradients of single examples, is the sum of x[b, c] **
// 2 over b, then one matrix product.
std::optional<Variables> sum_of_squared_outer(FunctionGraph& graph, const Apply& node) {
  if (!is_float_reduction(node, "sum") || node.input(0).ndim() != 3) return std::nullopt;
  const Variable& square = node.input(0);
  if (!is_elemwise(square, "sqr") || graph.clients(square).size() != 1) return std::nullopt;
  const Variable product = square.owner().input(0);
  if (!is_elemwise(product, "mul") || product.dtype() != square.dtype()) return std::nullopt;
  if (reduced_axes(reduction_of(node), 3) != AxisList{1, 2}) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    const Variable &x = product.owner().input(i), &y = product.owner().input(1 - i);
    const auto *of_x = op_as<DimShuffle>(x), *of_y = op_as<DimShuffle>(y);
    if (!of_x || !of_y || x.dtype() != y.dtype()) continue;
    if (of_x->new_order != AxisList{new_axis, 0, 1} || of_y->new_order != AxisList{0, new_axis, 1}) continue;
    const Variable rows = x.owner().input(0), examples = y.owner().input(0);
    if (is_one(rows, 1) != is_one(examples, 1)) continue;  // one of them is broadcast
    const Variable factor = factor_of_terms(examples, rows, {0});
    return one(fit(dot(sqr(factor), reduce(reduction_of(node), sqr(rows), {0})), node.output()));
  }
  return std::nullopt;
}

// The sum of a product of matrices over its rows, its columns, or both needs no product of matrices: x and y are summed
// first.
std::optional<Variables> sum_of_product(FunctionGraph& graph, const Apply& node) {
  const Variable& product = node.input(0);
  if (!op_as<Dot>(product) && !op_as<BatchedDot>(product)) return std::nullopt;
  if (!is_float_reduction(node, "sum") || graph.clients(product).size() != 1) return std::nullopt;
  Variables operands(product.owner().inputs().begin(), product.owner().inputs().end());
  const int rank = product.ndim();
  for (const Variable& operand : operands)
    if (rank < 2 || operand.ndim() != rank || operand.dtype() != node.output().dtype()) return std::nullopt;
  const CAReduce& op = reduction_of(node);
  bool is_smaller = false;
  for (int axis : {rank - 2, rank - 1}) {
    Variable& operand = operands[std::size_t(axis - (rank - 2))];
    if (!op.reduces(axis) || is_one(operand, axis)) continue;
    AxisList kept(std::size_t(rank), new_axis);
    for (int i = 0, from = 0; i < rank; ++i)
      if (i != axis) kept[std::size_t(i)] = from++;
    operand = dimshuffle(reduce(op, operand, {axis}), kept);
    is_smaller = true;
  }
  if (!is_smaller) return std::nullopt;
  const Variable total = reduce(op, product.owner().op()(operands), reduced_axes(op, rank));
  // Without rows or columns the sum is 0, where the sum of an operand would be 0 times the other one's elements.
  Variable is_empty;
  for (int side : {0, 1}) {
    const int axis = rank - 2 + side;
    const Variable &operand = product.owner().input(side), &other = product.owner().input(1 - side);
    if (!op.reduces(axis) || has_terms(operand, {axis}) || is_always_finite(other)) continue;
    const Variable none = has_no_terms(operand, {axis});
    is_empty = is_empty.defined() ? or_(is_empty, none) : none;
  }
  return one(fit(is_empty.defined() ? switch_(is_empty, 0, total) : total, node.output()));
}

// -max(-x) is min(x).
std::optional<Variables> max_to_min(FunctionGraph&, const Apply& node) {
  const auto* op = op_as<CAReduce>(node.input(0));
  if (!op || (op->kind.name != "max" && op->kind.name != "min") || !is_float(node.output().dtype()))
    return std::nullopt;
  const Variable negated = node.input(0).owner().input(0);
  if (!is_elemwise(negated, "neg")) return std::nullopt;
  const CAReduce other(reduction(op->kind.name == "max" ? "min" : "max"), op->axes);
  return one(reduce(other, negated.owner().input(0), reduced_axes(other, negated.ndim())));
}

void declare_reductions(Rules& rules) {
  const Root reductions = Root::op({"CAReduce"});
  const auto over = [](int axis) { return AxisList{axis}; };
  auto row = [] { return sample_leaf(DType::Float64, {1, any_length}); };
  auto number = [] { return sample_leaf(DType::Float64, {}); };
  auto length = [] { return sample_leaf(DType::Int64, {}); };
  rules.function("reduce_single_dimension", reductions, drop_single_dimensions)
      .doc("Drops dimensions of length 1 instead of reducing them.")
      .tags(useless, canonicalize, specialize, uncanonicalize, "local_reduce_broadcastable", "local_useless_reduce",
            "local_cut_useless_reduce")
      .sample([=] { return sum(row()); })
      .sample([=] { return max(row(), over(0)); })
      .sample([=] { return sum(sample_leaf(DType::Int8, {})); });
  rules.function("reduce_of_reduce", reductions, reduce_of_reduce)
      .doc("Merges nested reductions of the same kind.")
      .tags(canonicalize, "local_reduce_chain")
      .sample([=] { return sum(sum(sample_matrix(), over(1))); })
      .sample([=] {
        return max(max(sample_leaf(DType::Int32, {2, 3, 4}), over(0)), over(1));
      });
  rules.function("reduce_of_dimshuffle", reductions, reduce_of_dimshuffle)
      .doc("Reduces the input of a DimShuffle instead of its output.")
      .tags(canonicalize, specialize)
      .sample([=] { return sum(transpose(sample_matrix())); })
      .sample([=] {
        return prod(dimshuffle(sample_leaf(DType::Float64, {2, 3, 4}), {2, new_axis, 0, 1}), over(2));
      });
  rules.function("reduce_of_alloc", reductions, reduce_of_alloc)
      .doc(
          "Rewrites the sum of a broadcast value as a multiple of it, the product as a power, and the maximum as the "
          "value.")
      .tags(canonicalize, specialize, shape_unsafe, "local_careduce_of_alloc")
      .sample([=] {
        return sum(alloc(number(), {length(), length()}), over(0));
      })
      .sample([=] { return prod(alloc(number(), {length()})); })
      .sample([=] {
        return max(alloc(sample_vector(), {Operand(3), length()}), over(0));
      })
      .sample([=] { return any(alloc(sample_leaf(DType::Bool, {}), {length()})); })
      .sample([=] { return all(alloc(sample_leaf(DType::Bool, {}), {length()})); })
      .sample([=] {
        return sum(alloc(sample_vector(), {length(), length()}), over(0));
      });
  rules.function("reduce_of_make_vector", reductions, reduce_of_make_vector)
      .doc("Rewrites the sum or product of a few scalars in a MakeVector as scalar operations.")
      .tags(useless, canonicalize, specialize, "local_sum_make_vector")
      .sample([=] {
        return sum(make_vector({number(), number(), number()}));
      })
      .sample([=] {
        return prod(make_vector({length(), length()}));
      });
  rules.function("reduce_of_join", reductions, reduce_of_join)
      .doc(
          "Rewrites a reduction over the axis along which single rows were joined as an elementwise combination of the "
          "rows.")
      .tags(canonicalize, uncanonicalize, "local_reduce_join")
      .sample([=] {
        return sum(join(0, {row(), row(), row()}), over(0));
      })
      .sample([=] {
        return max(stack({sample_vector(), sample_vector()}), over(0));
      });
  rules.function("sum_of_neg", reductions, sum_of_neg)
      .doc("Rewrites sum(-x) as -sum(x).")
      .tags(canonicalize, specialize, "local_sum_of_neg_to_neg_of_sum")
      .no_signed_zeros()
      .sample([=] { return sum(-sample_matrix(), over(0)); });
  rules.function("sum_of_scaled", reductions, sum_of_scaled)
      .doc(
          "Moves a factor or divisor that is the same for all terms out of a sum; the sum of exp(x) / sum(exp(x)) is "
          "1.")
      .tags(canonicalize, specialize, "local_sum_prod_of_mul_or_div")
      .wider_domain()
      .sample([=] { return sum(2 * exp(sample_matrix())); })
      .sample([=] { return sum(exp(sample_matrix()) * expand_dims(sample_vector(), 1), over(1)); })
      .sample([=] {
        return sum(exp(sample_leaf(DType::Float64, {3, 4})) / number(), over(1));
      })
      .sample([=] { return sum(exp(sample_matrix()) / 3.0); })
      .sample([=] {
        const Variable e = exp(sample_leaf(DType::Float64, {3, 4}));
        return sum(e / sum(e, over(1), KeepDims::Yes), over(1));
      });
  rules
      .function("prod_of_scaled", reductions,
                [](FunctionGraph& graph, const Apply& node) { return prod_of_scaled(graph, node, few_elements); })
      .doc("Rewrites prod(a * x) over a few elements as a ** n * prod(x), where a is the same for all.")
      .tags(canonicalize, specialize, "local_sum_prod_of_mul_or_div")
      .wider_domain()
      .sample([=] { return prod(number() * exp(sample_leaf(DType::Float64, {3}))); })
      .sample([=] {
        return prod(exp(sample_leaf(DType::Float64, {any_length, 2})) / expand_dims(sample_vector(), 1), over(1));
      });
  rules
      .function("long_prod_of_scaled", reductions,
                [](FunctionGraph& graph, const Apply& node) {
                  return prod_of_scaled(graph, node, std::numeric_limits<std::int64_t>::max() - 1);
                })
      .doc(
          "Rewrites prod(a * x) over any number n of elements as a ** n * prod(x); the power may overflow where the "
          "product does not.")
      .tags(canonicalize, specialize, unsafe, "local_sum_prod_of_mul_or_div")
      .wider_domain()
      .sample([=] { return prod(2 * exp(sample_leaf(DType::Float64, {20}))); })
      .sample([=] {
        return prod(exp(sample_leaf(DType::Float64, {9, 2})) * sample_leaf(DType::Float64, {2}), over(0));
      });
  rules.function("sum_of_squared_outer", reductions, sum_of_squared_outer)
      .doc("Rewrites the sum of sqr(x[b, c] * y[a, c]) over b and c as dot(sqr(y), sum(sqr(x), axis=0)).")
      .tags(canonicalize, specialize, "local_sumsqr2dot")
      .depth(4)
      .wider_domain()
      .sample([=] {
        return sum(sqr(dimshuffle(sample_matrix(), {new_axis, 0, 1}) * dimshuffle(sample_matrix(), {0, new_axis, 1})),
                   AxisList{1, 2});
      });
  rules.function("sum_of_product", reductions, sum_of_product)
      .doc(
          "Rewrites the sum of a product of matrices over its rows or columns as a product with the sums of an "
          "operand.")
      .tags(canonicalize, specialize)
      .depth(2)
      .wider_domain()
      .sample([=] { return sum(dot(sample_matrix(), sample_matrix())); })
      .sample([=] { return sum(dot(sample_matrix(), sample_matrix()), over(0)); })
      .sample([=] { return sum(dot(sample_matrix(), sample_matrix()), over(1)); })
      .sample([=] {
        const auto stack = [](std::int64_t rows, std::int64_t columns) {
          return sample_leaf(DType::Float64, {any_length, rows, columns});
        };
        return sum(matmul(stack(2, 3), stack(3, 4)), over(2));
      });
  rules.function("max_to_min", Root::scalar({"neg"}), max_to_min)
      .doc("Rewrites -max(-x) as min(x), and -min(-x) as max(x).")
      .tags(uncanonicalize, "local_max_to_min")
      .sample([=] { return -max(-sample_matrix(), over(0)); });
}

const RegisterRules register_reductions("reductions", declare_reductions);

}  // namespace

}  // namespace bitale::rewriting
