// One draw by rejection from an element's own random number u, uniform on (0, 1). Further random numbers are the words
// of Threefry with the bits of u as key. The functions that expressions call are named bt_...; each of the others
// computes what such an expression computes as a whole (ops/scalar/random.cpp).
#pragma once

#include <cstdint>

namespace bitale::runtime::random {

// The use of each block of the key: the second number of the first attempt; the power for small shapes; both numbers of
// a second attempt; the rest.
inline constexpr std::uint64_t attempt_word = 0, power_word = 1, second_attempt_word = 2, first_rest_word = 4;
inline constexpr double min_rate_for_rejection = 10;
// The ranges for which the attempts for binomial and von Mises variables are designed.
inline constexpr double largest_count = 9.2e18, min_concentration = 1e-5, max_concentration = 1e6;

double normal_from_uniform(double u);
double gamma_from_uniform(double u, double shape);
double log_gamma_from_uniform(double u, double shape);
double poisson_from_uniform(double u, double rate);
double vonmises_from_uniform(double u, double mu, double kappa);
// A number below `count`, from a word of 64 bits: exact if `limit` is at least 2^64 mod count.
std::uint64_t below_from_word(std::uint64_t x, std::uint64_t count, std::uint64_t limit);

}  // namespace bitale::runtime::random

extern "C" {
double bt_random_gamma_again(double u, double shape);   // for shape >= 1, if the first attempt was rejected
double bt_random_power(double u, double shape);         // factor from a draw of shape + 1 to one of shape
double bt_random_log_power(double u, double shape);     // its logarithm
double bt_random_poisson_again(double u, double rate);  // for a rate below 10, where the expression's sums end
double bt_random_poisson_rest(double u, double rate);   // for 10 or more, if two attempts were rejected
double bt_random_binomial(double u, double n, double p);
double bt_random_vonmises_again(double u, double kappa);  // around 0
std::uint64_t bt_random_below_again(std::uint64_t x, std::uint64_t count);
}
