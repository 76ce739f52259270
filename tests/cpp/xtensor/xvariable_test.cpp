// Labelled tensors as values of C++: arithmetic by names, the same graphs as without names, derivatives, indexing,
// groups, and errors.
#include "bitale/xtensor/variable.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/xtensor/calculus.hpp"
#include "bitale/xtensor/functions.hpp"
#include "bitale/xtensor/indexing.hpp"
#include "bitale/xtensor/linalg.hpp"
#include "bitale/xtensor/selection.hpp"
#include "bitale/xtensor/stats.hpp"
#include "bitale/xtensor/windows.hpp"

using namespace bitale;
using xtensor::Dim;
using xtensor::XVariable;

namespace {

std::vector<double> values_of(const XVariable& x) {
  const Array flat = function({}, {x.values()})({})[0].astype(DType::Float64).contiguous();
  return {flat.data_as<double>(), flat.data_as<double>() + flat.size()};
}

XVariable table() { return XVariable(Array{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, {Dim("country"), Dim("year")}); }
XVariable weights() { return XVariable(Array{1.0, 10.0, 100.0}, {Dim("year")}); }
using Names = std::vector<std::string>;
using Values = std::vector<double>;

}  // namespace

TEST_CASE("labelled operands meet by names") {
  const XVariable x = table(), w = weights();
  CHECK((x * w).names() == Names{"country", "year"});
  CHECK((w * x).names() == Names{"year", "country"});
  CHECK(values_of(w * x) == Values{1, 4, 20, 50, 300, 600});
  CHECK(values_of(x + 1.0) == Values{2, 3, 4, 5, 6, 7});
  CHECK(values_of(xtensor::sum(x, "year")) == Values{6, 15});
  CHECK(values_of(xtensor::dot(x, w)) == Values{321, 654});
  CHECK(values_of(xtensor::transpose(x, {"year", "..."})) == Values{1, 4, 2, 5, 3, 6});
  CHECK(values_of(xtensor::stack(x, "all", {"year", "country"})) == Values{1, 4, 2, 5, 3, 6});
  CHECK(x.str().find("[country: 2, year: 3]") != std::string::npos);
}

TEST_CASE("a labelled expression is the graph of the one without names") {
  const XVariable x = xtensor::xtensor("x", {"a", "b"}), y = xtensor::xtensor("y", {"b"});
  const auto text = [&](const Variable& loss) {
    const Variables found = grad(loss, Variables{x.values(), y.values()});
    return function({x.values(), y.values()}, {loss, found[0], found[1]}).dprint();
  };
  CHECK(text(xtensor::sum(xtensor::sqr(x - y)).values()) == text(sum(sqr(x.values() - y.values()), Axes{0, 1})));
}

TEST_CASE("derivatives of labelled tensors have names") {
  const XVariable x = table(), w = weights();
  CHECK(xtensor::grad(xtensor::sum(x * w), w).names() == Names{"year"});
  CHECK(values_of(xtensor::grad(xtensor::sum(x * w), w)) == Values{5, 7, 9});
  CHECK(xtensor::jacobian(x * w, w).names() == Names{"country", "year", "year_wrt"});
  CHECK(xtensor::hessian(xtensor::sum(xtensor::sqr(x)), x).names() ==
        Names{"country", "year", "country_wrt", "year_wrt"});
  CHECK(values_of(xtensor::pushforward(x * w, w, w)) == Values{1, 20, 300, 4, 50, 600});
  CHECK(values_of(xtensor::pullback(x * w, w, xtensor::transpose(x, {}))) == Values{17, 29, 45});
}

TEST_CASE("positions and coordinates of labelled tensors") {
  const Dim year("year", {}, xtensor::coordinates({std::int64_t(1990), std::int64_t(2000), std::int64_t(2010)}));
  const XVariable x(table().values(), {Dim("country"), year});
  const XVariable some =
      xtensor::isel(x, {{"year", xtensor::index_along(year, Array{std::int64_t(2), std::int64_t(0)})}});
  CHECK(values_of(some) == Values{3, 1, 6, 4});
  CHECK(some.dims()[1].coordinates()->label(0) == "2010");
  CHECK(values_of(xtensor::set(xtensor::isel(x, {{"year", Slice{.start = Operand(1)}}}), 0.0)) ==
        Values{1, 0, 0, 4, 0, 0});
  CHECK_THROWS_AS(x + some, ShapeError);
  CHECK_THROWS_WITH_AS(x + xtensor::rename(x, {{"year", Dim("year", {}, xtensor::coordinates({1.0, 2.0, 3.0}))}}),
                       doctest::Contains("the coordinates along \"year\" differ"), ValueError);
  CHECK(values_of(xtensor::diff(x, "year")) == Values{1, 1, 1, 1});
  const xtensor::Groups groups(x, "year", {1, 0, 1}, Dim("decade", 2));
  CHECK(groups.sum().names() == Names{"country", "decade"});
  CHECK(values_of(groups.sum()) == Values{2, 4, 5, 10});
  CHECK(values_of(groups.max()) == Values{2, 3, 5, 6});
}

TEST_CASE("labels of labelled tensors") {
  const Dim country("country", {}, xtensor::coordinates({std::string("DE"), std::string("FR")})),
      year("year", {}, xtensor::coordinates({std::int64_t(1990), 2000.0, std::int64_t(2010)}));
  const XVariable x(table().values(), {country, year});
  CHECK(xtensor::sel(x, {{"country", "FR"}}).names() == Names{"year"});
  CHECK(values_of(xtensor::sel(x, {{"country", "FR"}, {"year", 2000}})) == Values{5});
  const XVariable two =
      xtensor::sel(x, {{"year", std::vector<xtensor::Label>{std::int64_t(2010), std::int64_t(1990)}}});
  CHECK(values_of(two) == Values{3, 1, 6, 4});
  CHECK(two.dims()[1].coordinates()->label(1) == "1990");
  CHECK(values_of(xtensor::sel(x, {{"year", xtensor::between(1995.0, {})}})) == Values{2, 3, 5, 6});
  CHECK(values_of(xtensor::sel(x, {{"year", xtensor::between({}, std::int64_t(2000))}})) == Values{1, 2, 4, 5});
  CHECK(values_of(xtensor::sel(two, {{"year", xtensor::between(2000.0, {})}})) == Values{1, 4});
  CHECK(values_of(xtensor::sel(x, {{"country", xtensor::between(std::string("E"), {})}})) == Values{4, 5, 6});
  const auto inexact = [&](xtensor::Inexact method, std::optional<double> tolerance = {}) {
    return values_of(xtensor::sel(x, {{"year", 2004}}, {.method = method, .tolerance = tolerance}));
  };
  CHECK(inexact(xtensor::Inexact::Nearest) == Values{2, 5});
  CHECK(inexact(xtensor::Inexact::Pad) == Values{2, 5});
  CHECK(inexact(xtensor::Inexact::Backfill) == Values{3, 6});
  CHECK_THROWS_WITH_AS(inexact(xtensor::Inexact::Nearest, 3.0), doctest::Contains("tolerance=3"), KeyError);
  CHECK_THROWS_WITH_AS(xtensor::sel(x, {{"country", "GE"}}), doctest::Contains("did you mean \"DE\"?"), KeyError);
  CHECK_THROWS_WITH_AS(xtensor::sel(x, {{"year", 2004}}), doctest::Contains("the nearest is 2000"), KeyError);
  CHECK_THROWS_AS(xtensor::sel(x, {{"country", 1}}), KeyError);
  CHECK_THROWS_AS(xtensor::sel(x, {{"country", xtensor::between(1.0, {})}}), TypeError);
  CHECK_THROWS_AS(xtensor::sel(x, {{"country", "DE"}}, {.method = xtensor::Inexact::Nearest}), NotImplementedError);
  CHECK_THROWS_AS(xtensor::sel(table(), {{"year", 2000}}), ValueError);
}

TEST_CASE("linear algebra of labelled tensors") {
  const XVariable a(Array{{4.0, 2.0}, {2.0, 3.0}}, {Dim("row"), Dim("col")}), b(Array{8.0, 8.0}, {Dim("col")});
  const XVariable factor = xtensor::cholesky(a, {"row", "col"});
  CHECK(factor.names() == Names{"row", "col"});
  CHECK(values_of(xtensor::dot(factor, xtensor::rename(factor, {{"row", "row2"}}), "col"))[1] == doctest::Approx(2));
  const XVariable x = xtensor::solve(a, b, {"row", "col"});
  CHECK(x.names() == Names{"row"});
  CHECK(values_of(x)[1] == doctest::Approx(2));
  const auto [upper, z] = xtensor::schur(a, {"row", "col"});
  CHECK(upper.names() == Names{"mode", "mode2"});
  CHECK(z.names() == Names{"row", "mode"});
  // The rows of the batch are the dimension that no name takes.
  const XVariable several = xtensor::expand_dims(a, {Dim("batch", 3)});
  CHECK(xtensor::svd(several, {"row", "col"}, "k").u.names() == Names{"batch", "row", "k"});
  CHECK(values_of(xtensor::det(several, {"col", "row"}))[2] == doctest::Approx(8));
  CHECK(values_of(xtensor::convolve1d(b, XVariable(Array{1.0, 2.0}, {Dim("lag")}), {"col", "lag"})) ==
        Values{8, 24, 16});
  CHECK_THROWS_WITH_AS(xtensor::det(a, {"row", "cool"}), doctest::Contains("did you mean \"col\""), ValueError);
  CHECK_THROWS_WITH_AS(xtensor::det(a, {"row"}), doctest::Contains("expected 2 core dimensions"), ValueError);
  CHECK_THROWS_AS(xtensor::solve(a, x, {"row"}), ValueError);
}

TEST_CASE("errors of labelled tensors") {
  const XVariable x = table();
  CHECK_THROWS_WITH_AS(xtensor::sum(x, "coutry"), doctest::Contains("did you mean \"country\"?"), ValueError);
  CHECK_THROWS_AS(XVariable(dvector(), {Dim("a"), Dim("b")}), ValueError);
  CHECK_THROWS_AS(XVariable(dmatrix(), {Dim("a"), Dim("a")}), ValueError);
  CHECK_THROWS_AS(x + dvector(), TypeError);
  CHECK_THROWS_AS(x + XVariable(Array{1.0, 2.0}, {Dim("year")}), ShapeError);
  CHECK_THROWS_WITH_AS(xtensor::xtensor("y", {Dim("country", 2)}) + xtensor::xtensor("z", {"coutry"}),
                       doctest::Contains("is declared as"), ValueError);
  CHECK_THROWS_AS(xtensor::Groups(x, "year", {0, 1}, Dim("decade", 2)), ShapeError);
}

TEST_CASE("densities of labelled values") {
  const XVariable x = table(), w = weights();
  const XVariable found = xtensor::stats::log_function("exponential_logpdf", {x, w});
  CHECK(found.names() == Names{"country", "year"});
  CHECK(values_of(xtensor::sum(found, "country"))[0] == doctest::Approx(-5.0));
  CHECK_THROWS_AS(xtensor::stats::log_function("normal_logpdf", {x, w}), ValueError);
  CHECK_THROWS_AS(xtensor::stats::log_function("no_logpdf", {x, w}), KeyError);
}
