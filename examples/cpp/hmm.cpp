// Loops: the forward algorithm of a hidden Markov model on a logarithmic scale, and its gradient, which gives the
// probability of each state given all observations; both are compared with the forward and backward recursions written
// out. A dealer changes between a fair and a loaded die (Durbin, Eddy, Krogh and Mitchison, Biological Sequence
// Analysis, 1998, chapter 3).
#include <array>
#include <bitale/bitale.hpp>
#include <bitale/ops/scan.hpp>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

namespace bt = bitale;

namespace {

constexpr std::size_t count = 300;
constexpr double transitions[2][2] = {{0.95, 0.05}, {0.1, 0.9}};
constexpr double emissions[2][6] = {{1 / 6., 1 / 6., 1 / 6., 1 / 6., 1 / 6., 1 / 6.}, {0.1, 0.1, 0.1, 0.1, 0.1, 0.5}};
constexpr double begin[2] = {2 / 3., 1 / 3.};

struct Dice {
  std::vector<std::int64_t> rolls, states;
};
Dice rolled() {
  std::mt19937_64 random(7);
  Dice out;
  std::int64_t state = 0;
  for (std::size_t t = 0; t < count; ++t) {
    state = std::discrete_distribution<std::int64_t>({transitions[state][0], transitions[state][1]})(random);
    out.states.push_back(state);
    out.rolls.push_back(
        std::discrete_distribution<std::int64_t>(std::begin(emissions[state]), std::end(emissions[state]))(random));
  }
  return out;
}

struct Answer {
  double likelihood = 0;
  std::vector<std::array<double, 2>> posterior;
};
// Probabilities that are scaled to one in each step.
Answer written_out(const std::vector<std::int64_t>& rolls) {
  std::vector<std::array<double, 2>> forward, backward(rolls.size(), {1, 1});
  Answer out;
  for (std::size_t t = 0; t < rolls.size(); ++t) {
    std::array<double, 2> now{};
    for (std::size_t to = 0; to < 2; ++to) {
      const double reached =
          t == 0 ? begin[to] : forward[t - 1][0] * transitions[0][to] + forward[t - 1][1] * transitions[1][to];
      now[to] = reached * emissions[to][rolls[t]];
    }
    const double total = now[0] + now[1];
    out.likelihood += std::log(total);
    forward.push_back({now[0] / total, now[1] / total});
  }
  for (std::size_t t = rolls.size() - 1; t-- > 0;) {
    for (std::size_t from = 0; from < 2; ++from) {
      backward[t][from] = 0;
      for (std::size_t to = 0; to < 2; ++to)
        backward[t][from] += transitions[from][to] * emissions[to][rolls[t + 1]] * backward[t + 1][to];
    }
    const double total = backward[t][0] + backward[t][1];
    for (double& each : backward[t]) each /= total;
  }
  for (std::size_t t = 0; t < rolls.size(); ++t) {
    const double fair = forward[t][0] * backward[t][0], loaded = forward[t][1] * backward[t][1];
    out.posterior.push_back({fair / (fair + loaded), loaded / (fair + loaded)});
  }
  return out;
}

template <std::size_t Rows, std::size_t Columns>
bt::Variable logs(const double (&table)[Rows][Columns]) {
  return bt::log(bt::constant(
      bt::Array(std::vector<double>(&table[0][0], &table[0][0] + Rows * Columns)).reshape({Rows, Columns})));
}

}  // namespace

int main() {
  const Dice dice = rolled();
  const auto seen = bt::lvector("seen");
  const auto log_begin = bt::log(bt::constant(bt::Array({begin[0], begin[1]}))), log_transitions = logs(transitions);
  const auto terms = bt::subtensor(bt::transpose(logs(emissions)), {seen});  // of each roll, by state
  const auto first = log_begin + bt::subtensor(terms, {bt::IndexItem(0)});
  const auto alphas = bt::scan(
      {.sequences = {bt::subtensor(terms, {bt::IndexItem(bt::Slice{bt::Operand(1), {}, {}})})}, .initial = {first}},
      [&](const bt::Variable& term, const bt::Variable& alpha) {
        return term + bt::logsumexp(bt::expand_dims(alpha, 1) + log_transitions, {{0}});
      });
  const auto likelihood = bt::logsumexp(alphas.finals[0], {{0}});
  // The derivative by a roll's term is the probability of the state, given all rolls.
  const auto f = bt::function({seen}, bt::Variables{likelihood, bt::grad(likelihood, terms)});

  const auto got = f({bt::Array(dice.rolls)});
  const Answer expected = written_out(dice.rolls);
  double difference = std::abs(got[0].item() - expected.likelihood);
  std::size_t right = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const double* posterior = got[1].data_as<double>() + 2 * t;
    for (std::size_t state = 0; state < 2; ++state)
      difference = std::max(difference, std::abs(posterior[state] - expected.posterior[t][state]));
    right += std::int64_t(posterior[1] > posterior[0]) == dice.states[t];
  }
  std::cout << "dice: log likelihood " << got[0].item() << "; the likelier state of each roll is right "
            << 100 * right / count << " % of the time\n";
  return difference < 1e-9 && right > count * 7 / 10 ? 0 : 1;
}
