// Dormand and Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math. 6 (1980): seven stages, the
// last of which is the slope at the end of the step and thus the first of the next one.
#include <array>
#include <span>
#include <vector>

#include "integrate/expressions.hpp"
#include "integrate/method.hpp"

namespace bitale::integrate {

namespace {

constexpr int stages = 7;
constexpr std::array<double, stages> nodes{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
// Stage i + 1 is the slope at y + h * sum of weights times earlier stages. The last row gives the result.
constexpr std::array<std::array<double, stages - 1>, stages - 1> weights{{
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
}};
// The result of order 5 less that of order 4.
constexpr std::array<double, stages> error_weights{71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                                   -17253. / 339200, 22. / 525, -1. / 40};

Variable combination(std::span<const double> factors, const Variables& slopes) {
  Variable sum;
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    if (factors[k] == 0) continue;
    const Variable term = like(slopes[k], factors[k]) * slopes[k];
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

class Dopri5 final : public StepMethod {
 public:
  int error_order() const override { return 4; }

  Step step(const OdeSystem& system, const Variable& t, const Variable& y, const Variable& slope,
            const Variable& h) const override {
    Variables slopes{slope};
    Variable end;
    for (std::size_t stage = 1; stage < stages; ++stage) {
      end = y + h * combination(weights[stage - 1], slopes);
      slopes.push_back(system.slope(end, t + like(t, nodes[stage]) * h));
    }
    return {end, slopes.back(), h * combination(error_weights, slopes)};
  }
};

}  // namespace

const StepMethod& dopri5() {
  static const Dopri5 method;
  return method;
}

}  // namespace bitale::integrate
