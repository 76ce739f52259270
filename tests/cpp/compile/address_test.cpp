// Compiled functions as C function pointers: correct values, from many threads, and errors that do not propagate into
// C.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "bitale/bitale.hpp"
#include "bitale/compile/address.hpp"

using namespace bitale;

namespace {

using ValueAndGrad = int(std::size_t, const double*, double*, double*, const void*);

template <class F>
F* at(const Function& function, std::string_view form) {
  return reinterpret_cast<F*>(address(function, form));
}

}  // namespace

TEST_CASE("address: value and gradient, in either order, from many threads") {
  const Variable x = vector("x"), y = sum(sqr(x)) + sum(x * 3.0);
  for (const bool grad_first : {false, true}) {
    ValueAndGrad* f = nullptr;
    {
      const Variable g = grad(y, x);
      const Function function = bitale::function({x}, grad_first ? Variables{g, y} : Variables{y, g});
      f = at<ValueAndGrad>(function, "value_and_grad");
      const bool same = f == at<ValueAndGrad>(function, "value_and_grad");
      CHECK(same);
    }  // the address keeps the function alive
    const auto right = [&](double start) {
      const double point[3] = {start, 2, -1};
      double gradient[3] = {}, value = 0;
      for (int k = 0; k < 200; ++k) {
        if (f(3, point, gradient, &value, nullptr) != 0) return false;
        if (value != start * start + 5 + 3 * (start + 1) || gradient[0] != 2 * start + 3 || gradient[2] != 1)
          return false;
      }
      return true;
    };
    bool ok[4] = {};
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) threads.emplace_back([&, k] { ok[k] = right(k); });
    for (auto& thread : threads) thread.join();
    for (auto each : ok) CHECK(each);
    double value = 1;
    CHECK(f(0, nullptr, nullptr, &value, nullptr) == 0);
    CHECK(value == 0);
  }
}

TEST_CASE("address: a value or gradient that is not finite has a separate status") {
  const Variable x = vector("x"), y = sum(log(x));
  auto* f = at<ValueAndGrad>(function({x}, Variables{y, grad(y, x)}), "finite_value_and_grad");
  double gradient[2], value = 0;
  const double inside[2] = {1, 2}, edge[2] = {1, 0}, huge[2] = {1, std::numeric_limits<double>::infinity()};
  CHECK(f(2, inside, gradient, &value, nullptr) == 0);
  CHECK(gradient[1] == 0.5);
  CHECK(f(2, edge, gradient, &value, nullptr) == 3);
  CHECK(f(2, huge, gradient, &value, nullptr) == 4);
}

TEST_CASE("address: a vector-valued function of a vector") {
  using VectorToVector = int(std::size_t, std::size_t, const double*, double*, const void*);
  const Variable x = vector("x");
  auto* f = at<VectorToVector>(function({x}, Variables{concatenate({x, x * 2.0})}), "vector");
  const double point[2] = {1, 3};
  double out[4] = {};
  CHECK(f(2, 4, point, out, nullptr) == 0);
  CHECK(out[3] == 6);
  CHECK(f(2, 3, point, out, nullptr) == 1);
  CHECK_THROWS_AS(address(function({x}, Variables{sum(x)}), "vector"), TypeError);
}

TEST_CASE("address: functions of numbers") {
  const Variable a = scalar("a"), b = scalar("b"), x = vector("x");
  const Function square = function({a}, {a * a}), power = function({a, b}, {pow(a, b)}),
                 total = function({x}, {sum(x)});
  CHECK(at<double(double)>(square, "double (double)")(1.5) == 2.25);
  CHECK(at<double(double, void*)>(square, "double (double, void *)")(1.5, nullptr) == 2.25);
  double values[3] = {2, 3, 4};
  CHECK(at<double(int, double*)>(power, "double (int, double *)")(2, values) == doctest::Approx(8));
  CHECK(at<double(int, double*, void*)>(total, "double (int, double *, void *)")(3, values, nullptr) == 9);
  CHECK(std::isnan(at<double(int, double*)>(power, "double (int, double *)")(3, values)));
  CHECK(last_address_error().find("takes 2 numbers, got 3") != std::string::npos);
}

TEST_CASE("address: errors of calls do not propagate, those of requests are thrown") {
  const Variable x = vector("x"), y = scalar("y");
  const Function largest = function({x}, {max(x)});
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) {
    warnings.push_back(text);
    throw ValueError("of the handler, which must not pass through C");
  });
  for (int time = 0; time < 3; ++time)
    CHECK(std::isnan(at<double(int, double*)>(largest, "double (int, double *)")(0, nullptr)));
  set_warning_handler({});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("no largest element") != std::string::npos);
  CHECK(last_address_error().find("no largest element") != std::string::npos);
  CHECK_THROWS_AS(address(largest, "value_and_grad"), TypeError);
  CHECK_THROWS_AS(address(largest, "double (double)"), TypeError);
  CHECK_THROWS_AS(address(function({x, y}, {sum(x) * y}), "double (int, double *)"), TypeError);
  CHECK_THROWS_AS(address(largest, "double (float)"), ValueError);
}
