// RODAS of Hairer and Wanner, "Solving Ordinary Differential Equations II" (1996), section IV.7: a Rosenbrock method of
// order 4 with an estimate of order 3, L-stable and stiffly accurate. A step solves six linear systems with one matrix,
// and no equations by iteration. The stages are the increments u_i of the book's transformed form, which is multiplied
// here by gamma h, so that a step of length 0 is none:
//   (1 - gamma h J) u_i = gamma (h f(t + alpha_i h, y + sum_j a_ij u_j) + sum_j c_ij u_j + gamma_i h^2 df/dt)
#include <array>

#include "bitale/ops/linalg.hpp"
#include "integrate/expressions.hpp"
#include "integrate/method.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::integrate {

namespace {

constexpr int increments = 6;
constexpr double gamma_of_rodas = 0.25;
constexpr std::array<double, increments> alpha{0, 0.386, 0.21, 0.63, 1, 1};
constexpr std::array<double, increments> time_weights{0.25, -0.1043, 0.1035, -0.03620000000000023, 0, 0};
// The arguments of the last two stages are those before, with the newest increment added.
constexpr std::array<std::array<double, increments - 1>, increments> a{{
    {},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1},
}};
constexpr std::array<std::array<double, increments - 1>, increments> c{{
    {},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054},
}};

class Rodas4 final : public StepMethod {
 public:
  int error_order() const override { return 3; }

  Step step(const OdeSystem& system, const Variable& t, const Variable& y, const Variable& slope,
            const Variable& h) const override {
    const auto as_vector = [&](const Variable& x) { return x.ndim() == 1 ? x : flatten(x); };
    const auto as_state = [&](const Variable& x) {
      if (y.ndim() == 1) return x;
      Operands lengths(Variables{});
      for (int axis = 0; axis < y.ndim(); ++axis) lengths.variables.push_back(length_of(y, axis));
      return with_static_shape_of(y, y.ndim() == 0 ? sum(x) : reshape(x, lengths));
    };
    const Variable jacobian = system.jacobian(y, t), by_time = system.slope_by_time(y, t);
    const Variable scaled = like(h, gamma_of_rodas) * h;
    const Variable ones = ones_like(as_vector(y));
    const Variable matrix = diag(ones) - scaled * jacobian;
    Variables found;
    Variable at;
    for (std::size_t stage = 0; stage < increments; ++stage) {
      at = y;
      for (std::size_t j = 0; j < stage; ++j) at = at + like(h, a[stage][j]) * found[j];
      const Variable f = stage == 0 ? slope : system.slope(at, t + like(h, alpha[stage]) * h);
      Variable right = h * f;
      for (std::size_t j = 0; j < stage; ++j) right = right + like(h, c[stage][j]) * found[j];
      if (by_time.defined() && time_weights[stage] != 0)
        right = right + like(h, time_weights[stage]) * sqr(h) * by_time;
      found.push_back(
          as_state(solve(matrix, as_vector(like(h, gamma_of_rodas) * right), {.b_ndim = 1, .on_error = OnError::Nan})));
    }
    const Variable end = at + found.back();
    return {end, system.slope(end, t + h), found.back()};
  }
};

}  // namespace

const StepMethod& rodas4() {
  static const Rodas4 method;
  return method;
}

}  // namespace bitale::integrate
