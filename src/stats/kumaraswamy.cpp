// Kumaraswamy's distribution on the interval from 0 to 1, like a beta distribution, with a distribution function in
// closed form.
#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable kumaraswamy_logpdf(const Operand& x, const Operand& a, const Operand& b) {
  return density(
      "kumaraswamy_logpdf",
      [](V x, V a, V b) {
        const Variable constant = in_domain(and_(gt(a, 0), gt(b, 0)), log(a) + log(b));
        return within_support(or_(lt(x, 0), gt(x, 1)), x, 0.5, [&](V x) {
          // (1 - x^a)^(b - 1), in which b = 1 is 1 at the end, too.
          const Variable is_end = ge(x, 1), rest = log1mexp(a * log(switch_(is_end, 0.5, x)));
          return constant + xlogy(a - 1, x) + switch_(is_end, xlogy(b - 1, 1 - x), (b - 1) * rest);
        });
      },
      x, a, b);
}

DISTRIBUTION({
    .name = "kumaraswamy",
    .title = "Kumaraswamy distribution",
    .parameters = {{"a", "First shape, positive.", {}, Allowed::positive},
                   {"b", "Second shape, positive.", {}, Allowed::positive}},
    .draw = draw_function<random::kumaraswamy>(),
    .composed_of = {[](DrawSource& from, const Variables& p) {
      return pow(-expm1(log1p(-from.unit()) / p[1]), 1.0 / p[0]);
    }},
    .log_functions = {LOG_FUNCTION(kumaraswamy_logpdf)},
    .draw_notes = "By the inverse distribution function.",
});

}  // namespace bitale::stats
