// The Maxwell distribution: the length of a vector of three normal numbers.
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable maxwell_logpdf(const Operand& x, const Operand& scale) {
  return density(
      "maxwell_logpdf",
      [](V x, V scale) {
        return within_support(or_(le(x, 0), eq(x, infinity)), x, 1, [&](V x) {
          return 2 * log(x) - 0.5 * sqr(x / scale) - (3 * log(scale) + 0.5 * (log_pi - log_two));
        });
      },
      x, scale);
}

DISTRIBUTION({
    .name = "maxwell",
    .title = "Maxwell distribution",
    .parameters = {{"scale", "Scale, positive: the standard deviation of each component.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::maxwell>(),
    .composed_of = {[](DrawSource& from, const Variables& p) {
      return sqrt(from.draw("chisquare", {cast(3.0, DType::Float64)})) * p[0];
    }},
    .log_functions = {LOG_FUNCTION(maxwell_logpdf)},
    .draw_notes = "The draws are `scale` times the roots of chi-squared variables of 3 degrees of freedom.",
});

}  // namespace bitale::stats
