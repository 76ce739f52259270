// The right-hand side of a system of differential equations: an expression of y, t and parameters, which is built once
// and then applied to other values. The parameters are what the expression reads of the surrounding graph.
#pragma once

#include "bitale/graph/traversal.hpp"
#include "bitale/integrate/odeint.hpp"

namespace bitale::integrate {

class OdeSystem {
 public:
  // Errors as of odeint for a derivative that does not fit `y0`.
  OdeSystem(const OdeFunction& f, const Variable& y0);

  Variable slope(const Variable& y, const Variable& t) const;
  // The derivatives of the slope: a matrix over the elements of y, and of the shape of y; null if f does not read t.
  Variable jacobian(const Variable& y, const Variable& t) const;
  Variable slope_by_time(const Variable& y, const Variable& t) const;
  const Type& type() const { return y_.type(); }               // of y
  const Variables& parameters() const { return parameters_; }  // leaves of the expression
  const Variables& values() const { return values_; }          // of the parameters, in the surrounding graph

 private:
  Variable y_, t_, slope_;
  Variables parameters_, values_;
};

}  // namespace bitale::integrate
