// Quotients by a loop-invariant divisor have the bits of a division, for all operands.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "bitale/compile/function.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "codegen/target.hpp"
#include "support/targets.hpp"

using namespace bitale;

namespace {

template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t seed) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  std::vector<T> out{T(0),
                     -T(0),
                     Limits::infinity(),
                     -Limits::infinity(),
                     Limits::quiet_NaN(),
                     Limits::denorm_min(),
                     Limits::min(),
                     -Limits::max(),
                     T(1),
                     std::nextafter(T(2), T(0)),
                     std::nextafter(T(1), T(0))};
  while (out.size() < count) {
    const auto bits = Bits(random());
    out.push_back(std::bit_cast<T>(bits));                                                   // of all magnitudes
    out.push_back(std::ldexp(T(bits) + T(1), -int(8 * sizeof(T)) + int(random() % 9) - 4));  // and near 1
  }
  out.resize(count);
  return out;
}

template <class T>
void check_quotients() {
  constexpr DType dtype = dtype_of<T>::value;
  auto x = vector("x", dtype), y = scalar("y", dtype);
  auto f = function({x, y}, {x / y});
  // Blocks of ordinary values only, and blocks with exceptional ones.
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const T y_value = seed < 11 ? numbers<T>(11, 0)[seed] : numbers<T>(200, seed).back() * T(seed % 2 ? 1 : -1);
    std::vector<T> values = numbers<T>(1003, seed);
    if (seed % 3)
      for (auto& value : values)
        if (!(std::fabs(value) > T(1e-3) && std::fabs(value) < T(1e3))) value = T(1) / T(3);
    Array in = Array::empty(dtype, {std::int64_t(values.size())}), divisor = Array::empty(dtype, {});
    std::copy(values.begin(), values.end(), in.mutable_data_as<T>());
    divisor.mutable_data_as<T>()[0] = y_value;
    const Array out = f({in, divisor})[0];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T got = out.mutable_data_as<T>()[i], expected = values[i] / y_value;
      const bool same =
          std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected);
      if (!same) FAIL_CHECK(cat(values[i], " / ", y_value, " is ", expected, ", not ", got));
    }
  }
}

}  // namespace

TEST_CASE("quotients by one divisor are correctly rounded") {
  test::for_each_target({"native", "x86-64-v3"}, [](const std::string&) {
    check_quotients<double>();
    check_quotients<float>();
  });
}

TEST_CASE("only short loops whose divisor is invariant multiply by its reciprocal") {
  auto x = vector("x"), y = vector("y"), z = vector("z");
  auto s = scalar("s");
  auto rows = matrix("rows");
  const auto quotients = [](const Variables& inputs, const Variable& output) {
    const std::string text = function(inputs, {output}).dprint("llvm");
    return text.find("divided") != std::string::npos;
  };
  CHECK(quotients({x, s}, x / s) == (codegen::this_target().vector_bytes >= 32));
  CHECK_FALSE(quotients({x, y}, x / y));
  CHECK_FALSE(quotients({x, s}, exp(x) / s));
  CHECK_FALSE(quotients({x, y, z, s}, (x * y + z * y + x * z + x * x) / s));
  CHECK_FALSE(quotients({rows, x}, rows / dimshuffle(x, {0, new_axis})));
}
