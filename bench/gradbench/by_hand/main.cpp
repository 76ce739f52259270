// Derivatives by hand as a tool of GradBench's protocol, for the table. Inputs are checked as far as their lengths are
// used.
#include <iostream>
#include <memory>

#include "../cpp/inputs.hpp"
#include "functions.hpp"

using namespace gradbench;
using by_hand::Values;

namespace {

// A function of nothing, whose results are kept; `shape`: how they are nested.
template <class Function>
Prepared prepared(Function function, const std::vector<std::int64_t>& shape) {
  auto result = std::make_shared<Values>();
  return {[=] { *result = function(); }, [=] { return nested(result->data(), shape); }};
}

Values shaped(const Json& input, const char* name, const std::vector<std::int64_t>& shape) {
  auto numbers = numbers_field(input, name, shape.size());
  require_shape(name, numbers.shape, shape);
  return numbers.values;
}

Prepared det(const Json& input) {
  const std::int64_t size = count_field(input, "ell");
  if (size > 20) throw InputError("`ell` is at most 20 here: there are 2^ell minors");
  return prepared([=, a = shaped(input, "A", {size * size})] { return by_hand::det(size, a); }, {size * size});
}

Prepared llsq(const Json& input) {
  const auto x = numbers_field(input, "x", 1);
  return prepared([=, n = count_field(input, "n")] { return by_hand::llsq(x.values, n); }, x.shape);
}

Prepared lse(const Json& input) {
  const auto x = numbers_field(input, "x", 1);
  if (x.values.empty()) throw InputError("`x` must have an element, of which there is a max");
  return prepared([=] { return by_hand::lse(x.values); }, x.shape);
}

Prepared ode(const Json& input) {
  const auto x = numbers_field(input, "x", 1);
  if (x.values.empty()) throw InputError("`x` must have an element");
  return prepared([=, s = count_field(input, "s")] { return by_hand::ode(x.values, s); }, x.shape);
}

Prepared kmeans(const Json& input) {
  const auto points = numbers_field(input, "points", 2), centroids = numbers_field(input, "centroids", 2);
  require_shape("centroids", centroids.shape, {centroids.shape[0], points.shape[1]});
  return prepared([=] { return by_hand::kmeans(points.shape[1], points.values, centroids.values); }, centroids.shape);
}

Prepared gmm(const Json& input) {
  const std::int64_t d = count_field(input, "d"), k = count_field(input, "k"), n = count_field(input, "n");
  const std::int64_t below = d * (d - 1) / 2;
  const by_hand::Mixture mixture{d,
                                 k,
                                 number_field(input, "gamma"),
                                 number_field(input, "m"),
                                 shaped(input, "alpha", {k}),
                                 shaped(input, "mu", {k, d}),
                                 shaped(input, "q", {k, d}),
                                 shaped(input, "l", {k, below}),
                                 shaped(input, "x", {n, d})};
  auto slopes = std::make_shared<by_hand::MixtureSlopes>();
  const auto lists = [=](const Values& values, std::int64_t width) {
    return nested(values.data(), std::vector<std::int64_t>{k, width});
  };
  return {[=] { *slopes = by_hand::gmm(mixture); },
          [=] {
            return Json{{"alpha", slopes->alpha},
                        {"mu", lists(slopes->mu, d)},
                        {"q", lists(slopes->q, d)},
                        {"l", lists(slopes->l, below)}};
          }};
}

Prepared lstm(const Json& input) {
  const auto main = numbers_field(input, "main_params", 2), extra = numbers_field(input, "extra_params", 2);
  const auto sequence = numbers_field(input, "sequence", 2);
  const std::int64_t rows = main.shape[0], width = extra.shape[1];
  require_shape("main_params", main.shape, {rows, 4 * width});
  require_shape("extra_params", extra.shape, {3, width});
  require_shape("sequence", sequence.shape, {sequence.shape[0], width});
  Values parameters = main.values;
  parameters.insert(parameters.end(), extra.values.begin(), extra.values.end());
  return prepared(
      [=, state = shaped(input, "state", {rows, width})] {
        return by_hand::lstm(rows / 2, width, parameters, state, sequence.values);
      },
      {std::int64_t(parameters.size())});
}

}  // namespace

int main() {
  const std::vector<Eval> evals{{"det", {{"gradient", det}}},  {"llsq", {{"gradient", llsq}}},
                                {"lse", {{"gradient", lse}}},  {"ode", {{"gradient", ode}}},
                                {"kmeans", {{"dir", kmeans}}}, {"gmm", {{"jacobian", gmm}}},
                                {"lstm", {{"jacobian", lstm}}}};
  serve("by hand", evals, std::cin, std::cout);
}
