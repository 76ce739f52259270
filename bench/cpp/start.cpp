// The whole life of a small program: it builds the seed's expression, compiles it, prints the first result and exits.
// With an argument it exits at once, which measures the startup cost that is not Bitale's.
#include <bitale/bitale.hpp>
#include <iostream>

namespace bt = bitale;

int main(int count, char**) {
  if (count > 1) return 0;
  auto a = bt::vector("a");
  auto f = bt::function({a}, a + bt::pow(a, 10));
  std::cout << f({bt::Array{0., 1., 2.}}) << "\n";
}
