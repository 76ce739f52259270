// Hierarchical logistic regression: does a person see a doctor in a year? 20,190 person-years, eight covariates, and an
// effect for each of 70 groups (site x insurance plan) around a common mean, with a spread that is learned too. Builds
// the log density, gets its gradient, compiles both into one function and climbs to the mode with L-BFGS.
#include <lbfgs.h>

#include <bitale/bitale.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "table.hpp"

namespace bt = bitale;

namespace {

// (x - mean) / standard deviation
std::vector<double> standardised(std::vector<double> x) {
  const double n = double(x.size()), mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double square = 0;
  for (double value : x) square += (value - mean) * (value - mean);
  for (double& value : x) value = (value - mean) / std::sqrt(square / n);
  return x;
}

struct Data {
  std::vector<std::string> covariates{"year",       "age",     "female",     "coinsurance",
                                      "log family", "chronic", "limitation", "health"};
  bt::Array x;      // float64, a row per person and year, standardised
  bt::Array saw;    // float64, 0 or 1
  bt::Array group;  // int64
  std::int64_t groups = 0;
  std::vector<int> site, plan;  // of each group
};

Data read_data(const std::string& path) {
  const Table table = read_table(path);
  const auto rows = table.rows();
  Data data;
  const auto width = data.covariates.size();
  std::vector<double> x(rows * width), saw(rows);
  std::vector<std::int64_t> group(rows);
  for (std::size_t j = 0; j < width; ++j) {
    const bool log = data.covariates[j].starts_with("log ");
    std::vector<double> column = table[log ? data.covariates[j].substr(4) : data.covariates[j]];
    if (log)
      for (double& value : column) value = std::log(value);
    column = standardised(std::move(column));
    for (std::size_t i = 0; i < rows; ++i) x[i * width + j] = column[i];
  }
  for (std::size_t i = 0; i < rows; ++i) {
    saw[i] = table["visits"][i] > 0;
    group[i] = std::int64_t(table["group"][i]);
    data.groups = std::max(data.groups, group[i] + 1);
    data.site.resize(std::size_t(data.groups));
    data.plan.resize(std::size_t(data.groups));
    data.site[std::size_t(group[i])] = int(table["site"][i]);
    data.plan[std::size_t(group[i])] = int(table["plan"][i]);
  }
  data.x = bt::Array(x).reshape({std::int64_t(rows), std::int64_t(width)});
  data.saw = bt::Array(saw);
  data.group = bt::Array(group);
  return data;
}

bt::Variable normal_logp(const bt::Variable& x, double sigma) { return -0.5 * bt::sqr(x / sigma); }

// The log density (up to a constant) at theta = (intercept, log tau, a coefficient per covariate, an effect per group).
bt::Variable log_density(const bt::Variable& theta, const Data& data) {
  const int width = int(data.covariates.size());
  auto x = bt::shared(data.x, "x"), saw = bt::shared(data.saw, "saw"), group = bt::shared(data.group, "group");

  auto intercept = bt::subtensor(theta, {0});
  auto log_tau = bt::subtensor(theta, {1});
  auto beta = bt::subtensor(theta, {bt::Slice{2, 2 + width, {}}});
  auto effect = bt::subtensor(theta, {bt::Slice{2 + width, {}, {}}});  // in units of tau: the non-centred form

  auto tau = bt::exp(log_tau);
  auto eta = intercept + bt::dot(x, beta) + tau * bt::subtensor(effect, {group});
  auto likelihood = bt::sum(saw * eta - bt::softplus(eta));
  auto prior = normal_logp(intercept, 2.0) + bt::sum(normal_logp(beta, 1.0)) + bt::sum(normal_logp(effect, 1.0)) +
               normal_logp(tau, 1.0) + log_tau;  // tau is half-normal; + log_tau as the density is that of log tau
  return likelihood + prior;
}

struct Objective {
  bt::Function function;                  // theta -> log density, gradient
  std::vector<double> microseconds = {};  // of each evaluation
  int iterations = 0;
};

// What L-BFGS minimises: the negative log density, and its gradient.
double evaluate(void* instance, const double* theta, double* gradient, int n, double) {
  auto& objective = *static_cast<Objective*>(instance);
  const auto start = std::chrono::steady_clock::now();
  const auto results = objective.function({bt::Array::from(theta, bt::DType::Float64, {n})});
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  objective.microseconds.push_back(taken.count());
  const double* d = results[1].data_as<double>();
  for (int i = 0; i < n; ++i) gradient[i] = -d[i];
  return -results[0].item();
}

int report(void* instance, const double*, const double*, double value, double, double gradient_norm, double, int,
           int iteration, int) {
  static_cast<Objective*>(instance)->iterations = iteration;
  if (iteration == 1 || iteration % 20 == 0)
    std::printf("  iteration %3d   log density %.6f   |gradient| %.2e\n", iteration, -value, gradient_norm);
  return 0;
}

double norm(const double* x, int n) { return std::sqrt(std::inner_product(x, x + n, x, 0.0)); }

int run() {
  const Data data = read_data(example_data("doctor_visits.csv"));
  const int width = int(data.covariates.size()), n = int(2 + width + data.groups);
  std::printf("Doctor visits: %lld person-years, %d covariates, %lld groups; %d parameters\n",
              static_cast<long long>(data.saw.size()), width, static_cast<long long>(data.groups), n);

  auto theta = bt::vector("theta");
  auto logp = log_density(theta, data);
  Objective objective{bt::function({theta}, {logp, bt::grad(logp, theta)}, {.name = "logp and gradient"})};
  const auto& times = objective.function.times();
  std::printf("Log density and gradient compiled in %.1f ms: rewriting %.1f, lowering %.1f, native code %.1f\n\n",
              times.total, times.rewrite, times.lower, times.codegen);

  std::vector<double> mode(std::size_t(n), 0.0), gradient(mode);
  lbfgs_parameter_t settings;
  lbfgs_parameter_init(&settings);
  settings.m = 20;
  settings.max_iterations = quick() ? 5 : 500;
  settings.epsilon = 1e-4;  // of |gradient| against |theta|
  double value = 0;
  const int status = lbfgs(n, mode.data(), &value, evaluate, report, &objective, &settings);
  auto& taken = objective.microseconds;
  const auto middle = taken.begin() + std::ptrdiff_t(taken.size() / 2);
  std::nth_element(taken.begin(), middle, taken.end());
  std::printf("\n%d iterations, %zu evaluations of %.0f µs each (median): %s\n", objective.iterations, taken.size(),
              *middle, status == LBFGS_SUCCESS ? "converged" : ("stopped with code " + std::to_string(status)).c_str());
  evaluate(&objective, mode.data(), gradient.data(), n, 0);

  std::printf("Mode: log density %.6f, |gradient| %.1e\n\n", -value, norm(gradient.data(), n));
  std::printf("  %-12s %8.4f\n", "intercept", mode[0]);
  for (int j = 0; j < width; ++j)
    std::printf("  %-12s %8.4f\n", data.covariates[std::size_t(j)].c_str(), mode[std::size_t(2 + j)]);
  const double tau = std::exp(mode[1]);
  std::printf("  %-12s %8.4f   (spread of the groups, at the joint mode)\n\n", "tau", tau);

  const double* effect = mode.data() + 2 + width;
  const auto [low, high] = std::minmax_element(effect, effect + data.groups);
  for (const double* group : {low, high}) {
    const auto g = std::size_t(group - effect);
    std::printf("  group of site %d, plan %2d: %+.3f\n", data.site[g], data.plan[g], tau * *group);
  }
  return quick() || norm(gradient.data(), n) < 1e-2 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
