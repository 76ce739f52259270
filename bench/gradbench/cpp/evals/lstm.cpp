// A network of layers with memory, whose matrices are diagonal: its mean logarithmic loss on a sequence of rows.
#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

namespace {

// Rows of `main` are weights and biases of four gates for each layer, rows of `state` hidden and cell.
bt::Variable loss(const bt::Variable& main, const bt::Variable& extra, const bt::Variable& state,
                  const bt::Variable& sequence) {
  const std::int64_t layers = main.static_shape()[0] / 2, width = extra.static_shape()[1];
  const bt::Variable gates = bt::reshape(main, {layers, 2, 4, width});
  bt::ScanArguments arguments{
      .sequences = {bt::subtensor(sequence, {bt::Slice{{}, -1}}), bt::subtensor(sequence, {bt::Slice{1}})}};
  for (int row = 0; row < int(2 * layers); ++row) arguments.initial.push_back(bt::subtensor(state, {row}));
  arguments.initial.emplace_back();  // the loss of a step, which is no state
  bt::ScanBuilder loop(arguments);
  const bt::Variables& values = loop.arguments();
  bt::Variables results;
  bt::Variable y = values[0] * bt::subtensor(extra, {0});
  for (int layer = 0; layer < int(layers); ++layer) {
    const auto affine = [&](const bt::Variable& x, int gate) {
      return x * bt::subtensor(gates, {layer, 0, gate}) + bt::subtensor(gates, {layer, 1, gate});
    };
    const bt::Variable hidden = values[std::size_t(2 + 2 * layer)], cell = values[std::size_t(3 + 2 * layer)];
    const bt::Variable forget = bt::sigmoid(affine(y, 0)), ingate = bt::sigmoid(affine(hidden, 1));
    const bt::Variable outgate = bt::sigmoid(affine(y, 2)), change = bt::tanh(affine(hidden, 3));
    const bt::Variable new_cell = cell * forget + ingate * change;
    y = outgate * bt::tanh(new_cell);
    results.push_back(y);
    results.push_back(new_cell);
  }
  const bt::Variable predicted = y * bt::subtensor(extra, {1}) + bt::subtensor(extra, {2});
  results.push_back(bt::sum(values[1] * (predicted - bt::log(bt::sum(bt::exp(predicted)) + 2.))));
  const std::int64_t count = (sequence.static_shape()[0] - 1) * width;
  return -bt::sum(loop.finish(bt::ScanStep(results)).traces.back()) / double(count);
}

}  // namespace

Eval lstm() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    const auto main = numbers_field(input, "main_params", 2), extra = numbers_field(input, "extra_params", 2);
    const auto state = numbers_field(input, "state", 2), sequence = numbers_field(input, "sequence", 2);
    const std::int64_t rows = main.shape[0], width = extra.shape[1];
    if (rows < 2 || rows % 2) throw InputError("`main_params` must have two rows for each layer");
    if (sequence.shape[0] < 2) throw InputError("`sequence` must have at least two rows");
    require_shape("main_params", main.shape, {rows, 4 * width});
    require_shape("extra_params", extra.shape, {3, width});
    require_shape("state", state.shape, {rows, width});
    require_shape("sequence", sequence.shape, {sequence.shape[0], width});
    Arguments arguments;
    const bt::Variable of_layers = arguments("main_params", main), of_ends = arguments("extra_params", extra);
    const bt::Variable value = loss(of_layers, of_ends, arguments("state", state), arguments("sequence", sequence));
    if (!is_derivative) return compiled(arguments, value);
    const bt::Variables slopes = bt::grad(value, {of_layers, of_ends});
    return compiled(arguments, bt::concatenate({bt::flatten(slopes[0]), bt::flatten(slopes[1])}));
  };
  return {"lstm",
          {{"objective", [=](const Json& input) { return prepare(input, false); }},
           {"jacobian", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench
