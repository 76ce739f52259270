// Special functions that the C library lacks or does not provide thread-safely, as plain C functions.
#pragma once

#include <cstdint>

extern "C" {
double bt_erfcx(double x);                    // exp(x * x) * erfc(x)
double bt_erfinv(double x);                   // nan outside [-1, 1], infinite at its ends
double bt_erfcinv(double x);                  // nan outside [0, 2], infinite at its ends
double bt_ndtr(double x);                     // erfc(-x / sqrt 2) / 2
double bt_log_ndtr(double x);                 // its logarithm
double bt_gamma(double x);                    // nan at negative integers
double bt_lgamma(double x);                   // log |Gamma(x)|
double bt_digamma(double x);                  // -inf at +0, nan at negative integers (as scipy.special.psi)
double bt_trigamma(double x);                 // inf at the poles
double bt_polygamma(double order, double x);  // nan where order is not a non-negative integer

// x ** n, wrapping. For a negative n: 1 / x ** -n without its fraction, and 0 for x = 0.
std::int64_t bt_pow_i64(std::int64_t x, std::int64_t n);
std::uint64_t bt_pow_u64(std::uint64_t x, std::uint64_t n);
}
