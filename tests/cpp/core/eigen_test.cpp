// Arrays as Eigen's matrices, and its expressions as arrays.
#include "bitale/core/eigen.hpp"

#include <doctest/doctest.h>

#include "bitale/core/error.hpp"

using namespace bitale;

TEST_CASE("Eigen reads and writes the memory of arrays") {
  const Array m{{1., 2., 3.}, {4., 5., 6.}};
  CHECK(matrix_as<double>(m)(1, 0) == 4);
  CHECK(matrix_as<double>(m.transpose()) == matrix_as<double>(m).transpose());
  CHECK(vector_as<double>(m[{slice(), 1}]).sum() == 7);
  mutable_matrix_as<double>(m) *= 2;
  mutable_vector_as<double>(m[0]).setConstant(-1);
  CHECK(identical(m, Array{{-1., -1., -1.}, {8., 10., 12.}}));

  CHECK_THROWS_AS(matrix_as<float>(m), TypeError);
  CHECK_THROWS_AS(vector_as<double>(m), ValueError);
  CHECK_THROWS_AS(mutable_matrix_as<double>(m.read_only()), ValueError);
  CHECK_THROWS_WITH_AS(vector_as<double>(m[{0, slice({}, {}, -1)}]), doctest::Contains("-8"), ValueError);
}

TEST_CASE("expressions of Eigen are arrays") {
  Eigen::Matrix2d a;
  a << 1, 2, 3, 4;
  CHECK(identical(array_of(a * 2), Array{{2., 4.}, {6., 8.}}));
  CHECK(identical(array_of(a.col(1)), Array{2., 4.}));
  CHECK(identical(array_of(a.row(1)), Array{3., 4.}));
  CHECK(array_of(Eigen::MatrixXf(0, 3)).shape() == Dims{0, 3});
}
