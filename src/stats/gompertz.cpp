// The Gompertz distribution of lifetimes, whose hazard grows exponentially.
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable gompertz_logpdf(const Operand& x, const Operand& c, const Operand& scale) {
  return density(
      "gompertz_logpdf",
      [](V x, V c, V scale) {
        const Variable constant = log(c) - log(scale);
        const Variable is_far = and_(gt(scale, 0), eq(x / scale, infinity));
        return within_support(or_(lt(x, 0), is_far), x, scale, [&](V x) {
          const Variable z = x / scale;
          return constant + (z - c * expm1(z));
        });
      },
      x, c, scale);
}

DISTRIBUTION({
    .name = "gompertz",
    .title = "Gompertz distribution",
    .parameters = {{"c", "Shape, positive: the hazard at 0 in units of ``1 / scale``.", {}, Allowed::positive},
                   {"scale", "Scale, positive: in it the hazard grows by e.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::gompertz>(),
    .composed_of = {[](DrawSource& from, const Variables& p) { return log1p(-log1p(-from.unit()) / p[0]) * p[1]; }},
    .log_functions = {LOG_FUNCTION(gompertz_logpdf)},
    .draw_notes = "By the inverse distribution function.",
});

}  // namespace bitale::stats
