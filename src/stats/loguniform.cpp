// The distribution of numbers whose logarithm is uniform.
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable loguniform_logpdf(const Operand& x, const Operand& low, const Operand& high) {
  return density(
      "loguniform_logpdf",
      [](V x, V low, V high) {
        // log(high / low): of near ends by their difference, which is exact, and of a ratio that overflows by
        // logarithms.
        const Variable ratio = high / low, is_huge = eq(ratio, infinity),
                       is_far = and_(gt(ratio, 2), lt(ratio, infinity));
        const Variable far = log(switch_(is_far, high, low) / low);
        const Variable near = log1p((switch_(gt(ratio, 2), low, high) - low) / low);
        const Variable length = switch_(is_huge, log(high) - log(low), switch_(is_far, far, near));
        const Variable constant = in_domain(and_(gt(low, 0), lt(low, high)), log(length));
        return within_support(or_(lt(x, low), gt(x, high)), x, low, [&](V x) { return -(log(x) + constant); });
      },
      x, low, high);
}

DISTRIBUTION({
    .name = "loguniform",
    .title = "log-uniform (reciprocal) distribution",
    .parameters = {{"low", "Lower end, positive.", {}, Allowed::positive},
                   {"high", "Upper end, above `low`.", {}, Allowed::positive}},
    .draw = draw_function<random::loguniform>(),
    .composed_of = {.formula =
                        [](DrawSource& from, const Variables& p) {
                          const Variable low = log(p[0]);
                          return clip(exp(low + from.unit() * (log(p[1]) - low)), p[0], p[1]);
                        },
                    .in_order = {{0, 1}}},
    .log_functions = {LOG_FUNCTION(loguniform_logpdf)},
    .draw_notes = "By the inverse distribution function.",
});

}  // namespace bitale::stats
