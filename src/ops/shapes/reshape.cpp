#include "ops/shapes/reshape.hpp"

#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

std::string lengths_text(const Dims& shape) {
  std::vector<std::string> parts;
  for (std::int64_t length : shape) parts.push_back(length == unknown_length ? "?" : std::to_string(length));
  return cat("(", join(parts, ", "), shape.size() == 1 ? ",)" : ")");
}

// Number of elements, when every length is known.
std::optional<std::int64_t> known_size(const Dims& shape) {
  for (std::int64_t length : shape)
    if (length == unknown_length) return {};
  return product(shape);
}

// The static output shape: requested lengths that are known, and the length for -1 if all others and the size are
// known.
Dims static_shape(const Variable& x, const Variables& requested) {
  Dims out;
  int open = -1;
  std::int64_t others = 1;
  bool all_known = true;
  for (int i = 0; i < int(requested.size()); ++i) {
    auto known = known_integer(requested[std::size_t(i)]);
    if (known && *known < -1) throw ValueError(cat("reshape: negative length ", *known, " in dimension ", i));
    if (known == -1) {
      if (open >= 0) throw ValueError("reshape: only one length can be -1");
      open = i;
    }
    out.push_back(known && *known >= 0 ? *known : unknown_length);
    if (known && *known >= 0) others *= *known;
    if (!known) all_known = false;
  }
  const auto size = known_size(x.static_shape());
  if (!size || !all_known) return out;
  const bool fits = open < 0 ? *size == others : others != 0 ? *size % others == 0 : false;
  if (!fits)
    throw ShapeError(cat("reshape: ", x.str(), " of shape ", lengths_text(x.static_shape()), " has ", *size,
                         " elements, which do not fill the shape ", lengths_text(out)));
  if (open >= 0) out[std::size_t(open)] = *size / others;
  return out;
}

// The row-major number of the position `at` in an array of these lengths.
Expr linear_index(std::span<const Expr> at, std::span<const Expr> lengths, Expr zero) {
  Expr out = zero;
  for (std::size_t i = 0; i < at.size(); ++i) out = out * lengths[i] + at[i];
  return out;
}

// Checks that at most one length is -1, and that the other lengths determine it.
void require_open_length(Lowering& to, const Apply& node, int ndim) {
  auto& pool = to.pool();
  const Dims& known = node.output().static_shape();
  const Expr zero = pool.integer(0), one = pool.integer(1);
  Expr open_count = zero;
  for (int k = 0; k < ndim; ++k) {
    if (known[std::size_t(k)] != unknown_length) continue;
    const Variable asked = element_of(node.input(1), k);
    if (is_never_negative(asked)) continue;
    const auto constant = known_integer(asked);
    const Expr index[] = {pool.integer(k)};
    const Expr length = constant ? pool.integer(*constant) : cast(to.in(1, index), DType::Int64);
    Expr others = one;
    for (int i = 0; i < ndim; ++i)
      if (i != k) others = others * to.shape_out(0)[std::size_t(i)];
    to.require(length >= -1, cat("reshape: negative length in dimension ", k));
    to.require((length >= 0) | (others > 0), cat("reshape: no length fits for the -1 in dimension ", k));
    open_count = open_count + select(length < 0, one, zero);
  }
  to.require(open_count <= 1, "reshape: only one length may be -1");
}

// Whether two lengths are the same expression.
bool same(const Expr& a, const Expr& b) { return a == b; }

}  // namespace

Apply Reshape::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 2);
  const Variable &x = inputs[0], &shape = inputs[1];
  auto* type = as_tensor(shape.type());
  if (!type || type->ndim() != 1 || !is_integer(type->dtype))
    throw TypeError(cat("reshape: the new shape must be a vector of integers, got ", shape.type()->str()));
  if (type->shape[0] != unknown_length && type->shape[0] != ndim)
    throw ValueError(cat("reshape: expected a shape of ", ndim, " lengths, got ", type->shape[0]));
  Dims lengths(std::size_t(ndim), unknown_length);
  if (type->shape[0] != unknown_length) lengths = static_shape(x, elements_of(shape, "reshape"));
  return Apply(OpRef(this), {x, shape}, {tensor_type(x.dtype(), lengths)});
}

std::vector<Shape> Reshape::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  const Dims& known = node.output().static_shape();
  Shape out;
  std::vector<bool> maybe_open(std::size_t(ndim), false);
  for (int i = 0; i < ndim; ++i) {
    const auto k = std::size_t(i);
    out.push_back(known[k] != unknown_length ? int64_constant(known[k]) : element_of(node.input(1), i));
    maybe_open[k] = !is_never_negative(out.back());
  }
  if (std::none_of(maybe_open.begin(), maybe_open.end(), [](bool b) { return b; })) return {out};
  // The product of the other lengths; an element that is -1 counts as 1 in it (and only one may be -1).
  const Variable total = lengths::product(inputs[0]), one = int64_constant(1);
  Variables factors;
  for (std::size_t k = 0; k < out.size(); ++k)
    factors.push_back(maybe_open[k] ? lengths::choose(lengths::is_negative(out[k]), one, out[k]) : out[k]);
  const Variable others = lengths::product(factors);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (maybe_open[k])
      out[k] =
          lengths::choose(lengths::is_negative(out[k]), lengths::floor_div(total, lengths::max(others, one)), out[k]);
  return {out};
}

void Reshape::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  if (in[1].shape(0) != ndim)
    throw ShapeError(cat("reshape: expected a shape of ", ndim, " lengths, got ", in[1].shape(0)));
  Dims shape;
  for (int i = 0; i < ndim; ++i) shape.push_back(in[1].take_index(0, i).int_item());
  out[0] = in[0].reshape(shape);
}

// Leading and trailing dimensions that are unchanged keep their indices; those between them are computed from the
// row-major number of the element.
bool Reshape::emit(Lowering& to, const Apply& node) const {
  auto& pool = to.pool();
  require_open_length(to, node, ndim);
  Expr in_size = pool.integer(1), out_size = pool.integer(1);
  for (auto& length : to.shape_in(0)) in_size = in_size * length;
  for (auto& length : to.shape_out(0)) out_size = out_size * length;
  if (!(in_size == out_size)) to.require(equal(in_size, out_size), "reshape: the elements do not fill the new shape");
  to.element(
      0,
      [&to](Index at) {
        const auto from = to.shape_in(0), into = to.shape_out(0);
        const std::size_t shorter = std::min(from.size(), into.size());
        std::size_t front = 0, back = 0;
        while (front < shorter && same(from[front], into[front])) ++front;
        while (front + back < shorter && same(from[from.size() - 1 - back], into[into.size() - 1 - back])) ++back;
        std::vector<Expr> source(from.size());
        for (std::size_t i = 0; i < front; ++i) source[i] = at[i];
        for (std::size_t i = 0; i < back; ++i) source[from.size() - 1 - i] = at[into.size() - 1 - i];
        const std::size_t middle = into.size() - front - back;
        Expr rest = linear_index(at.subspan(front, middle), into.subspan(front, middle), to.pool().integer(0));
        for (std::size_t i = from.size() - back; i-- > front;) {
          source[i] = i == front ? rest : rem(rest, from[i]);
          rest = rest / from[i];
        }
        return to.in(0, source);
      },
      2);
  return true;
}

void Reshape::emit_tensors(TensorLowering& to, const Apply&) const {
  const Array& asked = to.need_known(1, "the new shape");
  const TensorValue x = to.in(0);
  if (asked.shape(0) != ndim)
    throw ShapeError(cat("reshape: expected a shape of ", ndim, " lengths, got ", asked.shape(0)));
  Dims lengths;
  std::int64_t others = 1;
  std::optional<std::size_t> open;
  for (int i = 0; i < ndim; ++i) {
    const std::int64_t length = asked.take_index(0, i).int_item();
    if (length < -1 || (length == -1 && open)) throw ValueError("reshape: expected lengths, of which one may be -1");
    if (length == -1)
      open = std::size_t(i);
    else
      others *= length;
    lengths.push_back(length);
  }
  if (open && others > 0) lengths[*open] = product(x.lengths) / others;
  if ((open && others == 0) || product(lengths) != product(x.lengths))
    throw ShapeError(cat("reshape: the elements of shape ", lengths_text(x.lengths), " do not fill the shape ",
                         lengths_text(lengths)));
  to.out(0, to.builder().reshape(x, lengths));
}

Variables Reshape::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  if (cotangents[0].is_disconnected()) return no_gradients(node);
  return {reshape(cotangents[0], lengths_of(node.input(0))), disconnected()};
}

Variables Reshape::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (tangents[0].is_disconnected()) return {disconnected()};
  return {(*this)({tangents[0], node.input(1)})};
}

std::vector<std::vector<bool>> Reshape::connection_pattern(const Apply& node) const { return connect_first(node, 1); }

Variables lengths_without_batch(const Variable& shape, std::span<const Variable> from) {
  Variables out = elements_of(shape, "reshape");
  const auto is_inferred = [](const Variable& length) { return known_integer(length) == -1; };
  const auto inferred = std::find_if(out.begin(), out.end(), is_inferred);
  if (inferred == out.end()) return out;
  Variables others = out;
  others.erase(others.begin() + (inferred - out.begin()));
  const Variable rest = lengths::product(others);
  if (known_integer(rest) != 0) *inferred = lengths::floor_div(lengths::product(from), rest);
  return out;
}

Apply Reshape::vectorize_along(const Batch& batch) const {
  if (batch.any_from(1)) throw NotImplementedError("Reshape: vectorize over the new shape");
  if (batch.ndim() == 0) return make_node(batch.inputs);
  const Variable &x = batch.inputs[0], &shape = batch.inputs[1];
  Variable all;
  if (shape.static_shape()[0] != unknown_length) {
    const Shape whole = lengths_of(x);
    const auto own = std::span(whole).subspan(std::size_t(batch.before()), std::size_t(batch.node.input(0).ndim()));
    all = make_vector(with_batch_lengths(batch, lengths_without_batch(shape, own)), DType::Int64);
  } else {
    Variables parts{make_vector(batch_lengths(batch), DType::Int64), cast(shape, DType::Int64)};
    if (batch.axis == BatchAxis::last) std::swap(parts[0], parts[1]);
    all = join(0, parts);
  }
  return make_ref<Reshape>(batch.ndim() + ndim)->make_node({{x, all}});
}

std::vector<int> Reshape::view_of(const Apply&, int) const { return {0}; }

// ---- public functions -----------------------------------------------------------------------------------------------

Variable reshape(const Operand& given, const Operand& new_shape, std::optional<int> ndim) {
  LocationScope here(given.where);
  const Variable x = with_literal_widths({&given.variable, 1})[0];
  const Variable& shape = new_shape.variable;
  auto* type = as_tensor(shape.type());
  if (!type || type->ndim() != 1 || !is_integer(type->dtype))
    throw TypeError(cat("reshape: the new shape must be a vector of integers, got ", shape.str(), " of type ",
                        shape.type()->str()));
  if (!ndim) {
    if (type->shape[0] == unknown_length)
      throw ValueError(cat("reshape: the length of ", shape.str(), " is not known; say how many dimensions (ndim)"));
    ndim = int(type->shape[0]);
  }
  return (*make_ref<Reshape>(*ndim))({x, shape});
}

Variable reshape(const Operand& given, const Operands& new_shape) {
  LocationScope here(given.where);
  const Variable x = with_literal_widths({&given.variable, 1})[0];
  const Variables& wanted = new_shape.variables;
  Variables lengths;
  Array values = Array::empty(DType::Int64, Dims{std::int64_t(wanted.size())});
  bool all_known = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    lengths.push_back(as_length(wanted[i], "reshape"));
    auto known = known_integer(lengths.back());
    all_known &= known.has_value();
    values.mutable_data_as<std::int64_t>()[i] = known.value_or(0);
  }
  return reshape(x, all_known ? constant(values) : make_vector(lengths, DType::Int64));
}

Variable flatten(const Operand& x, int ndim) {
  LocationScope here(x.where);
  if (ndim < 1 || (ndim > x.ndim() && x.ndim() > 0))
    throw ValueError(cat("flatten: ndim must be from 1 to ", std::max(x.ndim(), 1), ", got ", ndim));
  if (ndim == x.ndim()) return x.variable;
  Variables shape;
  for (int axis = 0; axis + 1 < ndim; ++axis) shape.push_back(length_of(x.variable, axis));
  Variable rest = int64_constant(-1);
  if (ndim > 1) {  // -1 has no value where a leading length is 0
    rest = length_of(x.variable, ndim - 1);
    for (int axis = ndim; axis < x.ndim(); ++axis) rest = rest * length_of(x.variable, axis);
  }
  shape.push_back(rest);
  return reshape(x, shape);
}

namespace {

std::vector<Sample> reshape_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto fixed = [&](DType dtype, const Dims& type, const Dims& value, std::initializer_list<std::int64_t> shape) {
    auto x = sample_input(dtype, type);
    out.push_back({reshape(x, constant(Array(shape))).owner(), {sample_values(dtype, value)}});
  };
  fixed(DType::Float64, {any, any}, {2, 6}, {3, -1});
  fixed(DType::Float64, {any, 2, 3}, {4, 2, 3}, {4, 6});
  fixed(DType::Int32, {any}, {0}, {0, 5});
  fixed(DType::Float32, {2, 2}, {2, 2}, {1, 4, 1});
  fixed(DType::Float64, {1, 1}, {1, 1}, {1});
  auto x = sample_input(DType::Float64, {any, any});
  auto n = sample_input(DType::Int64, {});
  out.push_back(
      {reshape(x, {n, int64_constant(-1)}).owner(), {sample_values(DType::Float64, {3, 4}), Array(std::int64_t(6))}});
  // Leading dimensions that are unchanged.
  auto y = sample_input(DType::Float64, {any, any, any});
  out.push_back({reshape(y, {shape_i(y, 0), lengths::mul(shape_i(y, 1), shape_i(y, 2))}).owner(),
                 {sample_values(DType::Float64, {2, 3, 4})}});
  return out;
}

BITALE_REGISTER_OP(Reshape, "The same elements, in row-major order, with other lengths.", reshape_samples);

}  // namespace
}  // namespace bitale
