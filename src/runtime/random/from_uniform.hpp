// One draw by rejection from an element's own random number u, uniform on (0, 1). What is needed beyond u are the words
// of Threefry with the bits of u as key. The functions that expressions call are bt_...; the others are what such an
// expression computes as a whole (ops/scalar/random.cpp).
#pragma once

#include <cstdint>

namespace bitale::runtime::random {

// Which block of the key is what: the second number of the first attempt; the power for small shapes; both numbers of a
// second attempt; the rest.
inline constexpr std::uint64_t attempt_word = 0, power_word = 1, second_attempt_word = 2, first_rest_word = 4;
inline constexpr double least_rate_for_rejection = 10;
// What the attempts for binomial and von Mises variables are made for.
inline constexpr double largest_count = 9.2e18, least_concentration = 1e-5, most_concentration = 1e6;

double normal_from_uniform(double u);
double gamma_from_uniform(double u, double shape);
double log_gamma_from_uniform(double u, double shape);
double poisson_from_uniform(double u, double rate);
double vonmises_from_uniform(double u, double mu, double kappa);
// Below `count`, from a word of 64 bits: exact, where `limit` is at least 2^64 mod count.
std::uint64_t below_from_word(std::uint64_t x, std::uint64_t count, std::uint64_t limit);

}  // namespace bitale::runtime::random

extern "C" {
double bt_random_gamma_again(double u, double shape);   // of shape 1 or more, when the first attempt was refused
double bt_random_power(double u, double shape);         // by which a draw of shape + 1 becomes one of shape
double bt_random_log_power(double u, double shape);     // its logarithm
double bt_random_poisson_again(double u, double rate);  // of a rate below 10: when the sums of an expression end
double bt_random_poisson_rest(double u, double rate);   // of 10 or more, when two attempts were refused
double bt_random_binomial(double u, double n, double p);
double bt_random_vonmises_again(double u, double kappa);  // around 0
std::uint64_t bt_random_below_again(std::uint64_t x, std::uint64_t count);
}
