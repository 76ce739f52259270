// Derivatives written by hand, as loops: what the compiled ones are measured beside. Arrays are in row-major order.
#pragma once

#include <cstdint>
#include <vector>

namespace by_hand {

using Values = std::vector<double>;

// Each returns the derivative that the eval of its name asks for.
Values det(std::int64_t size, const Values& a);
Values llsq(const Values& x, std::int64_t n);
Values lse(const Values& x);
Values ode(const Values& x, std::int64_t steps);
Values kmeans(std::int64_t dimensions, const Values& points, const Values& centroids);

struct Mixture {
  std::int64_t d, k;
  double gamma, m;
  Values alpha, mu, q, l, x;
};
struct MixtureSlopes {
  Values alpha, mu, q, l;
};
MixtureSlopes gmm(const Mixture& mixture);

// Parameters: the main ones row by row, then the extra ones.
Values lstm(std::int64_t layers, std::int64_t width, const Values& parameters, const Values& state,
            const Values& sequence);

}  // namespace by_hand
