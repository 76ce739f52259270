// The loss of layers of LSTM units whose matrices are diagonal, over a sequence.
#pragma once

#include <cmath>

#include "tapes.hpp"

namespace gradbench {

template <class Scalar>
Scalar sigmoid(const Scalar& x) {
  using std::exp;
  return 1. / (1. + exp(-x));
}

// Parameters: the main ones row by row, then the extra ones.
template <class Scalar>
Scalar sequence_loss(std::size_t layers, std::size_t width, const std::vector<Scalar>& parameters, const Values& state,
                     const Values& sequence) {
  using std::exp, std::log, std::tanh;
  const std::size_t steps = sequence.size() / width - 1;
  const Scalar *in_weight = &parameters[8 * layers * width], *out_weight = in_weight + width,
               *out_bias = out_weight + width;
  std::vector<Scalar> hidden(layers * width), cell(layers * width), y(width), predicted(width);
  for (std::size_t layer = 0; layer < layers; ++layer)
    for (std::size_t i = 0; i < width; ++i) {
      hidden[layer * width + i] = state[2 * layer * width + i];
      cell[layer * width + i] = state[(2 * layer + 1) * width + i];
    }
  Scalar loss = 0.;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < width; ++i) y[i] = sequence[step * width + i] * in_weight[i];
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const Scalar *w = &parameters[8 * layer * width], *b = w + 4 * width;
      for (std::size_t i = 0; i < width; ++i) {
        Scalar &h = hidden[layer * width + i], &c = cell[layer * width + i];
        const Scalar forget = sigmoid<Scalar>(y[i] * w[i] + b[i]);
        const Scalar ingate = sigmoid<Scalar>(h * w[width + i] + b[width + i]);
        const Scalar outgate = sigmoid<Scalar>(y[i] * w[2 * width + i] + b[2 * width + i]);
        const Scalar change = tanh(h * w[3 * width + i] + b[3 * width + i]);
        c = c * forget + ingate * change;
        y[i] = h = outgate * tanh(c);
      }
    }
    Scalar total = 2.;
    for (std::size_t i = 0; i < width; ++i) {
      predicted[i] = y[i] * out_weight[i] + out_bias[i];
      total += exp(predicted[i]);
    }
    const Scalar normaliser = log(total);
    const double* gold = &sequence[(step + 1) * width];
    for (std::size_t i = 0; i < width; ++i) loss += gold[i] * (predicted[i] - normaliser);
  }
  return -loss / double(steps * width);
}

template <class Tape>
Prepared lstm(const Json& input) {
  const auto main = numbers_field(input, "main_params", 2), extra = numbers_field(input, "extra_params", 2);
  const auto state = numbers_field(input, "state", 2), sequence = numbers_field(input, "sequence", 2);
  const std::int64_t rows = main.shape[0], width = extra.shape[1];
  require_shape("main_params", main.shape, {rows, 4 * width});
  require_shape("extra_params", extra.shape, {3, width});
  require_shape("state", state.shape, {rows, width});
  require_shape("sequence", sequence.shape, {sequence.shape[0], width});
  Values parameters = main.values;
  parameters.insert(parameters.end(), extra.values.begin(), extra.values.end());
  const auto loss = [=](const auto& x) {
    return sequence_loss(std::size_t(rows / 2), std::size_t(width), x, state.values, sequence.values);
  };
  return gradient_of<Tape>(loss, parameters, {std::int64_t(parameters.size())});
}

}  // namespace gradbench
