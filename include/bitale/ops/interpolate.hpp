// Interpolation between points in one dimension: formulas of searchsorted and indexing, so that they fuse and have
// derivatives. Names and arguments follow PyTensor's and NumPy's.
#pragma once

#include <functional>
#include <optional>

#include "bitale/ops/operand.hpp"

namespace bitale {

// Linear: between at least two points; Nearest: the left one of two equally near; First: the nearest point strictly
// below; Last: the nearest not below; Mean: of both neighbours.
enum class InterpolationMethod { Linear, Nearest, First, Last, Mean };
struct InterpolationOptions {
  InterpolationMethod method = InterpolationMethod::Linear;
  // The values below and above all points, unless extrapolated; by default the outermost values.
  std::optional<Operand> left_pad = {}, right_pad = {};
  bool extrapolate = true;  // continue outside of the points as between the first and the last two
};
// A function that interpolates between the points (x, y), vectors of one length with x in any order; its argument may
// have any shape. nan at nan. ValueError for points that are not vectors or differ in number.
std::function<Variable(const Operand&)> interpolate1d(const Operand& x, const Operand& y,
                                                      const InterpolationOptions& options = {});

struct InterpOptions {
  std::optional<Operand> left = {}, right = {};  // values below and above all points
  std::optional<Operand> period = {};            // x and xp are taken modulo it
};
// Linear interpolation between the points (xp, fp) at x, as numpy.interp.
Variable interp(const Operand& x, const Operand& xp, const Operand& fp, const InterpOptions& options = {});

}  // namespace bitale
