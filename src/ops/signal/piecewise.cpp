// select and piecewise, as chains of `switch`.
#include "bitale/ops/piecewise.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale {

Variable select(const Operands& conditions, const Operands& choices, const Operand& otherwise) {
  const LocationScope here(conditions.where);
  const std::size_t count = conditions.variables.size();
  if (count == 0) throw ValueError("select: expected at least one condition");
  if (choices.variables.size() != count)
    throw ValueError(cat("select: expected as many choices as conditions, got ", choices.variables.size(),
                         " choices and ", count, " conditions"));
  for (const Variable& each : conditions.variables)
    if (each.dtype() != DType::Bool)
      throw TypeError(
          cat("select: expected conditions of dtype bool, got ", each.str(), " of dtype ", dtype_name(each.dtype())));
  Variable out = otherwise.variable;
  for (std::size_t i = count; i-- > 0;) out = switch_(conditions.variables[i], choices.variables[i], out);
  return out;
}

Variable piecewise(const Operand& x, const Operands& conditions, const std::vector<PiecewiseFunction>& pieces) {
  const LocationScope here(x.where);
  const std::size_t count = conditions.variables.size();
  if (pieces.size() != count && pieces.size() != count + 1)
    throw ValueError(cat("piecewise: expected ", count, " or ", count + 1, " pieces for ", count, " conditions, got ",
                         pieces.size()));
  Variable out = zeros_like(x);
  if (pieces.size() > count) out = pieces.back()(x.variable);
  for (std::size_t i = 0; i < count; ++i) out = switch_(neq(conditions.variables[i], 0), pieces[i](x.variable), out);
  return out.dtype() == x.dtype() ? out : cast(out, promote(out.dtype(), x.dtype()));
}

}  // namespace bitale
