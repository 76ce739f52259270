// Logarithms of densities and of probabilities, elementwise, of the distributions that ops/random.hpp draws, with its
// names and parameters; and of the forms that regressions of counts and categories use, with a linear predictor (logit,
// log). The first argument is the value; all broadcast, and the dtype is that of the arguments that have one. -inf
// outside the support and for values of a discrete distribution that are not whole numbers; nan for a nan, and for
// parameters outside their domain.
#pragma once

#include "bitale/ops/operand.hpp"
#include "bitale/ops/random.hpp"

namespace bitale::stats {

// clang-format off
#define BITALE_DECLARE_FUNCTION(name, parameters) Variable name(const Operand& x, BITALE_PARAMETERS parameters);
#define BITALE_DECLARE_none(name, parameters)
#define BITALE_DECLARE_pdf(name, parameters) BITALE_DECLARE_FUNCTION(name##_logpdf, parameters)
#define BITALE_DECLARE_pmf(name, parameters) BITALE_DECLARE_FUNCTION(name##_logpmf, parameters)
#define BITALE_DECLARE_tails(name, parameters) \
  BITALE_DECLARE_pdf(name, parameters) BITALE_DECLARE_FUNCTION(name##_logcdf, parameters) BITALE_DECLARE_FUNCTION(name##_logsf, parameters)
#define BITALE_DECLARE(name, functions, parameters, ...) BITALE_DECLARE_##functions(name, parameters)
BITALE_NUMPY_DISTRIBUTIONS(BITALE_DECLARE)
BITALE_COMPOSED_DISTRIBUTIONS(BITALE_DECLARE)
BITALE_DECLARE_tails(weibull, (const Operand& shape, const Operand& scale = 1.0))
BITALE_DECLARE_FUNCTION(gamma_rate_logpdf, (const Operand& shape, const Operand& rate))
BITALE_DECLARE_pmf(bernoulli_logit, (const Operand& logit))
BITALE_DECLARE_pmf(binomial_logit, (const Operand& n, const Operand& logit))
BITALE_DECLARE_pmf(poisson_log, (const Operand& log_lam))
BITALE_DECLARE_pmf(negative_binomial_2, (const Operand& mu, const Operand& phi))
BITALE_DECLARE_pmf(negative_binomial_2_log, (const Operand& log_mu, const Operand& phi))
#undef BITALE_DECLARE
#undef BITALE_DECLARE_tails
#undef BITALE_DECLARE_pmf
#undef BITALE_DECLARE_pdf
#undef BITALE_DECLARE_none
#undef BITALE_DECLARE_FUNCTION
// clang-format on

}  // namespace bitale::stats
