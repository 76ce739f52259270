// Loops: a gated recurrent network reads handwritten digits (8 x 8 pixels) row by row: eight steps, then a softmax of
// its last state. All weights are shared variables, and one compiled function computes loss, gradients and the step of
// Adam. The loss is held against a loop written out. Cho et al., Learning Phrase Representations using RNN
// Encoder-Decoder (2014); Kingma and Ba, Adam (2015).
#include <bitale/bitale.hpp>
#include <bitale/ops/scan.hpp>
#include <bitale/optimizers/optimizers.hpp>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>
#include <random>

#include "table.hpp"

namespace bt = bitale;

namespace {

constexpr std::int64_t units = 48, rows = 8, columns = 8, kinds = 10, batch = 64, training = 1500;

struct Images {
  bt::Array pixels;  // float64 [row, image, column], 0 to 1
  bt::Array digits;  // int64
};
// The images of these numbers.
Images chosen(const Table& table, const std::vector<std::size_t>& which) {
  const auto count = std::int64_t(which.size());
  Images out{bt::Array::empty(bt::DType::Float64, {rows, count, columns}), bt::Array::empty(bt::DType::Int64, {count})};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t image = which[std::size_t(i)];
    out.digits.mutable_data_as<std::int64_t>()[i] = std::int64_t(table["digit"][image]);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        out.pixels.mutable_data_as<double>()[(r * count + i) * columns + c] =
            table.columns[std::size_t(r * columns + c)][image] / 16;
  }
  return out;
}

using Weights = std::map<std::string, bt::Array>;
Weights random_weights() {
  std::mt19937_64 random(5);
  Weights out;
  const auto matrix = [&](std::int64_t n, std::int64_t m) {
    bt::Array values = bt::Array::empty(bt::DType::Float64, {n, m});
    std::normal_distribution<double> normal(0, 1 / std::sqrt(double(n)));
    for (std::int64_t i = 0; i < n * m; ++i) values.mutable_data_as<double>()[i] = normal(random);
    return values;
  };
  for (const std::string gate : {"z", "r", "h"}) {
    out["w" + gate] = matrix(columns, units);
    out["u" + gate] = matrix(units, units);
    out["b" + gate] = bt::Array::zeros(bt::DType::Float64, {units});
  }
  out["wo"] = matrix(units, kinds);
  out["bo"] = bt::Array::zeros(bt::DType::Float64, {kinds});
  return out;
}

// The loss, image by image.
double written_out(const Images& images, const Weights& w) {
  const auto count = images.digits.shape(0);
  const auto at = [&](const std::string& name, std::int64_t i) { return w.at(name).data_as<double>()[i]; };
  double total = 0;
  for (std::int64_t image = 0; image < count; ++image) {
    std::vector<double> h(units, 0.0);
    for (std::int64_t r = 0; r < rows; ++r) {
      const double* x = images.pixels.data_as<double>() + (r * count + image) * columns;
      const auto gate = [&](const std::string& name, const std::vector<double>& from) {
        std::vector<double> out(units);
        for (std::int64_t j = 0; j < units; ++j) {
          double sum = at("b" + name, j);
          for (std::int64_t c = 0; c < columns; ++c) sum += x[c] * at("w" + name, c * units + j);
          for (std::int64_t k = 0; k < units; ++k) sum += from[std::size_t(k)] * at("u" + name, k * units + j);
          out[std::size_t(j)] = name == "h" ? std::tanh(sum) : 1 / (1 + std::exp(-sum));
        }
        return out;
      };
      const auto z = gate("z", h), reset = gate("r", h);
      std::vector<double> kept(units);
      for (std::size_t j = 0; j < units; ++j) kept[j] = reset[j] * h[j];
      const auto candidate = gate("h", kept);
      for (std::size_t j = 0; j < units; ++j) h[j] = (1 - z[j]) * h[j] + z[j] * candidate[j];
    }
    double exponentials = 0, wanted = 0;
    for (std::int64_t j = 0; j < kinds; ++j) {
      double logit = at("bo", j);
      for (std::int64_t k = 0; k < units; ++k) logit += h[std::size_t(k)] * at("wo", k * kinds + j);
      exponentials += std::exp(logit);
      if (j == images.digits.data_as<std::int64_t>()[image]) wanted = logit;
    }
    total += std::log(exponentials) - wanted;
  }
  return total / double(count);
}

}  // namespace

int main() {
  const Table table = read_table(example_data("digits.csv"));
  std::vector<std::size_t> order(table.rows());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::mt19937_64 random(1);
  std::shuffle(order.begin(), order.end(), random);

  const Weights start = random_weights();
  std::map<std::string, bt::Variable> w;
  for (auto& [name, value] : start) w[name] = bt::shared(value, name);
  const auto x = bt::tensor3("x"), wanted = bt::lvector("wanted");
  const auto step = [&](const bt::Variable& x_t, const bt::Variable& h) {
    const auto gate = [&](const std::string& name, const bt::Variable& from) {
      return bt::dot(x_t, w["w" + name]) + bt::dot(from, w["u" + name]) + w["b" + name];
    };
    const auto z = bt::sigmoid(gate("z", h)), reset = bt::sigmoid(gate("r", h));
    return (1.0 - z) * h + z * bt::tanh(gate("h", reset * h));
  };
  const auto none = bt::zeros({bt::shape_i(x, 1), units});
  const auto last = bt::scan({.sequences = {x}, .initial = {none}}, step).finals[0];
  const auto logits = bt::dot(last, w["wo"]) + w["bo"];
  const auto likelihoods =
      bt::subtensor(logits, {bt::arange(bt::shape_i(wanted, 0)), wanted}) - bt::logsumexp(logits, {{1}});
  const auto loss = -bt::mean(likelihoods);

  bt::Variables weights;
  for (auto& [name, weight] : w) weights.push_back(weight);
  const auto updates = bt::optimizers::adam({.learning_rate = 0.01}).updates(loss, weights);
  const auto evaluate = bt::function({x, wanted}, loss);
  const auto learn = bt::function({x, wanted}, loss, {.updates = updates});
  const auto read = bt::function({x}, bt::argmax(logits, 1));

  const Images some = chosen(table, {order.begin(), order.begin() + batch});
  const bool agrees = std::abs(evaluate({some.pixels, some.digits}).item() - written_out(some, start)) < 1e-10;
  double value = 0;
  for (int epoch = 0; epoch < (quick() ? 2 : 20); ++epoch) {
    std::shuffle(order.begin(), order.begin() + training, random);
    for (std::int64_t first = 0; first + batch <= training; first += batch) {
      const Images images = chosen(table, {order.begin() + first, order.begin() + first + batch});
      value = learn({images.pixels, images.digits}).item();
    }
  }
  const Images test = chosen(table, {order.begin() + training, order.end()});
  const bt::Array answers = read({test.pixels});
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < answers.size(); ++i)
    right += answers.data_as<std::int64_t>()[i] == test.digits.data_as<std::int64_t>()[i];
  const double share = double(right) / double(answers.size());
  std::cout << "digits row by row: loss " << value << ", " << 100 * share
            << " % of the digits not seen before are read\n";
  return agrees && share > (quick() ? 0.5 : 0.95) ? 0 : 1;
}
