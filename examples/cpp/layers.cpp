// A network of equal blocks; each block is one node of an op defined by a graph, with its own derivative. A block's
// weights are quantised to multiples of 1/8 in the forward pass. Rounding has the derivative zero, so that nothing
// would be learnt; the op `quantise` passes gradients straight through instead. Fails when the loss does not fall.
#include <bitale/bitale.hpp>
#include <cstdio>
#include <random>

#include "table.hpp"

namespace bt = bitale;

namespace {

constexpr std::int64_t width = 16, rows = 64;
constexpr int depth = 4;

bt::Array normal(bt::Dims shape, double scale, std::mt19937_64& random) {
  std::normal_distribution<double> draw(0, scale);
  bt::Array out = bt::Array::empty(bt::DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = draw(random);
  return out;
}

// An op with a derivative of its own: rounding, whose gradient is that of the identity.
bt::OpRef make_quantise() {
  const auto w = bt::matrix("w");
  bt::OpFromGraphOptions options{.name = "quantise"};
  options.pullback = bt::derivative_override(
      [](const bt::Variables&, const bt::Variables&, const bt::Variables& given) { return given; });
  return bt::op_from_graph({w}, {bt::round(w * 8.0) / 8.0}, options);
}

// A block is an op that contains it. Not inlined, it is compiled once, and called by every layer; so is its gradient.
bt::OpRef make_block() {
  const auto h = bt::matrix("h"), w = bt::matrix("w"), b = bt::vector("b");
  const auto quantised = bt::apply_op(make_quantise(), {w})[0];
  return bt::op_from_graph({h, w, b}, {h + bt::tanh(bt::dot(h, quantised) + b)}, {.is_inline = false, .name = "block"});
}

int run() {
  std::mt19937_64 random(1);
  const auto x = bt::matrix("x"), y = bt::matrix("y");
  const bt::OpRef block = make_block();
  bt::Variables parameters;
  bt::Variable out = x;
  for (int layer = 0; layer < depth; ++layer) {
    const auto weights = bt::shared(normal({width, width}, 0.3, random), "W" + std::to_string(layer));
    const auto bias = bt::shared(bt::Array::zeros(bt::DType::Float64, {width}), "b" + std::to_string(layer));
    parameters.push_back(weights);
    parameters.push_back(bias);
    out = bt::apply_op(block, {out, weights, bias})[0];
  }
  const auto loss = bt::mean(bt::sqr(out - y));
  const auto gradients = bt::grad(loss, parameters);
  bt::Replacements updates;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    updates.emplace_back(parameters[i], parameters[i] - 0.2 * gradients[i]);
  const auto step = bt::function({x, y}, loss, {.updates = updates});
  std::printf("%s\n", bt::dprint(out).c_str());

  const bt::Array inputs = normal({rows, width}, 1, random), targets = normal({rows, width}, 0.1, random);
  const int steps = quick() ? 100 : 1000;
  double first = 0, last = 0;
  for (int i = 0; i < steps; ++i) {
    last = step({inputs, targets}).item();
    if (i == 0) first = last;
  }
  std::printf("loss %.4f -> %.4f in %d steps\n", first, last, steps);
  return last < 0.5 * first ? 0 : 1;
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
