// A Metropolis chain on eight schools, handwritten in C++: a version of examples/python/metropolis.py with the standard
// library's generator and distributions.
#include <cmath>
#include <cstdint>
#include <random>

extern "C" void metropolis(std::int64_t steps, std::int64_t seed, double* chain) {
  constexpr int schools = 8, size = 10;
  constexpr double effects[schools] = {28, 8, -3, 7, -1, 1, 18, 12}, errors[schools] = {15, 10, 16, 11, 9, 11, 10, 18};
  constexpr double widths[size] = {2.1, 0.77, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63, 0.63};
  const auto logp = [&](const double* q) {
    const double tau = std::exp(q[1]);
    double sum = -0.5 * (q[0] / 5) * (q[0] / 5) - std::log1p((tau / 5) * (tau / 5)) + q[1];
    for (int j = 0; j < schools; ++j) {
      const double z = (effects[j] - q[0] - tau * q[2 + j]) / errors[j];
      sum -= 0.5 * (z * z + q[2 + j] * q[2 + j]);
    }
    return sum;
  };
  std::mt19937_64 generator(static_cast<std::uint64_t>(seed));
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  double q[size] = {}, proposed[size], density = logp(q);
  for (std::int64_t t = 0; t < steps; ++t) {
    for (int k = 0; k < size; ++k) proposed[k] = q[k] + widths[k] * normal(generator);
    const double there = logp(proposed);
    if (std::log(uniform(generator)) < there - density) {
      density = there;
      for (int k = 0; k < size; ++k) q[k] = proposed[k];
    }
    for (int k = 0; k < size; ++k) chain[t * size + k] = q[k];
  }
}
