// Complex numbers in C++: arrays and their text, expressions, compiled functions, gradients, errors.
#include <doctest/doctest.h>

#include <complex>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

using Number = std::complex<double>;

Array numbers(std::initializer_list<Number> values) { return Array(values); }

}  // namespace

TEST_CASE("complex arrays have two components, and print as in NumPy") {
  const Array z = numbers({{1, 2}, {-0.5, -1}, {3, 0}});
  CHECK(z.dtype() == DType::Complex128);
  CHECK(identical(z.component(0), Array{1., -0.5, 3.}));
  CHECK(identical(z.component(1), Array{2., -1., 0.}));
  CHECK(z.as_pairs().shape() == Dims{3, 2});
  CHECK(identical(z.as_pairs().take_index(1, 0).as_complex(), z));
  CHECK(z.str() == "[ 1. +2.j -0.5-1.j  3. +0.j]");
  CHECK(Array(Number(1, -2)).str() == "(1-2j)");
  CHECK(Array(Number(0, 2.5)).str() == "2.5j");
  CHECK(z.repr() == "array([ 1. +2.j, -0.5-1.j,  3. +0.j])");
  CHECK(identical(Array{1., 2.}.astype(DType::Complex128), numbers({1., 2.})));
  CHECK_THROWS_WITH_AS(z.astype(DType::Float64), doctest::Contains("imag"), TypeError);
  CHECK_THROWS_AS(Array(Number(1)).item(), TypeError);
  CHECK(allclose(z, numbers({{1, 2}, {-0.5, -1}, {3, 1e-9}}), 1e-8));
  CHECK_FALSE(allclose(z, numbers({{1, 2}, {-0.5, 1}, {3, 0}})));
}

TEST_CASE("complex expressions and their gradients compile") {
  const Variable z = tensor("z", DType::Complex128, {unknown_length});
  const Variable x = vector("x");
  const auto f = function({z, x}, Variables{z * complex(x, 1), abs(z), exp(z).owner().output(), conj(z)});
  const Array values[] = {numbers({{3, 4}, {0, -1}}), Array{1., 2.}};
  const auto out = f({values[0], values[1]});
  CHECK(allclose(out[0], numbers({{-1, 7}, {1, -2}}), 1e-14));
  CHECK(allclose(out[1], Array{5., 1.}, 1e-14));
  CHECK(allclose(out[2], numbers({std::exp(Number(3, 4)), std::exp(Number(0, -1))}), 1e-14));
  CHECK(identical(out[3], numbers({{3, -4}, {0, 1}})));
  const auto gradient = function({z}, grad(sum(sqr(abs(z))), z));
  CHECK(allclose(gradient({values[0]})[0], numbers({{6, 8}, {0, -2}}), 1e-13));
}

TEST_CASE("operations without a complex form are refused by name") {
  const Variable z = tensor("z", DType::Complex64, {unknown_length}), x = vector("x");
  CHECK_THROWS_WITH_AS(floor(z), doctest::Contains("floor: not defined for complex numbers"), TypeError);
  CHECK_THROWS_WITH_AS(z < x, doctest::Contains("complex"), TypeError);
  CHECK_THROWS_WITH_AS(cast(z, DType::Float32), doctest::Contains("are no float32"), TypeError);
  CHECK_THROWS_WITH_AS(max(z), doctest::Contains("complex64"), NotImplementedError);
  CHECK_THROWS_WITH_AS(grad(sum(z), z), doctest::Contains("must be real"), TypeError);
  CHECK_THROWS_WITH_AS(sort(z), doctest::Contains("complex64"), NotImplementedError);
}
