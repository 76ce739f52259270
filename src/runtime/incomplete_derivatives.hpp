// Derivatives of the regularised incomplete gamma and beta functions in long double. The argument of the latter is
// given as x and y = 1 - x, so that it may be near 0 or near 1.
#pragma once

namespace bitale::runtime {

long double gamma_density(long double k, long double x);                                  // dP(k, x) / dx
long double gamma_derivative(long double k, long double x);                               // dP(k, x) / dk
long double beta_density(long double a, long double b, long double x, long double y);     // dI_x(a, b) / dx
long double beta_derivative(long double a, long double b, long double x, long double y);  // dI_x(a, b) / da

}  // namespace bitale::runtime
