// Integrals and derivatives of sampled functions, polynomials, and cross products. Names and arguments are NumPy's.
#pragma once

#include <optional>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale {

// The integral along an axis of samples y, by trapezoids: at the points x (a vector, or a tensor that broadcasts with
// y), or at points with the distance dx.
Variable trapezoid(const Operand& y, const std::optional<Operand>& x = {}, const Operand& dx = 1.0, int axis = -1);

// The derivative of samples along each axis: differences of the neighbours of each point, which are exact for
// parabolas, and at the ends differences of the next points (edge_order 1) or of the next three (2). spacings: none for
// distances of 1, one for all axes, or one for each: a scalar distance, or a vector of the points. ValueError for other
// numbers of spacings, other edge orders, and fewer than edge_order + 1 points.
Variables gradient(const Operand& f, const std::vector<Operand>& spacings = {}, const Axes& axis = all_axes,
                   int edge_order = 1);

// diff of x with further elements before and behind it along the axis: tensors that are joined to it, or a scalar for
// one element.
struct DiffOptions {
  int n = 1, axis = -1;
  std::optional<Operand> prepend = {}, append = {};
};
Variable diff(const Operand& x, const DiffOptions& options);

// The polynomial with these coefficients, the highest power first, at x, by Horner's rule.
Variable polyval(const Operand& p, const Operand& x);
// The powers of each element of a vector: from n - 1 down to 0, or up with `increasing`. n: by default the length of x.
struct VanderOptions {
  bool increasing = false;  // whether the powers increase from left to right
};
Variable vander(const Operand& x, const std::optional<Operand>& n = {}, const VanderOptions& options = {});

// The vectors' cross products; they are along axisa of a, axisb of b, and axisc of the result, and have length 3. Other
// dimensions broadcast. ValueError for other lengths; one that is not known is checked by a call.
struct CrossAxes {
  int axisa = -1, axisb = -1, axisc = -1;
};
Variable cross(const Operand& a, const Operand& b, const CrossAxes& axes = {});
inline Variable cross(const Operand& a, const Operand& b, int axis) { return cross(a, b, CrossAxes{axis, axis, axis}); }

}  // namespace bitale
