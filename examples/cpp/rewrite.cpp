// Your own rewrite rule: written as an equation, checked numerically, and watched as it is applied. First a wrong one,
// which the check catches.
#include <cstdio>

#include "bitale/bitale.hpp"
#include "bitale/rewriting/rules.hpp"

using namespace bitale;
using namespace bitale::rewriting;

int main() {
  auto [x, y] = pattern_variables<2>();

  // The logarithm of a product of numbers that may both be negative is more than the sum of two logarithms says.
  Rule careless("sum_of_logs", log(x) + log(y), log(x * y));
  std::printf("%s\n\n", verify_rule(careless).str().c_str());

  // It holds for positive numbers whose product neither overflows nor vanishes: it is applied where a graph shows that.
  register_rules([&](Rules& rules) {
    rules.equation("sum_of_logs", log(x) + log(y), log(x * y))
        .assume({gt(x, 0.001), gt(y, 0.001), lt(x, 1000), lt(y, 1000)})
        .doc("One logarithm instead of two.")
        .tags(specialize);
  });
  const CheckReport report = verify_rule("sum_of_logs");
  std::printf("%s\n\n", report.str().c_str());

  // Every function compiled from here on has it.
  const Variable rate = vector("rate"), scale = vector("scale");
  const Variable total = sum(log(clip(rate, 0.01, 100)) + log(clip(scale, 0.01, 100)));
  std::printf("%s\n", steps_text(trace_rewrite(total)).c_str());
  const Function f = function({rate, scale}, total);
  std::printf("%s\n%s\n", f.dprint("graph", Function::Provenance::Yes).c_str(), f.explain().c_str());
  const double value = f({Array{0.5, 2.0}, Array{3.0, 4.0}}).item();
  std::printf("value %.6f\n", value);
  return report.ok() && f.rewrite_report().hits("sum_of_logs") == 1 ? 0 : 1;
}
