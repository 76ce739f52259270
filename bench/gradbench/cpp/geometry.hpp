// Rotations of points in space by vectors and by angles, as expressions.
#pragma once

#include <bitale/bitale.hpp>

namespace gradbench {

bitale::Variable cross(const bitale::Variable& a, const bitale::Variable& b);
// Rodrigues' rotation of x by a vector, whose direction is the axis and whose length the angle.
bitale::Variable rotated(const bitale::Variable& axis, const bitale::Variable& x);
// Its matrix; the identity for angles below 0.0001.
bitale::Variable rotation(const bitale::Variable& axis);
// For each row of angles, about x, z and y: a matrix, with a fourth row and column of the identity.
bitale::Variable euler_rotations(const bitale::Variable& angles);

}  // namespace gradbench
