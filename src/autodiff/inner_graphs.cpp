// Differentiation and batching of inner graphs, for the ops that have them (graph/calculus.hpp): the ordinary drivers,
// which here return "disconnected" and "undefined" as results instead of raising errors.
#include <algorithm>

#include "bitale/autodiff/gradient.hpp"
#include "graph/calculus.hpp"
#include "ops/control/batched_graph.hpp"

namespace bitale {

namespace {

const GradOptions answers = [] {
  GradOptions options;
  options.disconnected_inputs = OnDisconnected::Ignore;
  options.return_disconnected = ReturnDisconnected::Disconnected;
  options.null_gradients = OnNullGradient::Return;
  options.add_names = false;
  return options;
}();

Variables pullback_of(const Variables& outputs, const Variables& wrt, const Variables& cotangents) {
  Variables from, given;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!cotangents[k].is_disconnected()) {
      from.push_back(outputs[k]);
      given.push_back(cotangents[k]);
    }
  if (from.empty()) return Variables(wrt.size(), disconnected());
  return pullback(from, wrt, given, answers);
}

Variables pushforward_of(const Variables& outputs, const Variables& wrt, const Variables& tangents) {
  Variables by, given;
  for (std::size_t i = 0; i < wrt.size(); ++i)
    if (!tangents[i].is_disconnected()) {
      by.push_back(wrt[i]);
      given.push_back(tangents[i]);
    }
  if (by.empty()) return Variables(outputs.size(), disconnected());
  return pushforward(outputs, by, given, answers);
}

const Calculus drivers{pullback_of, pushforward_of, batched_graph};
const RegisterCalculus registered(drivers);

}  // namespace

}  // namespace bitale
