// Reductions. Sums of floats are pairwise and accumulate in float64; lengths, dtypes and the treatment of nan and of
// empty axes are as in NumPy.
#include "ops/reductions/reduce.hpp"
#include "ops/analysis/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/interval.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/regions.hpp"
#include "ops/reductions/cum_op.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

using program::Combiner;

namespace {

constexpr Reduction reductions[] = {
    {"sum", "Sum", "add", Combiner::add, true},
    {"prod", "Prod", "mul", Combiner::mul, true},
    {"max", "Max", "maximum", Combiner::max, false, false},
    {"min", "Min", "minimum", Combiner::min, false, false},
    {"supremum", "Supremum", "maximum", Combiner::max},
    {"all", "All", "and", Combiner::bit_and},
    {"any", "Any", "or", Combiner::bit_or},
};

// ---- evaluation ----------------------------------------

struct Regions {
  Region kept, reduced;
};

Regions split(const CAReduce& op, const Array& x) {
  Regions out;
  for (int axis = 0; axis < x.ndim(); ++axis)
    (op.reduces(axis) ? out.reduced : out.kept).add_axis(x.shape(axis), x.strides()[std::size_t(axis)]);
  return out;
}

template <Combiner combiner, class Acc>
Acc combine_values(Acc a, Acc b) {
  if constexpr (combiner == Combiner::add) {
    if constexpr (std::is_floating_point_v<Acc>)
      return a + b;
    else
      return Acc(std::uint64_t(a) + std::uint64_t(b));
  } else if constexpr (combiner == Combiner::mul) {
    if constexpr (std::is_floating_point_v<Acc>)
      return a * b;
    else
      return Acc(std::uint64_t(a) * std::uint64_t(b));
  } else if constexpr (combiner == Combiner::max) {
    return a >= b || a != a ? a : b;  // nan on either side wins
  } else if constexpr (combiner == Combiner::min) {
    return a <= b || a != a ? a : b;
  } else if constexpr (combiner == Combiner::bit_and) {
    return a && b;
  } else {
    return a || b;
  }
}

// Reduces a region of at least one element by halving: rounding errors grow with the logarithm of the length.
template <Combiner combiner, class T, class Acc>
struct Reducer {
  const Region& region;

  static Acc run(const char* at, std::int64_t count, std::int64_t stride) {
    constexpr std::int64_t lanes = 8, block = 128;
    if (count > block) {
      const std::int64_t half = count / 2 / lanes * lanes;
      return combine_values<combiner>(run(at, half, stride), run(at + half * stride, count - half, stride));
    }
    auto element = [&](std::int64_t i) { return Acc(*reinterpret_cast<const T*>(at + i * stride)); };
    if (count < 2 * lanes) {
      Acc total = element(0);
      for (std::int64_t i = 1; i < count; ++i) total = combine_values<combiner>(total, element(i));
      return total;
    }
    Acc part[lanes];
    for (std::int64_t k = 0; k < lanes; ++k) part[k] = element(k);
    std::int64_t i = lanes;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t k = 0; k < lanes; ++k) part[k] = combine_values<combiner>(part[k], element(i + k));
    for (; i < count; ++i) part[i % lanes] = combine_values<combiner>(part[i % lanes], element(i));
    for (std::int64_t width = lanes / 2; width; width /= 2)
      for (std::int64_t k = 0; k < width; ++k) part[k] = combine_values<combiner>(part[k], part[k + width]);
    return part[0];
  }

  Acc all(const char* at, std::size_t axis = 0) const {
    if (region.lengths.empty()) return Acc(*reinterpret_cast<const T*>(at));
    if (axis + 1 == region.lengths.size()) return run(at, region.lengths[axis], region.strides[axis]);
    return slices(at, axis, region.lengths[axis]);
  }

  Acc slices(const char* at, std::size_t axis, std::int64_t count) const {
    if (count == 1) return all(at, axis + 1);
    const std::int64_t half = count / 2;
    return combine_values<combiner>(slices(at, axis, half),
                                    slices(at + half * region.strides[axis], axis, count - half));
  }
};

template <Combiner combiner, class T, class Acc>
void reduce_into(const CAReduce& op, const Array& x, const Array& out) {
  const Regions regions = split(op, x);
  const Reducer<combiner, T, Acc> reducer{regions.reduced};
  const char* const data = static_cast<const char*>(x.data());
  Acc* to = out.mutable_data_as<Acc>();
  for_each_position(regions.kept, [&](std::int64_t offset) { *to++ = reducer.all(data + offset); });
}

template <Combiner combiner, class T>
void reduce_into(const CAReduce& op, const Array& x, const Array& out) {
  if constexpr (combiner == Combiner::add || combiner == Combiner::mul) {
    if (out.dtype() == DType::Float64) return reduce_into<combiner, T, double>(op, x, out);
    if (out.dtype() == DType::UInt64) return reduce_into<combiner, T, std::uint64_t>(op, x, out);
    if constexpr (!is_float_type<T>) reduce_into<combiner, T, std::int64_t>(op, x, out);
  } else {
    reduce_into<combiner, T, std::conditional_t<is_half<T>, float, T>>(op, x, out);
  }
}

template <class T>
void reduce_into(const CAReduce& op, const Array& x, const Array& out) {
  switch (op.kind.combiner) {
    case Combiner::add: return reduce_into<Combiner::add, T>(op, x, out);
    case Combiner::mul: return reduce_into<Combiner::mul, T>(op, x, out);
    case Combiner::max: return reduce_into<Combiner::max, T>(op, x, out);
    case Combiner::min: return reduce_into<Combiner::min, T>(op, x, out);
    case Combiner::bit_and: return reduce_into<Combiner::bit_and, T>(op, x, out);
    case Combiner::bit_or: return reduce_into<Combiner::bit_or, T>(op, x, out);
  }
}

Array identity_array(Combiner combiner, DType dtype, const Dims& shape) {
  if (combiner != Combiner::max)
    return Array::full(dtype, shape, combiner == Combiner::mul || combiner == Combiner::bit_and ? 1 : 0);
  if (is_float(dtype)) return Array::full(dtype, shape, -HUGE_VAL);
  return visit_dtype(dtype,
                     [&]<class T>() { return Array::full(dtype, shape, double(std::numeric_limits<T>::lowest())); });
}

// d prod / d x, elementwise: the product of the other elements, as the product of those before times the product of
// those behind. Dividing the product by x would be wrong where x is 0, and elsewhere for derivatives of this
// derivative.
Variable product_of_others(const CAReduce& op, const Variable& x) {
  Variable others, rest = x;  // the product over the axes so far, kept as dimensions of length 1
  for (const int axis : axes_or_all(op.kind.name, op.axes, x.ndim())) {
    const Variable along = product_before(rest, axis) * product_behind(rest, axis);
    others = others.defined() ? others * along : along;
    rest = prod(rest, std::vector<int>{axis}, KeepDims::Yes);
  }
  return others.defined() ? others : ones_like(x);
}

}  // namespace

// ---- shared with Argmax ----------------------------------------

std::string empty_message(std::string_view op) {
  return cat(op, ": an axis of length 0 has no ", op.substr(op.size() - 3) == "max" ? "largest" : "smallest",
             " element");
}

std::string axes_label(std::string_view title, const std::optional<std::vector<int>>& axes) {
  if (!axes) return cat(title, "{axes=None}");
  if (axes->size() == 1) return cat(title, "{axis=", axes->front(), "}");
  return cat(title, "{axes=", attribute_text(to_attribute(*axes)), "}");
}

DType accumulated_dtype(DType dtype) {
  if (!is_discrete(dtype)) return dtype;
  return kind(dtype) == DTypeKind::UInt ? DType::UInt64 : DType::Int64;
}

const Variable& single_input(std::string_view op, std::span<const Variable> inputs) {
  if (inputs.size() != 1) throw TypeError(cat(op, ": expected 1 operand, got ", inputs.size()));
  return inputs[0];
}

const Reduction& reduction(std::string_view name) {
  for (auto& kind : reductions)
    if (kind.name == name) return kind;
  throw KeyError(cat("no reduction is called \"", name, "\""));
}

// ---- axes ----------------------------------------

std::vector<int> normalized_axes(std::string_view op, std::span<const int> axes, int rank) {
  std::vector<int> out;
  for (int axis : axes) {
    if (axis < -rank || axis >= rank)
      throw AxisError(cat(op, ": axis ", axis, " is out of range for a tensor of rank ", rank));
    out.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(out.begin(), out.end());
  if (auto twice = std::adjacent_find(out.begin(), out.end()); twice != out.end())
    throw ValueError(cat(op, ": axis ", *twice, " is given twice"));
  return out;
}

std::vector<int> axes_or_all(std::string_view op, const std::optional<std::vector<int>>& axes, int rank) {
  if (axes) return normalized_axes(op, *axes, rank);
  std::vector<int> all(static_cast<std::size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Variable keep_dimensions(const Variable& y, std::span<const int> axes, int rank) {
  if (axes.empty()) return y;
  std::vector<int> order;
  int next = 0;
  for (int axis = 0; axis < rank; ++axis)
    order.push_back(std::find(axes.begin(), axes.end(), axis) == axes.end() ? next++ : new_axis);
  return dimshuffle(y, order);
}

// ---- CAReduce ----------------------------------------

bool CAReduce::reduces(int axis) const { return !axes || std::find(axes->begin(), axes->end(), axis) != axes->end(); }

DType CAReduce::accumulator(DType input) const {
  if (!kind.widens) return computing_dtype(input);
  if (is_float(input) || is_float(*dtype)) return DType::Float64;
  return bitale::kind(input) == DTypeKind::UInt ? DType::UInt64 : DType::Int64;
}

Attributes CAReduce::attributes() const {
  Attributes out{{"scalar_op", std::string(kind.scalar_name)}, {"name", std::string(kind.name)}};
  if (axes) out.push_back({"axis", to_attribute(*axes)});
  if (dtype) out.push_back({"dtype", *dtype});
  return out;
}

OpRef CAReduce::component_op() const {
  return OpRef(new CAReduce(kind, axes, dtype ? std::optional(component_dtype(*dtype)) : dtype));
}

std::string CAReduce::label() const { return axes_label(kind.title, axes); }

Apply CAReduce::make_node(std::span<const Variable> inputs) const {
  const Variable& x = single_input(kind.name, inputs);
  const bool logical = kind.combiner == Combiner::bit_and || kind.combiner == Combiner::bit_or;
  if (logical && x.dtype() != DType::Bool)
    throw TypeError(cat(kind.name, ": expected bool, got ", dtype_name(x.dtype())));
  if (kind.widens && !dtype) return make_ref<CAReduce>(kind, axes, accumulated_dtype(x.dtype()))->make_node(inputs);
  if (dtype && kind.widens && is_complex(*dtype) != is_complex(x.dtype())) {
    if (is_complex(x.dtype()))
      throw TypeError(cat(kind.name, ": can't reduce ", dtype_name(x.dtype()), " in dtype ", dtype_name(*dtype),
                          ": imaginary parts would be lost"));
    return make_node(std::vector{cast(x, *dtype)});
  }
  if (dtype && is_discrete(*dtype) && !is_discrete(x.dtype()))
    throw TypeError(cat(kind.name, ": can't reduce ", dtype_name(x.dtype()), " in dtype ", dtype_name(*dtype),
                        ": precision would be lost"));
  if (axes && !axes->empty() && axes->back() >= x.ndim())
    throw AxisError(cat(kind.name, ": axis ", axes->back(), " is out of range for a tensor of rank ", x.ndim()));
  Dims shape;
  bool known_empty = false;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (!reduces(axis))
      shape.push_back(x.static_shape()[std::size_t(axis)]);
    else
      known_empty |= x.static_shape()[std::size_t(axis)] == 0;
  }
  const auto has_elements = [](std::int64_t length) { return length > 0; };
  if (known_empty && !kind.has_identity && std::ranges::all_of(shape, has_elements))
    throw ValueError(empty_message(kind.name));
  return Apply(OpRef(this), {x}, {tensor_type(dtype.value_or(x.dtype()), shape)});
}

std::vector<Shape> CAReduce::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out;
  for (std::size_t axis = 0; axis < inputs[0].size(); ++axis)
    if (!reduces(int(axis))) out.push_back(inputs[0][axis]);
  return {out};
}

namespace {

// The slices are multiplied sequentially.
Array complex_product(const CAReduce& op, const Array& x) {
  Array rest = x.astype(DType::Complex128);
  for (int axis = x.ndim(); axis-- > 0;) {
    if (!op.reduces(axis)) continue;
    Dims shape = rest.shape();
    shape.erase(std::size_t(axis));
    const Array out = Array::full(DType::Complex128, shape, 1).contiguous();
    auto* products = out.mutable_data_as<std::complex<double>>();
    for (std::int64_t k = 0; k < rest.shape(axis); ++k) {
      const Array slice = rest.take_index(axis, k).contiguous();
      const auto* factors = slice.data_as<std::complex<double>>();
      for (std::int64_t i = 0; i < slice.size(); ++i) {
        const std::complex<double> a = products[i], b = factors[i];
        products[i] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
      }
    }
    rest = out;
  }
  rest = rest.astype(op.dtype.value_or(x.dtype()));
  return rest.shares_memory_with(x) ? rest.copy() : rest;  // if no axis is reduced
}

}  // namespace

void CAReduce::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const Array& x = in[0];
  if (is_complex(x.dtype())) {
    out[0] = complex_product(*this, x);
    return;
  }
  Dims shape;
  bool empty = false;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (!reduces(axis))
      shape.push_back(x.shape(axis));
    else
      empty |= x.shape(axis) == 0;
  }
  const DType acc = accumulator(x.dtype());
  Array result;
  if (empty) {
    if (!kind.has_identity && product(shape) != 0) throw ValueError(empty_message(kind.name));
    result = identity_array(kind.combiner, acc, shape);
  } else {
    result = Array::empty(acc, shape);
    if (result.size() != 0) visit_dtype(x.dtype(), [&]<class T>() { reduce_into<T>(*this, x, result); });
  }
  out[0] = result.astype(node.output().dtype());
}

bool CAReduce::emit(Lowering& to, const Apply& node) const {
  const Variable& x = node.input(0);
  const std::span<const Expr> lengths = to.shape_in(0);
  std::vector<bool> reduced;
  Expr something = to.pool().boolean(true), no_output = to.pool().boolean(false);
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const Expr length = lengths[std::size_t(axis)];
    reduced.push_back(reduces(axis));
    if (reduces(axis))
      something = something & (length > 0);
    else
      no_output = no_output | program::equal(length, 0);
  }
  if (!kind.has_identity) to.require(something | no_output, empty_message(kind.name));
  const DType acc = accumulator(x.dtype());
  Combiner combiner = kind.combiner;
  if (acc == DType::Bool && combiner == Combiner::max) combiner = Combiner::bit_or;
  if (acc == DType::Bool && combiner == Combiner::min) combiner = Combiner::bit_and;
  to.scan(0, {.combiner = combiner,
              .domain = {lengths.begin(), lengths.end()},
              .along = std::move(reduced),
              .dtype = acc,
              .value = [&to](Index at) { return to.in(0, at); }});
  return true;
}

// Computed in the dtype of the result, in an order chosen by the target.
void CAReduce::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  const DType dtype = node.output().dtype();
  const TensorValue x = builder.convert(to.in(0), computing_dtype(dtype));
  std::vector<int> over;
  Dims kept;
  bool is_empty = false;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::int64_t length = x.lengths[std::size_t(axis)];
    if (!reduces(axis)) {
      kept.push_back(length);
      continue;
    }
    over.push_back(axis);
    is_empty |= length == 0;
  }
  if (is_empty && !kind.has_identity && product(kept) != 0) throw ValueError(empty_message(kind.name));
  to.out(0, builder.convert(builder.reduce(x, kind.combiner, over), dtype));
}

std::optional<Array> CAReduce::dependencies(const Apply&, int, InputDependencies& inputs) const {
  const Array given = *inputs.of(0);
  std::vector<int> order;
  for (const bool reduced : {false, true})
    for (int axis = 0; axis < given.ndim(); ++axis)
      if (reduces(axis) == reduced) order.push_back(axis);
  std::int64_t count = 1;
  for (const std::int64_t length : inputs.lengths()) count *= length;
  if (count == 0) return Array::zeros(DType::Int64, inputs.lengths());
  const Array rows = given.transpose(order).contiguous().reshape({count, given.size() / count});
  return united_rows(inputs.sets(), rows).reshape(inputs.lengths());
}

std::vector<std::vector<bool>> CAReduce::connection_pattern(const Apply& node) const {
  return {{!is_discrete(node.output().dtype())}};
}

Variables CAReduce::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const Variable& x = node.input(0);
  if (cotangents[0].is_disconnected() || is_discrete(node.output().dtype())) return {disconnected()};
  if (is_discrete(x.dtype())) return {zeros_like(x, config::float_x())};
  const std::vector<int> over = axes_or_all(kind.name, axes, x.ndim());
  const Variable g = keep_dimensions(cotangents[0], over, x.ndim());
  if (kind.combiner == Combiner::add) return {cast(second(x, g), x.dtype())};
  if (kind.combiner == Combiner::mul) {
    const auto [value, support] = restricted_value(g);
    const Variable slope = product_of_others(*this, x);
    return {cast(restricted(value * (is_complex(x) ? conj(slope) : slope), support), x.dtype())};
  }
  // Every element that equals the extreme value gets the whole gradient.
  const Variable extreme = keep_dimensions(node.output(), over, x.ndim());
  return {cast(switch_(eq(x, extreme), g, 0), x.dtype())};
}

Variables CAReduce::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  const Variable &x = node.input(0), &t = tangents[0];
  const DType out = node.output().dtype();
  if (t.is_disconnected() || is_discrete(out)) return {disconnected()};
  if (is_discrete(x.dtype())) return {zeros_like(node.output())};
  const std::vector<int> over = axes_or_all(kind.name, axes, x.ndim());
  if (kind.combiner == Combiner::add) return {cast(sum(t, over), out)};
  if (kind.combiner == Combiner::mul) {
    const auto [value, support] = restricted_value(t);
    return {cast(sum(restricted(value * product_of_others(*this, x), support), over), out)};
  }
  const Variable extreme = keep_dimensions(node.output(), over, x.ndim());
  return {cast(sum(switch_(eq(x, extreme), t, 0), over), out)};
}

std::vector<int> CAReduce::support_carriers(const Apply&, int) const {
  return kind.combiner == Combiner::add ? std::vector<int>{0} : std::vector<int>();
}

Support CAReduce::support(const Apply& node, int, std::span<const Support> inputs) const {
  return support_of_sum(inputs[0], axes_or_all(kind.name, axes, node.input(0).ndim()));
}

Structure CAReduce::structure(const Apply& node, int, InputStructures&) const {
  if (node.output().ndim() < 2) return {};
  const Exchanged found = exchanged_matrix(node.output());
  return found == Exchanged::same      ? Structure{Fact::Symmetric}
         : found == Exchanged::negated ? Structure{Fact::SkewSymmetric}
                                       : Structure{};
}

Apply CAReduce::vectorize_along(const Batch& batch) const {
  if (batch.ndim() == 0) return make_node(batch.inputs);
  std::vector<int> moved = axes_or_all(kind.name, axes, batch.node.input(0).ndim());
  for (int& axis : moved) axis += batch.before();
  return OpRef(new CAReduce(kind, moved, dtype))->make_node(batch.inputs);
}

// ---- public functions ----------------------------------------

namespace {

Variable reduce(std::string_view name, const Variable& x, const Axes& axis, KeepDims keepdims,
                std::optional<DType> dtype) {
  std::optional<std::vector<int>> axes;
  if (axis) axes = normalized_axes(name, *axis, x.ndim());
  if (axes && int(axes->size()) == x.ndim()) axes.reset();  // the canonical form of "all"
  const Variable inputs[] = {x};
  const Variable y = OpRef(new CAReduce(reduction(name), axes, dtype))->operator()(inputs);
  return keepdims == KeepDims::Yes ? keep_dimensions(y, axes_or_all(name, axes, x.ndim()), x.ndim()) : y;
}

// A sum or product. Floats are accumulated as floats even if the result has an integer dtype; the result is converted.
Variable accumulated(std::string_view name, const Variable& x, const Axes& axis, KeepDims keepdims,
                     std::optional<DType> dtype) {
  if (dtype && is_discrete(*dtype) && is_float(x.dtype()))
    return cast(reduce(name, x, axis, keepdims, x.dtype()), *dtype);
  return reduce(name, x, axis, keepdims, dtype.value_or(accumulated_dtype(x.dtype())));
}

}  // namespace

Variable sum(const Operand& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return accumulated("sum", x.variable, axis, keepdims, dtype);
}
Variable prod(const Operand& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return accumulated("prod", x.variable, axis, keepdims, dtype);
}
Variable max(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return reduce("max", x.variable, axis, keepdims, {});
}
Variable min(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return reduce("min", x.variable, axis, keepdims, {});
}
Variable supremum(const Variable& x, const std::vector<int>& axes) {
  return reduce("supremum", x, axes, KeepDims::Yes, {});
}
Variable all(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return reduce("all", truth(x.variable), axis, keepdims, {});
}
Variable any(const Operand& x, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  return reduce("any", truth(x.variable), axis, keepdims, {});
}

// ---- samples ----------------------------------------

namespace {

std::vector<Sample> reduce_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](const Reduction& kind, DType dtype, const Dims& type, const Dims& lengths,
                 std::optional<std::vector<int>> axes) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    std::optional<DType> result;
    if (kind.widens) result = accumulated_dtype(dtype);
    out.push_back({OpRef(new CAReduce(kind, axes, result))->make_node(x),
                   {sample_values(dtype, lengths)},
                   1e-6,
                   true,
                   cat(kind.name, " of ", dtype_short_name(dtype))});
  };
  for (auto& kind : reductions) {
    const bool logical = kind.combiner == Combiner::bit_and || kind.combiner == Combiner::bit_or;
    for (DType dtype : real_dtypes())
      if (!logical || dtype == DType::Bool) add(kind, dtype, {any, 3}, {4, 3}, std::vector<int>{0});
    const DType dtype = logical ? DType::Bool : DType::Float64;
    add(kind, dtype, {any, any}, {3, 4}, std::nullopt);
    add(kind, dtype, {any, any}, {3, 4}, std::vector<int>{1});
    add(kind, dtype, {any, 1, any}, {2, 1, 5}, std::vector<int>{0, 2});
    add(kind, dtype, {any, any, any}, {2, 3, 2}, std::vector<int>{1});
    add(kind, dtype, {any, any}, {3, 2}, std::vector<int>{});
    add(kind, dtype, {}, {}, std::nullopt);
    add(kind, dtype, {any, any}, {0, 3}, kind.has_identity ? std::vector<int>{0} : std::vector<int>{1});
  }
  // Long enough for every branch of the pairwise sum.
  add(reduction("sum"), DType::Float64, {any}, {1003}, std::nullopt);
  add(reduction("sum"), DType::Float32, {any}, {1003}, std::nullopt);
  const Variable x[] = {sample_input(DType::Float64, {any}, "x")};
  const double nan = std::nan("");
  for (auto& kind : reductions) {
    if (kind.combiner == Combiner::bit_and || kind.combiner == Combiner::bit_or) continue;
    std::optional<DType> dtype;
    if (kind.widens) dtype = DType::Float64;
    const Apply node = OpRef(new CAReduce(kind, std::nullopt, dtype))->make_node(x);
    out.push_back({node, {Array{1.0, nan, 2.0}}, 1e-6, false, cat(kind.name, " with nan")});
    out.push_back({node, {Array{1.0, HUGE_VAL, -3.0}}, 1e-6, false, cat(kind.name, " with inf")});
  }
  // The product's derivative where elements are zero.
  const Apply product = OpRef(new CAReduce(reduction("prod"), std::nullopt, DType::Float64))->make_node(x);
  out.push_back({product, {Array{2.0, 0.0, 3.0}}, 1e-6, true, "prod with one zero"});
  out.push_back({product, {Array{0.0, 0.0, 3.0}}, 1e-6, true, "prod with two zeros"});
  return out;
}

OpRef make_reduction(const Attributes& attributes) {
  return make_ref<CAReduce>(reduction(required_attribute<std::string>(attributes, "name")),
                            optional_attribute<std::vector<int>>(attributes, "axis"),
                            optional_attribute<DType>(attributes, "dtype"));
}

BITALE_REGISTER_OP_MADE_BY(CAReduce, make_reduction,
                           "Sum, product, maximum, minimum, all or any over some or all axes.", reduce_samples);

}  // namespace

// An empty sum is 0, an empty product 1.
Range CAReduce::range(const Apply&, int, InputRanges& inputs) const {
  using namespace interval;
  const Range a = inputs.of(0);
  if (kind.name == "max" || kind.name == "min") return a;
  if (kind.name == "supremum") return {-HUGE_VAL, a.high};
  if (kind.name == "sum") return a.low >= 0 ? at_least(0) : a.high <= 0 ? negated(at_least(0)) : Range{};
  if (kind.name == "prod") return a.is_positive() ? at_least(0, true) : a.low >= 0 ? at_least(0) : Range{};
  return {};
}

}  // namespace bitale
