// Forward over the sequence, keeping inputs, gates and cells of all layers, then backward over it.
#include <algorithm>
#include <cmath>

#include "functions.hpp"

namespace by_hand {

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What a unit of a layer keeps of a step.
struct Unit {
  double input, hidden, cell, forget, ingate, outgate, change, squashed;
};

}  // namespace

Values lstm(std::int64_t layer_count, std::int64_t unit_count, const Values& parameters, const Values& state,
            const Values& sequence) {
  const auto layers = std::size_t(layer_count), width = std::size_t(unit_count);
  const std::size_t steps = sequence.size() / width - 1;
  const double *ends = &parameters[8 * layers * width], *in_weight = ends, *out_weight = ends + width,
               *out_bias = ends + 2 * width;
  std::vector<Unit> kept(steps * layers * width);
  Values hidden(layers * width), cell(layers * width), y(width), shares(steps * width), last(steps * width);
  for (std::size_t layer = 0; layer < layers; ++layer)
    for (std::size_t i = 0; i < width; ++i) {
      hidden[layer * width + i] = state[2 * layer * width + i];
      cell[layer * width + i] = state[(2 * layer + 1) * width + i];
    }
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < width; ++i) y[i] = sequence[step * width + i] * in_weight[i];
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const double *w = &parameters[8 * layer * width], *b = w + 4 * width;
      for (std::size_t i = 0; i < width; ++i) {
        double &h = hidden[layer * width + i], &c = cell[layer * width + i];
        Unit& unit = kept[(step * layers + layer) * width + i];
        unit = {y[i],
                h,
                c,
                sigmoid(y[i] * w[i] + b[i]),
                sigmoid(h * w[width + i] + b[width + i]),
                sigmoid(y[i] * w[2 * width + i] + b[2 * width + i]),
                std::tanh(h * w[3 * width + i] + b[3 * width + i]),
                0};
        c = c * unit.forget + unit.ingate * unit.change;
        unit.squashed = std::tanh(c);
        y[i] = h = unit.outgate * unit.squashed;
      }
    }
    double total = 2;
    for (std::size_t i = 0; i < width; ++i) {
      last[step * width + i] = y[i];
      total += shares[step * width + i] = std::exp(y[i] * out_weight[i] + out_bias[i]);
    }
    for (std::size_t i = 0; i < width; ++i) shares[step * width + i] /= total;
  }

  Values slopes(parameters.size(), 0.), of_hidden(layers * width, 0.), of_cell(layers * width, 0.), of_y(width);
  double* of_ends = &slopes[8 * layers * width];
  const double scale = -1 / double(steps * width);
  for (std::size_t step = steps; step-- > 0;) {
    const double* gold = &sequence[(step + 1) * width];
    double total = 0;
    for (std::size_t i = 0; i < width; ++i) total += gold[i];
    for (std::size_t i = 0; i < width; ++i) {
      const double of_predicted = scale * (gold[i] - total * shares[step * width + i]);
      of_ends[width + i] += of_predicted * last[step * width + i];
      of_ends[2 * width + i] += of_predicted;
      of_y[i] = of_predicted * out_weight[i];
    }
    for (std::size_t layer = layers; layer-- > 0;) {
      const double* w = &parameters[8 * layer * width];
      double *of_w = &slopes[8 * layer * width], *of_b = of_w + 4 * width;
      for (std::size_t i = 0; i < width; ++i) {
        const Unit& unit = kept[(step * layers + layer) * width + i];
        double &ch = of_hidden[layer * width + i], &cc = of_cell[layer * width + i];
        const double of_h = ch + of_y[i];
        const double of_c = cc + of_h * unit.outgate * (1 - unit.squashed * unit.squashed);
        const double of_gates[4] = {of_c * unit.cell * unit.forget * (1 - unit.forget),
                                    of_c * unit.change * unit.ingate * (1 - unit.ingate),
                                    of_h * unit.squashed * unit.outgate * (1 - unit.outgate),
                                    of_c * unit.ingate * (1 - unit.change * unit.change)};
        const double inputs[4] = {unit.input, unit.hidden, unit.input, unit.hidden};
        for (std::size_t gate = 0; gate < 4; ++gate) {
          of_w[gate * width + i] += of_gates[gate] * inputs[gate];
          of_b[gate * width + i] += of_gates[gate];
        }
        cc = of_c * unit.forget;
        ch = of_gates[1] * w[width + i] + of_gates[3] * w[3 * width + i];
        of_y[i] = of_gates[0] * w[i] + of_gates[2] * w[2 * width + i];
      }
    }
    for (std::size_t i = 0; i < width; ++i) of_ends[i] += of_y[i] * sequence[step * width + i];
  }
  return slopes;
}

}  // namespace by_hand
