// A first expression: how it looks as written and as compiled, what it computes, and its gradient.
#include <bitale/bitale.hpp>
#include <iostream>

namespace bt = bitale;

int main() {
  auto a = bt::vector("a");  // float64, of unknown length
  auto b = a + bt::pow(a, 10);
  std::cout << "b = " << bt::pprint(b) << "\n\nas written:\n" << bt::dprint(b);

  auto f = bt::function({a}, b);
  std::cout << "\nas compiled:\n" << bt::dprint(f) << "\nand its loops:\n" << f.dprint("program");

  auto g = bt::function({a}, bt::grad(bt::sum(b), a));
  std::cout << "\nthe gradient of its sum:\n" << bt::dprint(g);

  const bt::Array point{0., 1., 2.};
  const bt::Array value = f({point}), gradient = g({point});
  std::cout << "\nat " << point << ":\n  b            " << value << "\n  d sum(b)/d a " << gradient << "\n";

  const bool right = bt::allclose(value, {0., 2., 1026.}) && bt::allclose(gradient, {1., 11., 5121.});
  return right ? 0 : 1;
}
