// Derivatives of labelled tensors: those of the tensors, with names for their dimensions.
#pragma once

#include "bitale/autodiff/gradient.hpp"
#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor {

// Gradients of a scalar: they have the dimensions of wrt.
XVariables grad(const XOperand& cost, const XVariables& wrt, const GradOptions& options = {});
XVariable grad(const XOperand& cost, const XVariable& wrt, const GradOptions& options = {});
// The dimensions of the expression, then those of wrt. A name of both is followed by "_wrt" in the latter.
XVariable jacobian(const XOperand& expression, const XVariable& wrt, const GradOptions& options = {});
// Second derivatives with respect to a tensor of any rank: its dimensions, and the same with "_wrt".
XVariable hessian(const XOperand& cost, const XVariable& wrt, const GradOptions& options = {});
// The Jacobian times tangents, which are aligned with wrt, or cotangents, which are aligned with the outputs, by names.
XVariable pushforward(const XOperand& output, const XVariable& wrt, const XVariable& tangent,
                      const GradOptions& options = {});
XVariable pullback(const XOperand& output, const XVariable& wrt, const XVariable& cotangent,
                   const GradOptions& options = {});

// The dimensions of a Jacobian.
DimList jacobian_dims(const DimList& expression, const DimList& wrt);
// The values with their axes in the order of these dimensions. ValueError unless they are the same, with the same
// coordinates.
Variable values_in_order(const XVariable& x, const DimList& dims, std::string_view who);

}  // namespace bitale::xtensor
