// Incomplete gamma and beta functions for large parameters, where series and continued fractions need a number of terms
// that grows with the parameter's square root and lose digits: the first two terms of the uniform asymptotic expansions
// of Temme (DLMF 8.12.3, 8.12.4, 8.12.7 and 8.18.9 to 8.18.12), whose error is that of the reciprocal parameter.
#pragma once

namespace bitale::runtime {

// From this parameter on, the expansions are accurate to 1e-14.
inline constexpr double large_parameter = 1e8;

// P(k, x) and Q(k, x) for finite k >= large_parameter and finite x > 0.
double gammainc_of_large(double k, double x);
double gammaincc_of_large(double k, double x);

// I_x(a, b) for finite a, b >= large_parameter and 0 < x < 1.
double betainc_of_large(double a, double b, double x);

// log(1 + x) - x without cancellation.
long double log1p_minus(long double x);

}  // namespace bitale::runtime
