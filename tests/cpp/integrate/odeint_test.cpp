// odeint as a function of C++: values, derivatives, loops that are native code, and what an error names. The Python
// tests have the rest.
#include "bitale/integrate/odeint.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "bitale/bitale.hpp"

using namespace bitale;

TEST_CASE("odeint: a solution and its gradient") {
  const Variable rate = dscalar("rate");
  const Variable y = integrate::odeint([&](const Variable& y, const Variable&) { return -rate * y; }, Array{1.0, 3.0},
                                       Array{0.0, 0.5, 2.0}, {.rtol = 1e-10, .atol = 1e-12});
  CHECK(y.static_shape() == Dims{3, 2});
  const Variable last = subtensor(y, {IndexItem(2), IndexItem(1)});
  auto f = function({rate}, {last, grad(last, rate)});
  const auto results = f({Array(0.7)});
  CHECK(results[0].item() == doctest::Approx(3 * std::exp(-1.4)).epsilon(1e-9));
  CHECK(results[1].item() == doctest::Approx(-6 * std::exp(-1.4)).epsilon(1e-8));
}

TEST_CASE("odeint: the gradient agrees with differences") {
  const std::vector<Array> point{Array{2.0, 0.5}, Array(1.3)};
  verify_grad(
      [](const Variables& x) {
        const Variable second = subtensor(x[0], {IndexItem(1)});
        return integrate::odeint(
            [&](const Variable& y, const Variable& t) {
              const Variable a = subtensor(y, {IndexItem(0)}), b = subtensor(y, {IndexItem(1)});
              return stack({b + sin(t), x[1] * (1 - sqr(a)) * b - a * second});
            },
            x[0], Array{0.0, 0.4, 1.5}, {.rtol = 1e-11, .atol = 1e-11});
      },
      point);
}

TEST_CASE("odeint: a stiff system, whose gradients by both ways agree") {
  const Variable rate = dscalar("rate");
  const auto slope = [&](const Variable& y, const Variable& t) { return rate * (cos(t) - y); };
  std::vector<double> gradients;
  for (const auto sensitivity : {integrate::OdeSensitivity::Adjoint, integrate::OdeSensitivity::Forward}) {
    const Variable y = integrate::odeint(slope, 0.0, Array{0.0, 3.0},
                                         {.rtol = 1e-6,
                                          .atol = 1e-6,
                                          .max_steps = 1000,
                                          .method = integrate::OdeMethod::Rodas4,
                                          .sensitivity = sensitivity});
    const Variable last = subtensor(y, {IndexItem(1)});
    const auto results = function({rate}, {last, grad(last, rate)})({Array(1e4)});
    const double r = 1e4, s = r * r + 1;  // y = r (r cos t + sin t) / (r^2 + 1), after a transient
    CHECK(results[0].item() == doctest::Approx(r * (r * std::cos(3) + std::sin(3)) / s).epsilon(1e-5));
    gradients.push_back(results[1].item());
  }
  CHECK(gradients[0] == doctest::Approx(gradients[1]).epsilon(1e-6));
}

TEST_CASE("odeint: errors name what was given") {
  const auto decay = [](const Variable& y, const Variable&) { return -y; };
  CHECK_THROWS_WITH_AS(integrate::odeint(decay, 1.0, Array{0.0, 2.0, 1.0}), doctest::Contains("do not decrease"),
                       ValueError);
  CHECK_THROWS_WITH_AS(integrate::odeint(decay, 1.0, Array{0.0, 1.0}, {.max_steps = -1}),
                       doctest::Contains("max_steps is -1"), ValueError);
  CHECK_THROWS_WITH_AS(integrate::odeint(
                           [](const Variable&, const Variable& t) {
                             return stack({t, t});
                           },
                           1.0, Array{0.0, 1.0}),
                       doctest::Contains("expected the same shape"), ShapeError);
  CHECK_THROWS_WITH_AS(integrate::parse_ode_method("rk4"), doctest::Contains("got \"rk4\""), ValueError);
  const Variable y0 = dscalar("y0");
  auto f =
      function({y0}, integrate::odeint([](const Variable& y, const Variable&) { return sqr(y); }, y0, Array{0.0, 2.0}));
  CHECK(f({Array(0.25)})[0].at(std::array<std::int64_t, 1>{1}) == doctest::Approx(0.5));
  CHECK_THROWS_WITH_AS(f({Array(1.0)}), doctest::Contains("the length of the steps went to 0"), RaisedError);
}
