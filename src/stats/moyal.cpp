// Moyal's distribution of the energy that fast particles lose.
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable moyal_logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return density(
      "moyal_logpdf",
      [](V x, V loc, V scale) {
        const Variable far = (x - loc) / scale, constant = log(scale) + half_log_two_pi;
        return within_support(eq(far, -infinity), far, 0, [&](V z) { return -0.5 * (z + exp(-z)) - constant; });
      },
      x, loc, scale);
}

DISTRIBUTION({
    .name = "moyal",
    .title = "Moyal distribution",
    .parameters = {{"loc", "Mode.", 0.0}, {"scale", "Scale, positive.", 1.0, Allowed::not_negative}},
    .draw = draw_function<random::moyal>(),
    .composed_of = {[](DrawSource& from, const Variables& p) {
      return p[0] - p[1] * log(2.0 * from.draw("standard_gamma", {cast(0.5, DType::Float64)}));
    }},
    .log_functions = {LOG_FUNCTION(moyal_logpdf)},
    .draw_notes = "The draws are logarithms of chi-squared variables of one degree of freedom.",
});

}  // namespace bitale::stats
