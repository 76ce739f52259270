#include "ops/control/if_else.hpp"

#include <algorithm>

#include "bitale/ops/ifelse.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/complex/complex.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

// The common type of both sides: lengths that differ become unknown.
Type common_type(const Variable& then_value, const Variable& else_value, std::int64_t output) {
  const TensorType &a = then_value.tensor(), &b = else_value.tensor();
  const auto refuse = [&](std::string_view what) {
    throw TypeError(cat("ifelse: the two values of output ", output, " have different ", what, ": ", a.str(),
                        " if true (`", then_value.str(), "`), ", b.str(), " if false (`", else_value.str(), "`)"));
  };
  if (a.dtype != b.dtype) refuse("dtypes");
  if (a.ndim() != b.ndim()) refuse("numbers of dimensions");
  Dims shape = a.shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != b.shape[axis]) shape[axis] = unknown_length;
  return tensor_type(a.dtype, shape);
}

bool all_disconnected(std::span<const Variable> variables) {
  return std::all_of(variables.begin(), variables.end(), [](auto& each) { return each.is_disconnected(); });
}

}  // namespace

Apply IfElse::make_node(std::span<const Variable> inputs) const {
  if (n_outs < 1) throw ValueError("ifelse: expected at least one value on each side");
  require_inputs(*this, inputs, std::size_t(1 + 2 * n_outs));
  if (inputs[0].ndim() != 0)
    throw TypeError(cat("ifelse: expected a scalar condition, got `", inputs[0].str(), "` of type ",
                        inputs[0].type()->str(), "; switch picks element by element"));
  if (is_complex(inputs[0]))
    throw TypeError(cat("ifelse: expected a real condition, got `", inputs[0].str(), "` of type ",
                        inputs[0].type()->str(), "; a comparison or `abs` of it is real"));
  std::vector<Type> types;
  for (int k = 0; k < int(n_outs); ++k)
    types.push_back(common_type(inputs[std::size_t(then_input(k))], inputs[std::size_t(else_input(k))], k));
  return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), types);
}

std::string IfElse::pprint_text(std::span<const std::string> inputs) const {
  if (n_outs != 1) return {};
  return cat("ifelse(", inputs[0], ", ", inputs[1], ", ", inputs[2], ")");
}

// Returns lengths only if they are the same on both sides. Otherwise they would be choices themselves, and computing
// them could need values that must not be computed.
std::vector<Shape> IfElse::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  std::vector<Shape> out;
  for (int k = 0; k < int(n_outs); ++k) {
    const Shape &a = inputs[std::size_t(then_input(k))], &b = inputs[std::size_t(else_input(k))];
    for (std::size_t axis = 0; axis < a.size(); ++axis) {
      const auto known = known_integer(a[axis]);
      if (!a[axis].same_as(b[axis]) && !(known && known == known_integer(b[axis]))) return {};
    }
    out.push_back(a);
  }
  return out;
}

std::vector<std::vector<int>> IfElse::alternatives(const Apply&) const {
  std::vector<std::vector<int>> out(2);
  for (int k = 0; k < int(n_outs); ++k) {
    out[0].push_back(then_input(k));
    out[1].push_back(else_input(k));
  }
  return out;
}

std::size_t IfElse::chosen(const Apply&, std::span<const Array> in) const {
  return in[0].astype(DType::Bool).item() != 0 ? 0 : 1;
}

void IfElse::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const bool is_true = chosen(node, in) == 0;
  for (int k = 0; k < int(n_outs); ++k) out[std::size_t(k)] = in[std::size_t(is_true ? then_input(k) : else_input(k))];
}

// A selection of elements, if both sides are known to have the same lengths. Before compiling a graph, linkers move
// nodes that only one side needs out of it (link/branches).
bool IfElse::emit(Lowering& to, const Apply&) const {
  for (int k = 0; k < int(n_outs); ++k) {
    const auto a = to.shape_in(then_input(k)), b = to.shape_in(else_input(k));
    for (std::size_t axis = 0; axis < a.size(); ++axis)
      if (!to.same_length(a[axis], b[axis])) return false;
  }
  for (int k = 0; k < int(n_outs); ++k) {
    const int if_true = then_input(k), if_false = else_input(k);
    to.element(k, [&to, if_true, if_false](Index at) {
      const Expr condition = to.in(0);
      const Expr truth =
          condition.dtype() == DType::Bool ? condition : not_equal(condition, to.pool().number(0, condition.dtype()));
      return select(truth, to.in(if_true, at), to.in(if_false, at));
    });
  }
  return true;
}

// Selects between values that are both computed; to compute only one side, the caller has to split the graph
// beforehand.
void IfElse::emit_tensors(TensorLowering& to, const Apply&) const {
  TensorBuilder& builder = to.builder();
  const TensorValue condition = builder.convert(to.in(0), DType::Bool);
  for (int k = 0; k < int(n_outs); ++k) {
    const TensorValue a = to.in(then_input(k)), b = to.in(else_input(k));
    if (a.lengths != b.lengths) to.refuse("its sides have different lengths");
    to.out(k, builder.map(a.dtype, {condition, a, b},
                          [](std::span<const Expr> in) { return select(in[0], in[1], in[2]); }));
  }
}

// Each side gets the cotangent if it was chosen, and zeros otherwise.
Variables IfElse::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  std::vector<int> connected;
  for (int k = 0; k < int(n_outs); ++k)
    if (!cotangents[std::size_t(k)].is_disconnected()) connected.push_back(k);
  if (connected.empty()) return out;
  for (const bool side : {true, false}) {
    Variables given, zeros;
    const auto input_of = [&](int k) { return side ? then_input(k) : else_input(k); };
    for (int k : connected) {
      const Variable& cotangent = cotangents[std::size_t(k)];
      given.push_back(with_static_shape_of(node.input(input_of(k)), cotangent));
      zeros.push_back(zeros_like(node.input(input_of(k)), cotangent.dtype()));
    }
    const Variables chosen = side ? ifelse(node.input(0), given, zeros) : ifelse(node.input(0), zeros, given);
    for (std::size_t i = 0; i < connected.size(); ++i) out[std::size_t(input_of(connected[i]))] = chosen[i];
  }
  return out;
}

Variables IfElse::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  if (all_disconnected(tangents.subspan(1))) return Variables(std::size_t(n_outs), disconnected());
  Variables sides[2], out(std::size_t(n_outs), disconnected());
  std::vector<int> connected;
  for (int k = 0; k < int(n_outs); ++k) {
    const Variable &a = tangents[std::size_t(then_input(k))], &b = tangents[std::size_t(else_input(k))];
    if (a.is_disconnected() && b.is_disconnected()) continue;
    connected.push_back(k);
    sides[0].push_back(a.is_disconnected() ? zeros_like(node.input(then_input(k)), b.dtype()) : a);
    sides[1].push_back(b.is_disconnected() ? zeros_like(node.input(else_input(k)), a.dtype()) : b);
  }
  const Variables chosen = ifelse(node.input(0), sides[0], sides[1]);
  for (std::size_t i = 0; i < connected.size(); ++i) out[std::size_t(connected[i])] = chosen[i];
  return out;
}

std::vector<int> IfElse::support_carriers(const Apply&, int output) const {
  return {then_input(output), else_input(output)};
}

// The mask is a choice, too: the mask of a side may be computed only if that side is taken.
Support IfElse::support(const Apply& node, int output, std::span<const Support> inputs) const {
  const auto then_at = std::size_t(then_input(output)), else_at = std::size_t(else_input(output));
  const Support &a = inputs[then_at], &b = inputs[else_at];
  if (a.is_everywhere() && b.is_everywhere()) return {};
  if (a.is_nowhere() && b.is_nowhere()) return a;
  return {Support::Kind::masked,
          ifelse(node.input(0), full_mask(a, node.inputs()[then_at]), full_mask(b, node.inputs()[else_at])), true};
}

std::vector<std::vector<bool>> IfElse::connection_pattern(const Apply& node) const {
  std::vector<std::vector<bool>> out(node.inputs().size(), std::vector<bool>(std::size_t(n_outs), false));
  for (int k = 0; k < int(n_outs); ++k)
    for (int input : {then_input(k), else_input(k)})
      out[std::size_t(input)][std::size_t(k)] = is_continuous(node.output(k).dtype());
  return out;
}

// With a condition per element of the batch, both sides are computed.
Apply IfElse::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const int gained = Batch{node, batched}.ndim();
  Variables inputs{batched[0]};
  for (int i = 1; i < int(batched.size()); ++i) inputs.push_back(with_batch({node, batched}, i, node.input(i).ndim()));
  if (Batch{node, batched}.ndim(0) == 0) return make_node(inputs);
  if (n_outs != 1) throw NotImplementedError("IfElse: vectorize over the condition, of several outputs");
  Variable condition = batched[0];
  for (int axis = 0; axis < node.output().ndim(); ++axis) condition = expand_dims(condition, gained + axis);
  return switch_(condition, inputs[1], inputs[2]).owner();
}

// One choice for all parts, so that its condition is evaluated once.
PartsOfOutputs IfElse::complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const {
  Variables sides[2];
  for (int k = 0; k < int(n_outs); ++k)
    for (int side = 0; side < 2; ++side) {
      const ComplexParts& parts = inputs[std::size_t(side == 0 ? then_input(k) : else_input(k))];
      sides[side].push_back(parts.real);
      if (is_complex(node.output(k))) sides[side].push_back(imaginary(parts));
    }
  return joined_parts(node.outputs(), ifelse(node.input(0), sides[0], sides[1]));
}

std::vector<int> IfElse::view_of(const Apply&, int output) const { return {then_input(output), else_input(output)}; }

Variables ifelse(const Operand& condition, const Variables& then_branch, const Variables& else_branch) {
  LocationScope here(condition.where);
  if (then_branch.size() != else_branch.size())
    throw ValueError(cat("ifelse: expected as many values on both sides, got ", then_branch.size(), " if true and ",
                         else_branch.size(), " if false"));
  Variables inputs{condition.variable}, of_else;
  for (std::size_t k = 0; k < then_branch.size(); ++k) {
    const Variable sides[] = {then_branch[k], else_branch[k]};
    const Variables values = with_literal_widths(sides);
    inputs.push_back(values[0]);
    of_else.push_back(values[1]);
  }
  inputs.insert(inputs.end(), of_else.begin(), of_else.end());
  return make_ref<IfElse>(std::int64_t(then_branch.size()))->make_node(inputs).outputs();
}

Variable ifelse(const Operand& condition, const Operand& then_branch, const Operand& else_branch) {
  LocationScope here(condition.where);
  return ifelse(condition, Variables{then_branch.variable}, Variables{else_branch.variable})[0];
}

namespace {

std::vector<Sample> if_else_samples() {
  constexpr auto any = unknown_length;
  const auto condition = sample_input(DType::Bool, {}), number = sample_input(DType::Float64, {});
  const auto x = sample_input(DType::Float64, {any}), y = sample_input(DType::Float64, {any});
  const auto a = sample_input(DType::Float64, {2, 3}), b = sample_input(DType::Float64, {2, 3});
  const auto i = sample_input(DType::Int16, {}), j = sample_input(DType::Int16, {});
  const auto one = make_ref<IfElse>(1), two = make_ref<IfElse>(2);
  return {
      {one->make_node({{condition, x, y}}),
       {Array(true), sample_values(DType::Float64, {3}), sample_values(DType::Float64, {3}, 1)}},
      {one->make_node({{condition, x, y}}),
       {Array(false), sample_values(DType::Float64, {3}), sample_values(DType::Float64, {3}, 1)}},
      {two->make_node({{condition, i, a, j, b}}),
       {Array(false), Array(std::int16_t(3)), sample_values(DType::Float64, {2, 3}), Array(std::int16_t(4)),
        sample_values(DType::Float64, {2, 3}, 1)}},
      {one->make_node({{number, a, b}}),
       {Array(0.0), sample_values(DType::Float64, {2, 3}), sample_values(DType::Float64, {2, 3}, 1)},
       1e-6,
       false},
  };
}

BITALE_REGISTER_OP(IfElse, "One of two lists of tensors, as a scalar says; only what it gives is computed.",
                   if_else_samples);

}  // namespace
}  // namespace bitale
