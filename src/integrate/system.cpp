#include "integrate/system.hpp"

#include <algorithm>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/calculus.hpp"
#include "graph/pointer_map.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/captures.hpp"

namespace bitale::integrate {

namespace {

void require_fit(const Variable& slope, const Variable& y0) {
  const auto refuse = [&]<class Error>(std::string_view what) {
    Error error(cat("odeint: the derivative has the type ", slope.type()->str(), ", and y0 the type ", y0.type()->str(),
                    ": expected the same ", what));
    if (const Location where = slope.where()) error.add("built at", where.str_with_callers());
    throw error;
  };
  if (!as_tensor(slope.type()) || slope.dtype() != y0.dtype()) refuse.operator()<TypeError>("dtype");
  bool fits = slope.ndim() == y0.ndim();
  for (int axis = 0; fits && axis < y0.ndim(); ++axis) {
    const auto a = slope.static_shape()[std::size_t(axis)], b = y0.static_shape()[std::size_t(axis)];
    fits = a == b || a == unknown_length || b == unknown_length;
  }
  if (!fits) refuse.operator()<ShapeError>("shape");
}

// The lengths that are known of either.
Dims common_shape(const Variable& a, const Variable& b) {
  Dims shape = a.static_shape();
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == unknown_length) shape[axis] = b.static_shape()[axis];
  return shape;
}

// Throws a ValueError where the derivative draws random numbers that depend on the leaves: it would be another function
// at each evaluation. A draw that does not depend on them is one value for the whole solution.
void require_no_draws(const Variable& slope, const VariableSet& leaves) {
  PointerSet inside;
  for (auto& leaf : leaves) inside.insert(leaf.node());
  const Variables roots{slope};
  for (const Apply& node : toposort(roots, leaves)) {
    if (!std::ranges::any_of(node.inputs(), [&](const Variable& v) { return inside.contains(v.node()); })) continue;
    for (auto& output : node.outputs()) {
      inside.insert(output.node());
      if (!dynamic_cast<const RandomType*>(output.type().get())) continue;
      ValueError error(cat("odeint: the function of the derivative draws random numbers that depend on y or t, by ",
                           node.op().label(), ", and would be another function at each evaluation"));
      if (const Location where = output.where()) error.add("built at", where.str_with_callers());
      error.add("hint", "draw standard numbers outside of the function and transform them in it, or step by a scan");
      throw error;
    }
  }
}

}  // namespace

OdeSystem::OdeSystem(const OdeFunction& f, const Variable& y0)
    : y_(y0.type(), "y"), t_(tensor_type(y0.dtype(), Dims{}), "t") {
  const TestValuesOff none_are_known;
  slope_ = f(y_, t_);
  if (!slope_.defined()) throw TypeError("odeint: the function of the derivative returns nothing");
  require_fit(slope_, y0);
  // What is known of the derivative's lengths holds for y.
  const Variable y(tensor_type(y0.dtype(), common_shape(y_, slope_)), "y");
  slope_ = clone_replace(Variables{slope_}, {{y_, y}}).front();
  y_ = y;
  require_no_draws(slope_, {y_, t_});
  const Captured captured = closed({slope_}, {y_, t_});
  values_ = captured.values;
  parameters_ = captured.leaves;
  slope_ = with_static_shape_of(y_, captured.outputs.front());
}

Variable OdeSystem::slope(const Variable& y, const Variable& t) const {
  return clone_replace(Variables{slope_}, {{y_, y}, {t_, t}}).front();
}

Variable OdeSystem::jacobian(const Variable& y, const Variable& t) const {
  const Variable flat(tensor_type(y_.dtype(), Dims{static_length(size(y_))}));
  Variable as_given = flat;
  if (y_.ndim() == 0) as_given = sum(flat);
  if (y_.ndim() > 1) {
    Operands lengths(Variables{});
    for (int axis = 0; axis < y_.ndim(); ++axis) lengths.variables.push_back(length_of(y, axis));
    as_given = with_static_shape_of(y_, reshape(flat, lengths));
  }
  const Variable slope = y_.ndim() == 1 ? slope_ : flatten(slope_);
  const Variable outputs = clone_replace(Variables{slope}, {{y_, as_given}, {t_, t}}).front();
  const Variable found = bitale::jacobian(outputs, flat, {.disconnected_inputs = OnDisconnected::Ignore});
  return clone_replace(Variables{found}, {{flat, y.ndim() == 1 ? y : flatten(y)}}).front();
}

Variable OdeSystem::slope_by_time(const Variable& y, const Variable& t) const {
  const Variable found = calculus().pushforward({slope_}, {t_}, {ones_like(t_)}).front();
  if (found.is_disconnected()) return {};
  return clone_replace(Variables{found}, {{y_, y}, {t_, t}}).front();
}

}  // namespace bitale::integrate
