#include "ops/analysis/lengths.hpp"

#include <algorithm>
#include <limits>

#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/merge_table.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/shapes/make_vector.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale {
namespace {

// The element x[i] of a vector x that is a constant, a shape or built from scalars; null otherwise.
Variable direct_element(const Variable& vector, std::int64_t i) {
  const std::int64_t length = vector.static_shape()[0];
  if (i < 0 && length != unknown_length) i += length;
  if (i < 0) return {};
  if (const Array* value = vector.constant()) {
    if (i >= value->shape(0) || !is_discrete(value->dtype())) return {};
    return constant(value->take_index(0, i));
  }
  const Op* op = vector.owner_op();
  if (!op) return {};
  const Apply node = vector.owner();
  if (dynamic_cast<const MakeVector*>(op) && i < std::int64_t(node.inputs().size())) return node.input(int(i));
  if (dynamic_cast<const ShapeOp*>(op) && i < node.input(0).ndim()) return length_of(node.input(0), int(i));
  return {};
}

std::optional<std::int64_t> known_arithmetic(std::string_view name, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (name == "add" && !__builtin_add_overflow(a, b, &out)) return out;
  if (name == "sub" && !__builtin_sub_overflow(a, b, &out)) return out;
  if (name == "mul" && !__builtin_mul_overflow(a, b, &out)) return out;
  if (name == "maximum") return std::max(a, b);
  if (name == "minimum") return std::min(a, b);
  return {};
}

// Depth is bounded: shape expressions are shallow, and the value of a deep one is just not known.
std::optional<std::int64_t> known_integer(const Variable& scalar, int depth) {
  if (!as_tensor(scalar.type()) || scalar.ndim() != 0 || !is_discrete(scalar.dtype())) return {};
  if (const Array* value = scalar.constant()) {
    const std::int64_t bits = value->int_item();
    if (scalar.dtype() == DType::UInt64 && bits < 0) return {};  // beyond int64
    return bits;
  }
  const Op* op = scalar.owner_op();
  if (!op || depth == 0) return {};
  const Apply node = scalar.owner();
  if (auto* shape_i = dynamic_cast<const ShapeI*>(op)) {
    const std::int64_t length = node.input(0).static_shape()[std::size_t(shape_i->i)];
    if (length != unknown_length) return length;
    return {};
  }
  if (auto* scalar_op = scalar_op_of(scalar)) {
    // Narrow dtypes wrap around: only int64 arithmetic, and casts to it, are followed.
    if (scalar.dtype() != DType::Int64) return {};
    if (node.inputs().size() == 1 && scalar_op->name.starts_with("cast"))
      return known_integer(node.input(0), depth - 1);
    if (node.inputs().size() != 2) return {};
    auto a = known_integer(node.input(0), depth - 1);
    if (!a) return {};
    auto b = known_integer(node.input(1), depth - 1);
    if (!b) return {};
    return known_arithmetic(scalar_op->name, *a, *b);
  }
  if (auto* subtensor = dynamic_cast<const Subtensor*>(op)) {
    if (!subtensor->pattern.is_single_integer() || node.input(0).ndim() != 1) return {};
    auto i = known_integer(node.input(1), depth - 1);
    if (!i) return {};
    const Variable element = direct_element(node.input(0), *i);
    if (element.defined()) return known_integer(element, depth - 1);
  }
  return {};
}

constexpr int search_depth = 8;

bool is_never_negative(const Variable& scalar, int depth) {
  if (auto known = known_integer(scalar)) return *known >= 0;
  if (kind(scalar.dtype()) == DTypeKind::UInt && itemsize(scalar.dtype()) < 8) return true;
  const Op* op = scalar.owner_op();
  if (!op || depth == 0) return false;
  const Apply node = scalar.owner();
  if (dynamic_cast<const ShapeI*>(op)) return true;
  auto of_input = [&](int i) { return is_never_negative(node.input(i), depth - 1); };
  if (auto* scalar_op = scalar_op_of(scalar)) {
    if (scalar.dtype() != DType::Int64) return false;
    if (scalar_op->name.starts_with("cast")) return of_input(0);
    if (scalar_op->name == "add" || scalar_op->name == "mul" || scalar_op->name == "minimum")
      return of_input(0) && of_input(1);
    if (scalar_op->name == "maximum") return of_input(0) || of_input(1);
  }
  if (auto* subtensor = dynamic_cast<const Subtensor*>(op))
    if (subtensor->pattern.is_single_integer() && dynamic_cast<const ShapeOp*>(node.input(0).owner_op())) return true;
  return false;
}

// Decides whether two lengths are the same, within a number of steps.
class SameLength {
 public:
  bool operator()(const Variable& first, const Variable& second) {
    if (first.same_as(second)) return true;
    const Variable a = told(first), b = told(second);
    if (a.same_as(b)) return true;
    const auto known = known_integer(a), other = known_integer(b);
    if (known || other) return known == other;
    if (steps_-- <= 0) return false;
    return are_same_expressions(a, b) || any_below(a, b) || any_below(b, a);
  }

 private:
  // Resolves elements of vectors: x.shape[0] is the length of x.
  static Variable told(Variable length) {
    while (auto* part = dynamic_cast<const Subtensor*>(length.owner_op())) {
      const Apply node = length.owner();
      if (!part->pattern.is_single_integer() || node.input(0).ndim() != 1) break;
      const auto i = known_integer(node.input(1));
      const Variable element = i ? direct_element(node.input(0), *i) : Variable();
      if (!element.defined() || element.dtype() != length.dtype()) break;
      length = element;
    }
    return length;
  }

  // Whether both are the same output of equal ops on equal inputs.
  bool are_same_expressions(const Variable& a, const Variable& b) {
    if (!a.has_owner() || !b.has_owner() || a.index() != b.index()) return false;
    const Apply one = a.owner(), two = b.owner();
    if (one.inputs().size() != two.inputs().size() || !one.op().equals(two.op())) return false;
    for (int k = 0; k < int(one.inputs().size()); ++k)
      if (!are_same_values(one.input(k), two.input(k))) return false;
    return true;
  }

  bool are_same_values(const Variable& a, const Variable& b) {
    if (a.same_as(b)) return true;
    if (!as_tensor(a.type()) || !as_tensor(b.type())) return false;
    if (a.is_constant() && b.is_constant()) return same_constant(*a.constant(), *b.constant());
    if (a.ndim() == 0 && b.ndim() == 0 && is_discrete(a.dtype()) && (*this)(a, b)) return true;
    return steps_-- > 0 && are_same_expressions(a, b);  // graphs that are not merged yet
  }

  // If `length` is the length of a computed variable: whether it follows from an equal length of the node's inputs,
  // which is the same as `other`.
  bool any_below(const Variable& length, const Variable& other) {
    const auto* op = dynamic_cast<const ShapeI*>(length.owner_op());
    if (!op) return false;
    const Variable x = length.owner().input(0);
    if (!x.has_owner()) return false;
    const Apply owner = x.owner();
    if (owner.op().elementwise()) {  // non-broadcasting operands have its lengths
      for (auto& input : owner.inputs()) {
        const int axis = op->i - (x.ndim() - input.ndim());
        if (axis >= 0 && !input.tensor().broadcasts(axis) && (*this)(length_of(input, axis), other)) return true;
      }
      return false;
    }
    std::vector<Shape> inputs;
    for (auto& input : owner.inputs()) inputs.push_back(as_tensor(input.type()) ? lengths_of(input) : Shape{});
    const std::vector<Shape> inferred = owner.op().infer_shape(owner, inputs);
    return !inferred.empty() && (*this)(inferred[std::size_t(x.index())][std::size_t(op->i)], other);
  }

  int steps_ = 100;
};

}  // namespace

bool is_same_length(const Variable& a, const Variable& b) { return SameLength()(a, b); }

Variable int64_constant(std::int64_t value) { return constant(Array(value)); }

std::optional<std::int64_t> known_integer(const Variable& scalar) { return known_integer(scalar, search_depth); }

bool is_never_negative(const Variable& scalar) { return is_never_negative(scalar, search_depth); }

std::int64_t static_length(const Variable& length) {
  auto known = known_integer(length);
  return known && *known >= 0 ? *known : unknown_length;
}

Dims static_lengths(std::span<const Variable> lengths) {
  Dims out;
  for (auto& length : lengths) out.push_back(static_length(length));
  return out;
}

Variable as_length(const Variable& scalar, std::string_view who) {
  auto* type = as_tensor(scalar.type());
  if (!type || type->ndim() != 0 || !is_integer(type->dtype))
    throw TypeError(cat(who, ": expected an integer scalar, got ", scalar.str(), " of type ", scalar.type()->str()));
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (auto known = known_integer(scalar))
    return type->dtype == DType::Int64 && scalar.is_constant() ? scalar : int64_constant(*known);
  // A value beyond any length is clamped, and is still beyond any length.
  if (scalar.is_constant()) return int64_constant(largest);
  if (type->dtype == DType::UInt64) return cast(minimum(scalar, constant(Array(std::uint64_t(largest)))), DType::Int64);
  return cast(scalar, DType::Int64);
}

Variable length_of(const Variable& x, int axis) {
  const std::int64_t length = x.static_shape()[std::size_t(axis)];
  if (length != unknown_length) return int64_constant(length);
  return (*make_ref<ShapeI>(axis))({x});
}

Shape lengths_of(const Variable& x) {
  Shape out;
  for (int axis = 0; axis < x.ndim(); ++axis) out.push_back(length_of(x, axis));
  return out;
}

Variable element_of(const Variable& vector, int i) {
  if (Variable element = direct_element(vector, i); element.defined()) return as_length(element, "element");
  return cast(subtensor(vector, {IndexItem(i)}), DType::Int64);
}

Variables elements_of(const Variable& vector, std::string_view who) {
  const std::int64_t length = vector.static_shape()[0];
  if (length == unknown_length)
    throw ValueError(cat(who, ": the length of ", vector.str(), " must be known when the graph is built"));
  Variables out;
  for (int i = 0; i < length; ++i) out.push_back(element_of(vector, i));
  return out;
}

namespace lengths {
namespace {

template <class Known, class Build>
Variable binary(const Variable& a, const Variable& b, Known known, Build build) {
  auto x = known_integer(a), y = known_integer(b);
  if (x && y) return int64_constant(known(*x, *y));
  return build(a, b);
}

}  // namespace

Variable add(const Variable& a, const Variable& b) {
  if (known_integer(a) == 0) return b;
  if (known_integer(b) == 0) return a;
  return binary(
      a, b, [](auto x, auto y) { return x + y; }, [](auto& x, auto& y) { return bitale::add(x, y); });
}
Variable sub(const Variable& a, const Variable& b) {
  if (known_integer(b) == 0) return a;
  if (a.same_as(b)) return int64_constant(0);
  return binary(
      a, b, [](auto x, auto y) { return x - y; }, [](auto& x, auto& y) { return bitale::sub(x, y); });
}
Variable mul(const Variable& a, const Variable& b) {
  if (known_integer(a) == 1) return b;
  if (known_integer(b) == 1) return a;
  return binary(
      a, b, [](auto x, auto y) { return x * y; }, [](auto& x, auto& y) { return bitale::mul(x, y); });
}
Variable floor_div(const Variable& a, const Variable& b) {
  auto y = known_integer(b);
  if (y == 1) return a;
  if (y == 0) return bitale::int_div(a, b);
  return binary(
      a, b, [](auto x, auto d) { return x / d - ((x % d != 0) && ((x < 0) != (d < 0))); },
      [](auto& x, auto& d) { return bitale::int_div(x, d); });
}
Variable min(const Variable& a, const Variable& b) {
  if (a.same_as(b)) return a;
  return binary(
      a, b, [](auto x, auto y) { return std::min(x, y); }, [](auto& x, auto& y) { return minimum(x, y); });
}
Variable max(const Variable& a, const Variable& b) {
  if (a.same_as(b)) return a;
  if (known_integer(b) == 0 && is_never_negative(a)) return a;
  return binary(
      a, b, [](auto x, auto y) { return std::max(x, y); }, [](auto& x, auto& y) { return maximum(x, y); });
}
Variable is_negative(const Variable& a) {
  if (auto known = known_integer(a)) return int64_constant(*known < 0);
  if (is_never_negative(a)) return int64_constant(0);
  return lt(a, int64_constant(0));
}
Variable choose(const Variable& condition, const Variable& if_true, const Variable& if_false) {
  if (if_true.same_as(if_false)) return if_true;
  if (auto known = known_integer(condition)) return *known ? if_true : if_false;
  return switch_(condition, if_true, if_false);
}
Variable product(std::span<const Variable> factors) {
  Variable out = int64_constant(1);
  for (auto& factor : factors) out = mul(out, factor);
  return out;
}

}  // namespace lengths

int normal_axis(int axis, int ndim, std::string_view who) {
  if (axis < -ndim || axis >= ndim)
    throw AxisError(cat(who, ": axis ", axis, " is out of bounds for a tensor of ", ndim, " dimensions"));
  return axis < 0 ? axis + ndim : axis;
}

std::int64_t common_length(std::int64_t a, std::int64_t b, int axis, std::string_view who) {
  if (a == unknown_length) return b;
  if (b == unknown_length || a == b) return a;
  throw ShapeError(cat(who, ": lengths ", a, " and ", b, " of dimension ", axis, " differ"));
}

void require_inputs(const Op& op, std::span<const Variable> inputs, std::size_t count) {
  if (inputs.size() != count) throw TypeError(cat(op.label(), ": expected ", count, " inputs, got ", inputs.size()));
}

Variables no_gradients(const Apply& node) { return Variables(node.inputs().size(), disconnected()); }

std::vector<std::vector<bool>> connect_first(const Apply& node, std::size_t connected) {
  std::vector<std::vector<bool>> out(node.inputs().size(), std::vector<bool>(node.output_count(), false));
  for (std::size_t i = 0; i < std::min(connected, out.size()); ++i) out[i].assign(node.output_count(), true);
  return out;
}

Variable with_static_shape_of(const Variable& x, const Variable& g) {
  std::vector<std::optional<Operand>> known(static_cast<std::size_t>(x.ndim()));
  for (std::size_t d = 0; d < known.size(); ++d)
    if (x.static_shape()[d] != unknown_length) known[d] = Operand(int64_constant(x.static_shape()[d]));
  return specify_shape(g, known);
}

namespace {

// Where the batch dimensions of an input are.
int batch_position(const Batch& batch, int input) {
  return batch.axis == BatchAxis::first ? 0 : batch.node.input(input).ndim();
}

}  // namespace

Shape batch_lengths(const Batch& batch) {
  Shape out;
  // A batch dimension may have length 1 in one input and be longer in another: a known length other than 1 takes
  // precedence.
  for (int axis = 0; axis < batch.ndim(); ++axis) {
    Variable length;
    for (int i = 0; i < int(batch.inputs.size()); ++i) {
      if (batch.ndim(i) == 0) continue;
      if (!length.defined() || known_integer(length) == 1)
        length = length_of(batch.inputs[std::size_t(i)], batch_position(batch, i) + axis);
    }
    out.push_back(length);
  }
  return out;
}

Variables with_batch_lengths(const Batch& batch, const Variables& own) {
  Variables out = batch_lengths(batch);
  out.insert(batch.axis == BatchAxis::first ? out.end() : out.begin(), own.begin(), own.end());
  return out;
}

namespace {

// Input i with a dimension for each of the batch, of length 1 where it was not batched.
Variable with_batch_dims(const Batch& batch, int input, int core_ndim) {
  const int gained = batch.ndim(input), count = batch.ndim(), core = batch.node.input(input).ndim();
  const int at = batch_position(batch, input), own = batch.axis == BatchAxis::first ? gained : 0;
  std::vector<int> many, order(std::size_t(std::max(core_ndim - core, 0)), new_axis);
  for (int i = 0; i < count; ++i) many.push_back(i < gained ? at + i : new_axis);
  for (int i = 0; i < core; ++i) order.push_back(own + i);
  order.insert(batch.axis == BatchAxis::first ? order.begin() : order.end(), many.begin(), many.end());
  return dimshuffle(batch.inputs[std::size_t(input)], order);
}

}  // namespace

Variable broadcast_in_batch(const Batch& batch, int input, int core_ndim) {
  const bool as_it_is = batch.axis == BatchAxis::first && batch.ndim(input) == 0;
  return as_it_is ? batch.inputs[std::size_t(input)] : with_batch_dims(batch, input, core_ndim);
}

Variable with_batch(const Batch& batch, int input, int core_ndim) {
  const Variable aligned = with_batch_dims(batch, input, core_ndim);
  const int count = batch.ndim(), core = aligned.ndim() - count;
  const int first = batch.axis == BatchAxis::first ? 0 : core;
  const Shape lengths = batch_lengths(batch);
  bool repeats = false;
  for (int axis = 0; axis < count; ++axis)
    repeats |= aligned.static_shape()[std::size_t(first + axis)] == 1 && known_integer(lengths[std::size_t(axis)]) != 1;
  if (!repeats) return aligned;
  Variables own;
  for (int axis = batch.before(); axis < batch.before() + core; ++axis) own.push_back(length_of(aligned, axis));
  return alloc(aligned, with_batch_lengths(batch, own));
}

}  // namespace bitale
