// Sparse matrices as values of C++: products, derivatives and arrangement against dense ones.
#include "bitale/sparse/matrix.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/sparse/functions.hpp"

using namespace bitale;

namespace {

// [[0, 2, 0], [1, 0, 3]]
const Array indices{std::int64_t(1), std::int64_t(0), std::int64_t(2)},
    indptr{std::int64_t(0), std::int64_t(1), std::int64_t(3)};

sparse::Matrix sample(const Variable& data) {
  return sparse::Matrix(sparse::Pattern(sparse::Format::csr, indices, indptr, 2, 3), data);
}

Variable length_of_rows(const Variable& bounds) { return subtensor(shape(bounds), {0}) - 1; }

std::vector<double> values_of(const Array& array) {
  const Array flat = array.contiguous();
  const double* v = flat.data_as<double>();
  return {v, v + flat.size()};
}

}  // namespace

TEST_CASE("products with sparse matrices and their gradients") {
  const Variable data = dvector("data"), x = dvector("x");
  const sparse::Matrix a = sample(data);
  const Variable y = sparse::dot(a, x);
  const auto f = function({data, x}, {y, grad(sum(sqr(y)), data), grad(sum(sqr(y)), x)});
  const auto out = f({Array{2.0, 1.0, 3.0}, Array{1.0, 2.0, 3.0}});
  CHECK(values_of(out[0]) == std::vector<double>{4, 10});
  CHECK(values_of(out[1]) == std::vector<double>{16, 20, 60});
  CHECK(values_of(out[2]) == std::vector<double>{20, 16, 60});
}

TEST_CASE("arrangement of sparse matrices") {
  const sparse::Matrix a = sample(constant(Array{2.0, 1.0, 3.0}));
  const auto dense = [](const sparse::Matrix& m) { return values_of(function({}, {sparse::to_dense(m)})({})[0]); };
  CHECK(dense(a.to(sparse::Format::csc)) == std::vector<double>{0, 2, 0, 1, 0, 3});
  CHECK(dense(a.transpose()) == std::vector<double>{0, 1, 2, 0, 0, 3});
  CHECK(dense(sparse::select(a, {1, 0}, {2, 1})) == std::vector<double>{3, 0, 0, 2});
  CHECK(dense(sparse::dot(a, a.transpose())) == std::vector<double>{4, 0, 0, 10});
  CHECK(dense(sparse::block({{a}, {a}}, sparse::Format::csr)).size() == 12);
  CHECK(a.pattern().same_as(sample(dvector()).pattern()));
}

TEST_CASE("patterns that a call gives") {
  const Variable data = dvector("data"), at = lvector("indices"), bounds = lvector("indptr"),
                 columns = lscalar("columns");
  const sparse::Matrix a(sparse::Pattern::unchecked(sparse::Format::csr, at, bounds, length_of_rows(bounds), columns),
                         data);
  const auto dense = [&](const sparse::Matrix& m) {
    const auto f =
        function({data, at, bounds, columns}, {sparse::to_dense(m)}, {.on_unused_input = OnUnusedInput::Ignore});
    return values_of(f({Array{2.0, 0.0, 3.0}, indices, indptr, std::int64_t(3)})[0]);
  };
  CHECK(dense(a.to(sparse::Format::csc)) == std::vector<double>{0, 2, 0, 0, 0, 3});
  CHECK(dense(sparse::add(a, a)) == std::vector<double>{0, 4, 0, 0, 0, 6});
  CHECK(dense(sparse::dot(a, a.transpose())) == std::vector<double>{4, 0, 0, 9});
  CHECK(dense(sparse::block({{a}, {a}}, sparse::Format::csr)).size() == 12);
  CHECK(dense(sparse::remove_zeros(a)) == std::vector<double>{0, 2, 0, 0, 0, 3});
  CHECK(dense(sparse::take(a, Array{std::int64_t(-1), std::int64_t(0)}, 0)) == std::vector<double>{0, 0, 3, 0, 2, 0});
  CHECK(dense(sparse::take(a, Array{std::int64_t(2)}, 1)) == std::vector<double>{0, 3});
}

TEST_CASE("indices that are not those of a matrix") {
  const auto pattern = [](const Array& i, const Array& p) { return sparse::Pattern(sparse::Format::csr, i, p, 2, 3); };
  const auto n = [](std::initializer_list<int> list) {
    return Array(std::vector<std::int64_t>(list.begin(), list.end()));
  };
  CHECK_THROWS_AS(pattern(n({1, 0, 3}), n({0, 1, 3})), ValueError);
  CHECK_THROWS_AS(pattern(n({1, 2, 0}), n({0, 1, 3})), ValueError);
  CHECK_THROWS_AS(pattern(n({1, 0, 2}), n({0, 4, 3})), ValueError);
  CHECK_THROWS_AS(pattern(n({1, 0, 2}), n({0, 3})), ValueError);
  CHECK_THROWS_AS(sample(constant(Array{1.0})), ShapeError);
  CHECK_THROWS_AS(sparse::dot(sample(dvector()), constant(Array{1.0, 2.0})), ShapeError);
}
