// Systems with sparse matrices by the options of C++, against products with their solutions.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/sparse/cholesky.hpp"
#include "bitale/sparse/functions.hpp"
#include "bitale/sparse/lu.hpp"

using namespace bitale;

namespace {

// [[4, 1], [2, 5]], or times 1 + i above and 1 - i below the diagonal.
sparse::Matrix square(const Variable& data) {
  const Array indices{std::int64_t(0), std::int64_t(1), std::int64_t(0), std::int64_t(1)},
      indptr{std::int64_t(0), std::int64_t(2), std::int64_t(4)};
  return sparse::Matrix(sparse::Pattern(sparse::Format::csr, indices, indptr, 2, 2), data);
}

void check_values(const Variable& x, std::initializer_list<double> expected) {
  const Array value = function({}, {x})({})[0].contiguous();
  REQUIRE(value.size() == std::int64_t(expected.size()));
  for (std::int64_t k = 0; k < value.size(); ++k)
    CHECK(value.data_as<double>()[k] == doctest::Approx(expected.begin()[k]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("triangles, their transposes, and ones on the diagonal") {
  const sparse::Matrix a = square(constant(Array{4.0, 1.0, 2.0, 5.0}));
  const Variable b = constant(Array{4.0, 12.0});
  using sparse::Trans;
  check_values(sparse::solve_triangular(a, b), {1, 2});
  check_values(sparse::solve_triangular(a, b, {.lower = false}), {0.4, 2.4});
  check_values(sparse::solve_triangular(a, b, {.trans = Trans::transpose}), {-0.2, 2.4});
  check_values(sparse::solve_triangular(a, b, {.unit_diagonal = true}), {4, 4});
  check_values(sparse::solve_triangular(a, b, {.lower = false, .trans = Trans::adjoint, .unit_diagonal = true}),
               {4, 8});
}

TEST_CASE("systems by what is assumed of the matrix") {
  const sparse::Matrix a = square(constant(Array{4.0, 1.0, 2.0, 5.0}));
  const auto by = [&](Assume kind, std::initializer_list<double> b, bool lower = true, bool transposed = false) {
    return sparse::solve(a, constant(Array(b)), {kind, lower, transposed});
  };
  check_values(by(Assume::General, {6, 12}), {1, 2});
  check_values(by(Assume::General, {8, 11}, true, true), {1, 2});
  for (Assume kind : {Assume::PositiveDefinite, Assume::Symmetric, Assume::Hermitian}) {
    check_values(by(kind, {8, 12}), {1, 2});
    check_values(by(kind, {6, 11}, false), {1, 2});
  }
  check_values(by(Assume::Diagonal, {4, 10}), {1, 2});
  check_values(by(Assume::LowerTriangular, {4, 12}), {1, 2});
  check_values(by(Assume::UpperTriangular, {6, 10}), {1, 2});
  CHECK_THROWS_AS(by(Assume::Banded, {1, 1}), ValueError);
}

TEST_CASE("factors of a Hermitian matrix") {
  const Variable re = constant(Array{4.0, 1.0, 1.0, 5.0}), im = constant(Array{0.0, 1.0, -1.0, 0.0});
  const sparse::Matrix a = square(complex(re, im));
  const sparse::Cholesky factor(a);
  const Variable b = complex(constant(Array{6.0, 11.0}), constant(Array{2.0, -1.0}));
  check_values(real(factor.solve(b)), {1, 2});
  check_values(imag(factor.solve(b)), {0, 0});
  check_values(exp(factor.logdet()), {18});
  // L L^H is the matrix in the order of elimination, of which the diagonal is known.
  const Variable lower = sparse::to_dense(factor.factor());
  const Variable product = matmul(lower, transpose(conj(lower)));
  check_values(imag(diagonal(product)), {0, 0});
  check_values(sum(real(diagonal(product))), {9});
  check_values(real(sparse::Lu(a).solve(b, sparse::Trans::adjoint)), {1, 2});
}
