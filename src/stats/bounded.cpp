// Densities on intervals.
#include "bitale/ops/special.hpp"
#include "bitale/stats/densities.hpp"
#include "stats/arguments.hpp"
#include "stats/distribution.hpp"

namespace bitale::stats {

using V = const Variable&;

Variable uniform_logpdf(const Operand& x, const Operand& low, const Operand& high) {
  return density(
      "uniform_logpdf",
      [](V x, V low, V high) {
        const Variable inside = and_(ge(x, low), le(x, high));
        return in_domain(lt(low, high), switch_(inside, -log(high - low), switch_(isnan(x), x, -infinity)));
      },
      x, low, high);
}

Variable triangular_logpdf(const Operand& x, const Operand& left, const Operand& mode, const Operand& right) {
  return density(
      "triangular_logpdf",
      [](V x, V left, V mode, V right) {
        const Variable length = right - left, is_left = lt(x, mode);
        const Variable outside = or_(lt(x, left), gt(x, right));
        const Variable height = switch_(is_left, (x - left) / (mode - left),
                                        switch_(and_(ge(x, mode), le(x, mode)), 1, (right - x) / (right - mode)));
        const Variable in_order = and_(and_(le(left, mode), le(mode, right)), lt(left, right));
        const Variable value = log(switch_(outside, 1, height)) + in_domain(in_order, log_two - log(length));
        return switch_(outside, -infinity, value);
      },
      x, left, mode, right);
}

Variable beta_logpdf(const Operand& x, const Operand& alpha, const Operand& beta) {
  return density(
      "beta_logpdf",
      [](V x, V alpha, V beta) {
        const Variable constant = in_domain(and_(gt(alpha, 0), gt(beta, 0)), betaln(alpha, beta));
        return within_support(or_(lt(x, 0), gt(x, 1)), x, 0.5,
                              [&](V x) { return xlogy(alpha - 1, x) + xlog1py(beta - 1, -x) - constant; });
      },
      x, alpha, beta);
}

// ---- records -------------------------------------------------------------------------------------------------------

DISTRIBUTION({
    .name = "uniform",
    .title = "uniform distribution",
    .parameters = {{"low", "Lower end.", 0.0}, {"high", "Upper end, above `low`.", 1.0}},
    .draw = draw_function<random::uniform>(),
    .log_functions = {LOG_FUNCTION(uniform_logpdf), LOG_FUNCTION(uniform_logcdf), LOG_FUNCTION(uniform_logsf)},
    .draw_notes = "Draws may be `low`, but not `high`.",
    .pytensor_class = "UniformRV",
});

DISTRIBUTION({
    .name = "beta",
    .title = "beta distribution",
    .parameters = {{"alpha", "First shape, positive."}, {"beta", "Second shape, positive."}},
    .draw = draw_function<random::beta>(),
    .log_functions = {LOG_FUNCTION(beta_logpdf)},
    .draw_notes = "The mean is ``alpha / (alpha + beta)``.",
    .pytensor_class = "BetaRV",
});

DISTRIBUTION({
    .name = "triangular",
    .title = "triangular distribution",
    .parameters = {{"left", "Lower end."}, {"mode", "Mode."}, {"right", "Upper end."}},
    .draw = draw_function<random::triangular>(),
    .log_functions = {LOG_FUNCTION(triangular_logpdf)},
    .pytensor_class = "TriangularRV",
});

}  // namespace bitale::stats
