// The derivatives of Elemwise, by the chain rule of its record. A cotangent or tangent that is zero by structure stays
// zero, whatever it is multiplied by (graph/support.hpp).
#include <algorithm>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/support.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/complex/complex.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale {

namespace {

// An operand in another dtype. A constant stays one, by which rules on powers know an exponent.
Variable as_operand(const Variable& v, DType dtype) {
  return v.is_constant() ? constant(v.constant()->astype(dtype)) : cast(v, dtype);
}

ChainPoint chain_point(const Apply& node, const Variable& g) {
  ChainPoint at{.g = g, .out = node.output()};
  Variable* const names[] = {&at.x, &at.y, &at.z, &at.w};
  for (std::size_t i = 0; i < node.inputs().size(); ++i) *names[i] = node.inputs()[i];
  // Operands have the dtype in which the node is computed: a logarithm of a narrower one in a derivative would lose
  // digits, and that of a real one beside a complex one would be another function.
  const ScalarOp& scalar = *node.op().elementwise();
  const DType compute = scalar_types(node).compute;
  if (is_discrete(compute)) return at;
  for (std::size_t i = scalar.has_condition; i < node.inputs().size(); ++i)
    if (!scalar.gives_shape(int(i)) && node.inputs()[i].dtype() != compute) *names[i] = as_operand(*names[i], compute);
  return at;
}

// Sums over the dimensions along which `input` was repeated.
Variable sum_to(const Variable& value, const Variable& input) {
  std::vector<int> repeated;
  for (std::size_t axis = 0; axis < input.static_shape().size(); ++axis)
    if (broadcasts(input, axis) && !broadcasts(value, axis)) repeated.push_back(int(axis));
  return repeated.empty() ? value : sum(value, repeated, KeepDims::Yes);
}

Variable zeros_for(const Variable& input) {
  return zeros_like(input, is_discrete(input.dtype()) ? config::float_x() : input.dtype());
}

bool is_connected(const ScalarOp& scalar, const Apply& node, std::size_t input) {
  return !is_discrete(node.output().dtype()) && !scalar.partials.empty() && scalar.partials[input] != not_connected;
}

bool is_zero(const ScalarOp& scalar, const Apply& node, std::size_t input) {
  return scalar.partials[input] == &zero_derivative || is_discrete(node.inputs()[input].dtype());
}

// Converts a partial derivative to the gradient of that input: sums it where the input was broadcast.
Variable gradient_of(const Variable& partial, const Variable& input) {
  return partial.is_null() ? partial : cast(sum_to(partial, input), input.dtype());
}

// The same for a complex partial derivative conj(g) f', f' being the derivative: the gradient is g conj(f').
Variable complex_gradient_of(const Variable& partial, const Variable& input) {
  if (partial.is_null()) return partial;
  const Variable total = sum_to(conj(partial), input);
  return cast(is_complex(input) ? total : real(total), input.dtype());
}

// The factor of a chain rule, restricted to its support. A support whose mask takes a computation of its own is used
// only where an element of the derivative may be infinite or undefined.
RestrictedValue restricted_factor(const Apply& node, const Variable& g) {
  // The derivatives of linear operations are multiples of the factor by 1 and -1, which keep its zeros.
  if (touches_complex(node) || node.op().elementwise()->has(linear)) return {g, {}};
  RestrictedValue out = restricted_value(g);
  if (out.support.is_masked() && out.support.costly && !may_be_irregular(node.output())) return {g, {}};
  return out;
}

Variable restricted_partial(const ScalarOp& scalar, std::size_t input, const ChainPoint& at,
                            const RestrictedValue& factor, const Variable& g) {
  const Variable partial = scalar.partials[input](at);
  if (partial.is_null()) return partial;
  return partial.same_as(factor.value) ? g : restricted(partial, factor.support);
}

}  // namespace

Variable zero_derivative(const ChainPoint& at) { return zeros_like(at.g); }
Variable no_derivative(const ChainPoint& at) {
  return undefined_gradient(cat("`", at.out.str(), "` has no derivative with respect to this input"));
}

Variables Elemwise::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out(node.inputs().size(), disconnected());
  if (cotangents[0].is_disconnected()) return out;
  const bool complex = touches_complex(node);
  if (complex && !scalar.complex->holomorphic) return pullback_through_parts(node, cotangents);
  const RestrictedValue factor = restricted_factor(node, cotangents[0]);
  const ChainPoint at = chain_point(node, complex ? conj(cotangents[0]) : factor.value);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Variable& input = node.inputs()[i];
    if (!is_connected(scalar, node, i)) continue;
    if (is_zero(scalar, node, i) || factor.support.is_nowhere())
      out[i] = zeros_for(input);
    else if (complex)
      out[i] = complex_gradient_of(scalar.partials[i](at), input);
    else
      out[i] = gradient_of(restricted_partial(scalar, i, at, factor, cotangents[0]), input);
  }
  return out;
}

Variables Elemwise::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  const Variable output = node.output();
  if (touches_complex(node) && !scalar.complex->holomorphic) {
    for (auto& tangent : tangents)
      if (!tangent.is_disconnected()) return pushforward_through_parts(node, tangents);
    return {disconnected()};
  }
  Variable total;
  bool connected = false;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i].is_disconnected() || !is_connected(scalar, node, i)) continue;
    connected = true;
    if (is_zero(scalar, node, i)) continue;
    const RestrictedValue factor = restricted_factor(node, tangents[i]);
    if (factor.support.is_nowhere()) continue;
    const Variable part = restricted_partial(scalar, i, chain_point(node, factor.value), factor, tangents[i]);
    if (part.is_null()) return {part};
    total = total.defined() ? add(total, part) : part;
  }
  if (!connected) return {disconnected()};
  if (!total.defined()) return {zeros_like(output)};
  for (std::size_t axis = 0; axis < output.static_shape().size(); ++axis)
    if (broadcasts(total, axis) && !broadcasts(output, axis)) return {second(output, cast(total, output.dtype()))};
  return {cast(total, output.dtype())};
}

std::vector<std::vector<bool>> Elemwise::connection_pattern(const Apply& node) const {
  std::vector<std::vector<bool>> out;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) out.push_back({is_connected(scalar, node, i)});
  return out;
}

// ---- support --------------------------------------------------------------------------------------------------------

std::optional<Array> Elemwise::dependencies(const Apply&, int, InputDependencies& inputs) const {
  std::vector<int> operands;
  for (int i = scalar.reads_shape_of_first; i < scalar.arity; ++i) operands.push_back(i);
  const std::optional<Array> condition = scalar.has_condition ? inputs.value(0) : std::nullopt;
  if (!condition) return united_dependencies(inputs, operands);
  const Array taken = condition->astype(DType::Bool).broadcast_to(inputs.lengths()).contiguous();
  const Array out = united_dependencies(inputs, std::span(operands).subspan(1, 1)).copy(),
              others = united_dependencies(inputs, std::span(operands).subspan(2, 1));
  for (std::int64_t k = 0; k < out.size(); ++k)
    if (!taken.data_as<bool>()[k]) out.mutable_data_as<std::int64_t>()[k] = others.data_as<std::int64_t>()[k];
  return out;
}

std::vector<int> Elemwise::support_carriers(const Apply& node, int) const {
  if (touches_complex(node)) return {};
  if (scalar.has_condition || scalar.has(linear)) {
    std::vector<int> out;
    for (int i = scalar.has_condition; i < scalar.arity; ++i) out.push_back(i);
    return out;
  }
  if (scalar.reads_shape_of_first && scalar.arity == 2) return {1};
  return {};
}

Support Elemwise::support(const Apply& node, int, std::span<const Support> inputs) const {
  if (scalar.has_condition)
    return united(selected(node.input(0), true, inputs[1]), selected(node.input(0), false, inputs[2]));
  Support out = inputs[std::size_t(scalar.reads_shape_of_first)];
  for (const Support& other : inputs.subspan(std::size_t(scalar.reads_shape_of_first) + 1)) out = united(out, other);
  return out;
}

}  // namespace bitale
