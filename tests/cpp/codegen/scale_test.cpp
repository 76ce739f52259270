// Vectors are scaled by one power of two where all exponents are those of normal numbers, else by two. The bits do not
// depend on which other elements are in a vector: a single element is computed in a masked pass, by two powers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "bitale/compile/function.hpp"
#include "bitale/ops/ops.hpp"
#include "support/targets.hpp"

using namespace bitale;

namespace {

// R's missing value: a bit of its payload is where an exponent is added to.
template <class T>
T nan_of_r() {
  return sizeof(T) == 8 ? T(std::nan("1954")) : T(std::nanf("1954"));
}

template <class T>
std::vector<T> arguments() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out;
  const T least = std::log(Limits::denorm_min()), most = std::log(Limits::max());
  for (int k = 0; k < 96; ++k) out.push_back(T(0.37) * T(k - 48));  // whole vectors with usual exponents
  for (int k = -40; k <= 40; ++k) {                                 // and with some that are not
    for (const T edge : {least, std::log(Limits::min()), most}) {
      out.push_back(edge + T(k) / 16);
      out.push_back(T(k) / 8);
    }
  }
  for (const T special : {T(0), -T(0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(),
                          Limits::lowest(), Limits::denorm_min(), nan_of_r<T>()})
    for (int k = 0; k < 3; ++k) out.push_back(k == 1 ? special : T(k));
  return out;
}

template <class T>
void check_bits() {
  constexpr DType dtype = dtype_of<T>::value;
  const Variable x = vector("x", dtype);
  const std::vector<T> values = arguments<T>();
  for (auto& [name, y] : {std::pair<std::string, Variable>{"exp", exp(x)},
                          {"exp2", exp2(x)},
                          {"expm1", expm1(x)},
                          {"sinh", sinh(x)},
                          {"sigmoid", sigmoid(x)},
                          {"softplus", softplus(x)},
                          {"tanh", tanh(x)},
                          {"pow", pow(abs(x), x)}}) {
    CAPTURE(name);
    const Function f = function({x}, {y});
    Array all = Array::empty(dtype, {std::int64_t(values.size())}), one = Array::empty(dtype, {1});
    std::copy(values.begin(), values.end(), all.mutable_data_as<T>());
    const Array together = f({all})[0];
    for (std::size_t k = 0; k < values.size(); ++k) {
      CAPTURE(values[k]);
      one.mutable_data_as<T>()[0] = values[k];
      const Array alone = f({one})[0];
      const T a = together.data_as<T>()[k], b = alone.data_as<T>()[0];
      CHECK((std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b)));
    }
  }
}

template <class T>
bool is_near(T found, T expected) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected || std::abs(found - expected) <= 4 * Limits::epsilon() * expected + 2 * Limits::denorm_min();
}

// Vectors whose results are all normal numbers are computed without bounds.
template <class T>
void check_bounds() {
  const Variable x = vector("x", dtype_of<T>::value);
  const Function f = function({x}, {exp(x), sigmoid(x)});
  const std::vector<T> values = arguments<T>();
  Array all = Array::empty(dtype_of<T>::value, {std::int64_t(values.size())});
  std::copy(values.begin(), values.end(), all.mutable_data_as<T>());
  const Results found = f({all});
  for (std::size_t k = 0; k < values.size(); ++k) {
    CAPTURE(values[k]);
    const T power = std::exp(values[k]), inverse = std::exp(-std::abs(values[k]));
    const T sigmoid = (values[k] >= 0 ? 1 : inverse) / (1 + inverse);
    CHECK(is_near(found[0].data_as<T>()[k], power));
    CHECK(is_near(found[1].data_as<T>()[k], sigmoid));
  }
}

}  // namespace

TEST_CASE("scaling by powers of two has the same bits with one power and with two") {
  test::for_each_target({"native", "x86-64-v3", "x86-64-v2"}, [](const std::string& name) {
    check_bits<double>();
    check_bits<float>();
    check_bounds<double>();
    check_bounds<float>();
    if (name != "native") {
      const Variable x = vector("x");
      CHECK(function({x}, {exp(x)}).dprint("llvm").find("beyond") != std::string::npos);
    }
  });
}
