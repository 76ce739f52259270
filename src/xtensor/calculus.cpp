#include "bitale/xtensor/calculus.hpp"

#include <algorithm>

#include "autodiff/sweep.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/xtensor/align.hpp"

namespace bitale::xtensor {

DimList jacobian_dims(const DimList& expression, const DimList& wrt) {
  DimList out = expression;
  for (const Dim& dim : wrt) {
    std::string name = dim.name();
    while (std::ranges::find(out, name, &Dim::name) != out.end()) name += "_wrt";
    out.push_back(name == dim.name() ? dim : dim.renamed(Dim(name)));
  }
  return out;
}

Variable values_in_order(const XVariable& x, const DimList& dims, std::string_view who) {
  if (x.ndim() != int(dims.size())) {
    std::vector<std::string> names;
    for (const Dim& dim : dims) names.push_back(dim.name());
    throw ValueError(cat(who, ": expected the dimensions ", names_text(names), ", got ", x.str()));
  }
  std::vector<int> order;
  bool is_identity = true;
  for (const Dim& dim : dims) {
    const int axis = x.axis(dim.name(), who);
    merged(who, x.dims()[std::size_t(axis)], dim);  // checks coordinates
    is_identity = is_identity && axis == int(order.size());
    order.push_back(axis);
  }
  return is_identity ? x.values() : dimshuffle(x.values(), order);
}

XVariables grad(const XOperand& cost, const XVariables& wrt, const GradOptions& options) {
  const LocationScope here(cost.where);
  Variables tensors;
  for (const XVariable& each : wrt) tensors.push_back(each.values());
  const Variables found = bitale::grad(cost.variable.values(), tensors, options);
  XVariables out;
  for (std::size_t i = 0; i < wrt.size(); ++i) out.push_back(wrt[i].with_values(found[i]));
  return out;
}
XVariable grad(const XOperand& cost, const XVariable& wrt, const GradOptions& options) {
  return grad(cost, XVariables{wrt}, options)[0];
}

XVariable jacobian(const XOperand& expression, const XVariable& wrt, const GradOptions& options) {
  const LocationScope here(expression.where);
  return XVariable(bitale::jacobian(expression.variable.values(), wrt.values(), options),
                   jacobian_dims(expression.variable.dims(), wrt.dims()));
}

XVariable hessian(const XOperand& cost, const XVariable& wrt, const GradOptions& options) {
  const LocationScope here(cost.where);
  require_cost(cost.variable.values(), "hessian");
  if (wrt.ndim() <= 1)
    return XVariable(bitale::hessian(cost.variable.values(), wrt.values(), options),
                     jacobian_dims(wrt.dims(), wrt.dims()));
  return jacobian(grad(cost, wrt, options), wrt, options);
}

XVariable pushforward(const XOperand& output, const XVariable& wrt, const XVariable& tangent,
                      const GradOptions& options) {
  const LocationScope here(output.where);
  return output.variable.with_values(
      bitale::pushforward({output.variable.values()}, {wrt.values()},
                          {values_in_order(tangent, wrt.dims(), "pushforward: the tangent")}, options)[0]);
}
XVariable pullback(const XOperand& output, const XVariable& wrt, const XVariable& cotangent,
                   const GradOptions& options) {
  const LocationScope here(output.where);
  return wrt.with_values(
      bitale::pullback({output.variable.values()}, {wrt.values()},
                       {values_in_order(cotangent, output.variable.dims(), "pullback: the cotangent")}, options)[0]);
}

}  // namespace bitale::xtensor
