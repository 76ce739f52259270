#include "descent.hpp"

namespace gradbench {

namespace bt = bitale;

bt::Variable reverse(const bt::Variable& value, const bt::Variable& x) { return bt::grad(value, x); }

bt::Variable forward(const bt::Variable& value, const bt::Variable& x) {
  bt::Variables slopes;
  const std::int64_t length = x.static_shape()[0];
  for (std::int64_t i = 0; i < length; ++i) {
    std::vector<double> unit(std::size_t(length), 0.);
    unit[std::size_t(i)] = 1;
    slopes.push_back(bt::pushforward({value}, {x}, {bt::constant(bt::Array(unit))})[0]);
  }
  return bt::stack(slopes);
}

bt::Variable descend(const Scalar& f, Derivative derivative, const bt::Variable& start) {
  const auto step = [&](bt::Variable x, bt::Variable fx, bt::Variable gx, bt::Variable eta, bt::Variable good) {
    const bt::Variable is_flat = bt::sqrt(bt::sum(bt::sqr(gx))) <= 1e-5, doubles = bt::eq(good, 10);
    const bt::Variable new_x = x - eta * gx;
    const bt::Variable is_near = bt::sqrt(bt::sum(bt::sqr(new_x - x))) <= 1e-5;
    const bt::Variable ends = is_flat || (!doubles && is_near);
    const bt::Variable new_value = f(new_x), new_slope = derivative(new_value, new_x);
    const bt::Variable moves = !ends && !doubles && new_value < fx;
    const bt::Variable new_eta = bt::where(doubles, 2. * eta, bt::where(moves || ends, eta, eta / 2.));
    return bt::ScanStep({bt::where(moves, new_x, x), bt::where(moves, new_value, fx), bt::where(moves, new_slope, gx),
                         new_eta, bt::where(moves, good + 1, 0)},
                        ends);
  };
  const bt::Variable value = f(start), slope = derivative(value, start);
  return bt::scan(
             {.initial = {start, value, slope, bt::constant(bt::Array(1e-5)), bt::constant(bt::Array(std::int64_t(0)))},
              .n_steps = most_steps},
             step)
      .finals[0];
}

std::vector<EvalFunction> with_modes(
    const std::function<Prepared(Derivative outer, Derivative inner, const Json& input)>& prepare) {
  const std::vector<std::pair<std::string, Derivative>> modes{{"f", forward}, {"r", reverse}};
  std::vector<EvalFunction> out;
  for (const auto& [outer_name, outer] : modes)
    for (const auto& [inner_name, inner] : modes)
      out.push_back({outer_name + inner_name,
                     [=, outer = outer, inner = inner](const Json& input) { return prepare(outer, inner, input); }});
  return out;
}

}  // namespace gradbench
