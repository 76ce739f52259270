#include <bitale/bitale.hpp>

#include <cstdio>

#ifdef BITALE_EXPECTED_LANGUAGE
static_assert(__cplusplus >= BITALE_EXPECTED_LANGUAGE);
#endif

namespace bt = bitale;

int main() {
  auto a = bt::vector("a");
  auto b = a + bt::pow(a, 10);
  auto f = bt::function({a}, b);
  bt::Array r = f(bt::Array{0., 1., 2.});
  std::span<const double> y = r.span_as<double>();
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
  return y.size() == 3 && y[0] == 0 && y[1] == 2 && y[2] == 1026 ? 0 : 1;
}
