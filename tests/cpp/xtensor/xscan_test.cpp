// Loops along a named dimension, draws with labelled parameters, groups of equal labels, and parts, in C++.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/xtensor/calculus.hpp"
#include "bitale/xtensor/functions.hpp"
#include "bitale/xtensor/random.hpp"
#include "bitale/xtensor/scan.hpp"
#include "bitale/xtensor/windows.hpp"

using namespace bitale;
using xtensor::Dim;
using xtensor::XVariable;

namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

Values values_of(const XVariable& x) {
  const Array flat = function({}, {x.values()})({})[0].astype(DType::Float64).contiguous();
  return {flat.data_as<double>(), flat.data_as<double>() + flat.size()};
}
Dim years() {
  return Dim("year", {}, xtensor::coordinates({std::int64_t(1990), std::int64_t(2000), std::int64_t(2010)}));
}
XVariable table() { return XVariable(Array{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, {Dim("country"), years()}); }
std::string first_label(const XVariable& x, int axis = 0) {
  return x.dims()[std::size_t(axis)].coordinates()->label(0);
}

}  // namespace

TEST_CASE("steps of a labelled scan get and give labelled tensors") {
  const XVariable x = table(), start(Array{0.0, 10.0}, {Dim("country")});
  const auto out =
      xtensor::scan({.sequences = {x}, .initial = {start}}, "year", [](const XVariable& x, const XVariable& total) {
        CHECK(x.names() == Names{"country"});
        return total + x;
      });
  const XVariable sums = out.traces[0], last = out.finals[0];
  CHECK(sums.names() == Names{"year", "country"});
  CHECK(values_of(sums) == Values{1, 14, 3, 19, 6, 25});
  CHECK(first_label(sums) == "1990");
  CHECK(values_of(last) == Values{6, 25});
  CHECK(values_of(xtensor::grad(xtensor::sum(last), x)) == Values{1, 1, 1, 1, 1, 1});

  const XVariable backwards =
      xtensor::scan({.sequences = {x}, .go_backwards = true}, "year", [](const XVariable& x) { return x; }).traces[0];
  CHECK(values_of(backwards) == Values{3, 6, 2, 5, 1, 4});
  CHECK(first_label(backwards) == "2010");

  const XVariable changes = xtensor::scan({.sequences = {{x, {-1, 0}}}}, "year", [](XVariable before, XVariable now) {
                              return now - before;
                            }).traces[0];
  CHECK(values_of(changes) == Values{1, 1, 1, 1});
  CHECK(first_label(changes) == "2000");

  const XVariable powers = xtensor::scan({.initial = {XVariable(Array(1.0), {})}}, Dim("step", 3), [](XVariable p) {
                             return 2.0 * p;
                           }).traces[0];
  CHECK(values_of(powers) == Values{2, 4, 8});
  CHECK(powers.static_length(0) == 3);

  const auto one = [](const XVariable& x) { return x; };
  CHECK_THROWS_WITH_AS(xtensor::scan({.sequences = {x}}, "yaer", one), doctest::Contains("did you mean \"year\""),
                       ValueError);
  CHECK_THROWS_WITH_AS(xtensor::scan({.sequences = {{x, {-3}}}}, "year", one), doctest::Contains("taps reach"),
                       ValueError);
  CHECK_THROWS_WITH_AS(
      xtensor::scan({.sequences = {x}, .initial = {x}}, "year", [](XVariable x, XVariable) { return x; }),
      doctest::Contains("of the steps"), ValueError);
  CHECK_THROWS_WITH_AS(xtensor::scan({.sequences = {x}, .initial = {start}}, "year",
                                     [](XVariable x, XVariable) { return xtensor::sum(x); }),
                       doctest::Contains("result 0 has the dimensions"), ValueError);
}

TEST_CASE("labelled draws are those of tensors") {
  const Variable rng = shared_of(random_type(), random_state(42), "rng");
  const XVariable mean = table(), spread(Array{1.0, 2.0}, {Dim("country")});
  const auto [next, x] = xtensor::random::normal(rng, {mean, spread}, {.extra = {Dim("draw", 4)}});
  CHECK(x.names() == Names{"draw", "country", "year"});
  CHECK(first_label(x, 2) == "1990");
  const Variable plain =
      random::normal(rng, mean.values(), Operand(dimshuffle(spread.values(), {0, new_axis})), Operands{4, 2, 3}).value;
  CHECK(values_of(x) == values_of(x.with_values(plain)));
  CHECK(next.type()->equals(*rng.type()));

  const XVariable centre(Array{0.0, 5.0}, {Dim("row")}), cov(Array{{1.0, 0.0}, {0.0, 1.0}}, {Dim("row"), Dim("col")});
  const XVariable points =
      xtensor::random::multivariate_normal(rng, {centre, cov}, {.extra = {Dim("draw", 3)}, .core = {"row", "col"}})
          .value;
  CHECK(points.names() == Names{"draw", "row"});
  CHECK(xtensor::random::halfnormal(rng, {0.0, spread}).value.names() == Names{"country"});
  CHECK(xtensor::random::standard_normal(rng, {}, {.extra = {Dim("draw", 3)}}).value.names() == Names{"draw"});
  CHECK(xtensor::random::categorical(rng, {xtensor::softmax(mean, "year")}, {.core = {"year"}}).value.names() ==
        Names{"country"});
  CHECK_THROWS_WITH_AS(xtensor::random::normal(rng, {mean, 1.0}, {.extra = {"draw"}}),
                       doctest::Contains("expected a length of the extra dimension \"draw\""), ValueError);
  CHECK_THROWS_WITH_AS(xtensor::random::dirichlet(rng, {mean}, {.core = {"yaer"}}), doctest::Contains("\"year\""),
                       ValueError);
  CHECK_THROWS_AS(xtensor::random::dirichlet(rng, {mean}), ValueError);
  CHECK_THROWS_AS(xtensor::random::multinomial(rng, {xtensor::softmax(mean)}, {.core = {"year"}}), ValueError);
  CHECK_THROWS_AS(xtensor::random::draw("zipf", rng, {mean}), NotImplementedError);
}

// Every name of the table is a distribution.
TEST_CASE("all labelled distributions") {
  const Variable rng = random::rng("rng");
  const XVariable p(Array{0.25, 0.75}, {Dim("k")}), half(Array{{0.5, 0.5}, {0.5, 0.5}}, {Dim("k"), Dim("l")});
  const auto parameters = [&](std::string_view name) -> std::pair<xtensor::XOperands, Names> {
    const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    if (name == "standard_normal") return {{}, {}};
    if (is_one_of({"categorical", "dirichlet"})) return {{p}, {"k"}};
    if (name == "multinomial") return {{3, p}, {"k"}};
    if (name == "multivariate_normal") return {{p, half}, {"k", "l"}};
    if (is_one_of({"exponential", "chisquare", "weibull", "rayleigh", "poisson", "geometric", "bernoulli", "maxwell"}))
      return {{p}, {}};
    if (is_one_of({"binomial", "negative_binomial", "integers"})) return {{3, name == "integers" ? 5.0 * p : p}, {}};
    if (is_one_of({"triangular", "hypergeometric", "truncexpon", "t", "gengamma", "betabinom"})) return {{3, 4, 5}, {}};
    if (name == "truncated_normal") return {{p, 1.0, -1.0, 1.0}, {}};
    return {{p, 1.0}, {}};
  };
#define X(name, ...)                                                                                             \
  {                                                                                                              \
    const auto [given, core] = parameters(#name);                                                                \
    if (std::string_view(#name) != "integers") CHECK_NOTHROW(xtensor::random::name(rng, given, {.core = core})); \
  }
  BITALE_LABELLED_DISTRIBUTIONS(X)
#undef X
}

TEST_CASE("groups of equal labels") {
  const XVariable x = table();
  const xtensor::CoordinatesRef decades =
      xtensor::coordinates({std::string("old"), std::string("new"), std::string("old")});
  const XVariable sums = xtensor::groupby(x, "year", decades, "age").sum();
  CHECK(sums.names() == Names{"country", "age"});
  CHECK(values_of(sums) == Values{2, 4, 5, 10});
  CHECK(first_label(sums, 1) == "\"new\"");
  CHECK(values_of(xtensor::groupby(x, "year").max()) == values_of(x));
  XVariable codes(Array{2.0, std::numeric_limits<double>::quiet_NaN(), 2.0}, {Dim("year")});
  const XVariable some = xtensor::groupby(x, codes, "code").mean();  // nan is in no group
  CHECK(values_of(some) == Values{2, 5});
  CHECK(first_label(some, 1) == "2.0");
  CHECK_THROWS_WITH_AS(xtensor::groupby(x, "country"), doctest::Contains("no coordinates to group by"), ValueError);
  CHECK_THROWS_AS(xtensor::groupby(x, xtensor::xtensor("labels", {"year"})), NotImplementedError);
  CHECK_THROWS_AS(xtensor::groupby(x, x), ValueError);
  CHECK_THROWS_AS(xtensor::groupby(x, "year", xtensor::coordinates({1.0})), ShapeError);
}

TEST_CASE("parts, missing elements, and values between coordinates") {
  const XVariable x = table();
  CHECK(values_of(xtensor::head(x, {{{"year", 2}}})) == Values{1, 2, 4, 5});
  CHECK(values_of(xtensor::head(x)) == values_of(x));
  CHECK(values_of(xtensor::tail(x, {{{"year", 1}, {"country", 1}}})) == Values{6});
  CHECK(values_of(xtensor::tail(x, {{{"year", 0}}})).empty());
  CHECK(first_label(xtensor::tail(x, {{{"year", 2}}}), 1) == "2000");
  CHECK(values_of(xtensor::thin(x, {{"year", 2}})) == Values{1, 3, 4, 6});
  CHECK_THROWS_WITH_AS(xtensor::head(x, {{{"year", -1}}}), doctest::Contains("at least 0, got -1"), ValueError);
  CHECK_THROWS_AS(xtensor::thin(x, {{"year", 0}}), ValueError);
  CHECK_THROWS_AS(xtensor::tail(x, {{{"year", 1.5}}}), ValueError);
  CHECK_THROWS_AS(xtensor::tail(x, {{{"yaer", 1}}}), ValueError);
  CHECK(values_of(xtensor::interp(x, "year", 1995.0)) == Values{1.5, 4.5});
  CHECK_THROWS_AS(xtensor::interp(x, "country", 0.5), ValueError);
  const XVariable gaps = xtensor::shift(x, "year", 1);
  CHECK(values_of(xtensor::fillna(gaps, 7.0)) == Values{7, 1, 2, 7, 4, 5});
  CHECK(values_of(xtensor::count(gaps, "year")) == Values{2, 2});
}
