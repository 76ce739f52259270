// Sequences of numbers and triangles of ones. Names and arguments are NumPy's.
#pragma once

#include <optional>

#include "bitale/ops/ops.hpp"

namespace bitale {

struct SequenceOptions {
  bool endpoint = true;             // whether `stop` is the last number
  std::optional<DType> dtype = {};  // config.floatX when not given
  int axis = 0;                     // position of the new dimension, for limits that are tensors
};
// `num` numbers with equal steps from start to stop. Limits broadcast. For an integer dtype they are rounded down.
Variable linspace(const Operand& start, const Operand& stop, const Operand& num = 50,
                  const SequenceOptions& options = {});
// The step between such numbers.
enum class Endpoint { Excluded, Included };
Variable linspace_step(const Operand& start, const Operand& stop, const Operand& num = 50,
                       Endpoint endpoint = Endpoint::Included);
// base to the power of such numbers.
Variable logspace(const Operand& start, const Operand& stop, const Operand& num = 50, const Operand& base = 10.0,
                  const SequenceOptions& options = {});
// `num` numbers from start to stop, with a constant ratio of neighbours; both limits are of one sign and not 0.
Variable geomspace(const Operand& start, const Operand& stop, const Operand& num = 50,
                   const SequenceOptions& options = {});

// A tensor of this shape, or of a tensor's shape, whose elements all have this value; in the value's dtype unless
// another is given.
Variable full(const Operands& shape, const Operand& value, std::optional<DType> dtype = {});
Variable full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {});
// The same with unspecified elements (they are zeros).
Variable empty(const Operands& shape, std::optional<DType> dtype = {});
Variable empty_like(const Operand& x, std::optional<DType> dtype = {});
// Ones on the main diagonal of a matrix of x's shape. ValueError unless x is a matrix.
Variable identity_like(const Operand& x, std::optional<DType> dtype = {});
// The Bartlett window of m points: a triangle that is 0 at both ends.
Variable bartlett(const Operand& m);
// Coordinates for slices that have a stop: as numpy.mgrid, those of all points; as numpy.ogrid, such that they
// broadcast.
Variables mgrid(const std::vector<Slice>& slices);
Variables ogrid(const std::vector<Slice>& slices);

// The coordinates of the points of a grid, from those along each of its dimensions, as numpy.meshgrid. Operands are
// vectors, scalars, or tensors that are flattened to vectors. sparse: the results only broadcast to the grid. With
// Cartesian indexing ("xy") the first two dimensions are exchanged, with Matrix ("ij") they are not.
enum class GridIndexing { Cartesian, Matrix };
struct MeshgridOptions {
  bool sparse = false;
  GridIndexing indexing = GridIndexing::Cartesian;
};
Variables meshgrid(const Operands& xi, const MeshgridOptions& options = {});

// The positions on and below (above) diagonal k of [n, m], one vector per dimension; m defaults to n.
Variables tril_indices(const Operand& n, int k = 0, const std::optional<Operand>& m = {});
Variables triu_indices(const Operand& n, int k = 0, const std::optional<Operand>& m = {});
// The same for a matrix's shape. ValueError for another rank.
Variables tril_indices_from(const Operand& x, int k = 0);
Variables triu_indices_from(const Operand& x, int k = 0);

// Ones on and below diagonal k of [n, m], zeros above; m defaults to n.
Variable tri(const Operand& n, const std::optional<Operand>& m = {}, int k = 0, std::optional<DType> dtype = {});
// Copies with nan and the infinities replaced; infinities by the dtype's largest numbers unless others are given.
Variable nan_to_num(const Operand& x, const Operand& nan = 0.0, const std::optional<Operand>& posinf = {},
                    const std::optional<Operand>& neginf = {});
// x with `value` on its main diagonal; for more than two dimensions, on the diagonal on which all indices are equal.
// fill_diagonal_offset: on another diagonal of a matrix, whose offset may be symbolic.
Variable fill_diagonal(const Operand& x, const Operand& value);
Variable fill_diagonal_offset(const Operand& x, const Operand& value, const Operand& offset);

// Ones on diagonal k of an [n, m] matrix, where k is an integer scalar that is known when it is computed.
Variable eye(const Operand& n, const std::optional<Operand>& m, const Variable& k, std::optional<DType> dtype = {});

}  // namespace bitale
