// grad, pullback and pushforward: argument checks, and results as the options require. The sweeps do the work.
#include "bitale/autodiff/gradient.hpp"

#include <cstdio>

#include "autodiff/sweep.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale {

// ---- options -------------------------------------------------------------------------------------------------------

namespace {

template <class Enum, std::size_t N>
Enum parse_choice(std::string_view text, std::string_view option,
                  const std::pair<std::string_view, Enum> (&choices)[N]) {
  std::vector<std::string> names;
  for (auto& [name, value] : choices) {
    if (name == text) return value;
    names.push_back(cat("'", name, "'"));
  }
  throw ValueError(cat(option, ": expected one of ", join(names, ", "), ", got '", text, "'"));
}

}  // namespace

OnDisconnected parse_on_disconnected(std::string_view text) {
  return parse_choice<OnDisconnected>(
      text, "disconnected_inputs",
      {{"raise", OnDisconnected::Raise}, {"warn", OnDisconnected::Warn}, {"ignore", OnDisconnected::Ignore}});
}

ReturnDisconnected parse_return_disconnected(std::string_view text) {
  return parse_choice<ReturnDisconnected>(text, "return_disconnected",
                                          {{"zero", ReturnDisconnected::Zero},
                                           {"none", ReturnDisconnected::None},
                                           {"disconnected", ReturnDisconnected::Disconnected}});
}

OnNullGradient parse_on_null_gradient(std::string_view text) {
  return parse_choice<OnNullGradient>(text, "null_gradients",
                                      {{"raise", OnNullGradient::Raise}, {"return", OnNullGradient::Return}});
}

// ---- checks --------------------------------------------------------------------------------------------------------

void require_cost(const Variable& cost, std::string_view what) {
  if (!cost.defined()) throw ValueError(cat(what, ": the cost is missing"));
  if (cost.is_null()) throw NullTypeGradError(cat(what, ": the cost has no value: ", cost.why_null()));
  if (cost.is_disconnected()) throw DisconnectedInputError(cat(what, ": the cost is disconnected"));
  auto describe = [&] { return cat("got `", cost.str(), "` of type ", cost.type()->str()); };
  if (cost.ndim() != 0) {
    TypeError error(cat(what, ": the cost must be a scalar (0 dimensions), ", describe()));
    error.add("hint", "jacobian differentiates each element; sum() or mean() of the cost is a scalar");
    throw error;
  }
  if (is_discrete(cost.dtype())) throw TypeError(cat(what, ": the cost must be of a float dtype, ", describe()));
  if (is_complex(cost))
    throw TypeError(cat(what, ": the cost must be real, ", describe(), "; take `real`, `imag` or `abs` of it"));
}

namespace {

void require_tensors(const Variables& variables, std::string_view what) {
  for (const Variable& v : variables) {
    if (!v.defined()) throw ValueError(cat(what, ": a variable is missing"));
    if (!as_tensor(v.type()))
      throw TypeError(cat(what, ": expected tensors, got `", v.str(), "` of type ", v.type()->str()));
  }
}

void require_pairs(std::string_view what, std::string_view of, std::size_t count, std::string_view by,
                   std::size_t given) {
  if (count != given)
    throw ValueError(cat(what, ": expected one of the ", by, " per ", of, ": ", count, ", got ", given));
}

void report_disconnected(const Variable& v, const GradOptions& options, std::string_view what) {
  if (options.disconnected_inputs == OnDisconnected::Ignore) return;
  std::string message = cat(what, " `", v.str(), "`, of type ", v.type()->str());
  if (options.disconnected_inputs == OnDisconnected::Raise) {
    DisconnectedInputError error(message);
    if (Location where = v.where()) error.add("made at", where.str_with_callers());
    if (v.has_owner())
      error.add("hint",
                "an expression that is written a second time is another variable: differentiate with respect to the "
                "one that the cost "
                "contains, or by the variables that it consists of");
    throw error;
  }
  if (options.warn)
    options.warn(message);
  else
    std::fprintf(stderr, "warning: %s\n", message.c_str());
}

Variable for_disconnected(const Variable& v, ReturnDisconnected how) {
  switch (how) {
    case ReturnDisconnected::Zero: return zero_gradient(v);
    case ReturnDisconnected::None: return {};
    case ReturnDisconnected::Disconnected: break;
  }
  return disconnected();
}

// The result for one variable, as the options require.
Variable answer(const Variable& v, const Variable& derivative, const GradOptions& options, std::string_view what,
                std::string_view disconnected_text) {
  if (derivative.is_disconnected()) {
    report_disconnected(v, options, disconnected_text);
    return for_disconnected(v, options.return_disconnected);
  }
  if (derivative.is_null() && options.null_gradients == OnNullGradient::Raise)
    throw NullTypeGradError(cat(what, " `", v.str(), "` is undefined: ", derivative.why_null()));
  return derivative;
}

constexpr std::string_view no_path =
    "grad: the cost does not depend differentiably on a variable it is to be differentiated by (no path, or only "
    "through operations without a gradient):";

constexpr std::string_view of_integers =
    "grad: an integer or bool has no derivative; differentiate with respect to a float and cast, or say "
    "disconnected_inputs='ignore' "
    "for zero:";

Variables reverse(std::span<const Seed> seeds, const Variables& wrt, const GradOptions& options,
                  const std::string& cost_name = {}) {
  require_tensors(wrt, "grad, variables with respect to which to differentiate");
  require_tensors(options.consider_constant, "consider_constant");
  const Variables gradients = reverse_sweep(seeds, wrt, options.consider_constant);
  Variables out;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const Variable& v = wrt[i];
    const bool is_hidden_zero = is_discrete(v.dtype()) && !gradients[i].is_disconnected();
    const Variable gradient = is_hidden_zero ? disconnected() : gradients[i];
    out.push_back(
        answer(v, gradient, options, "grad: the gradient with respect to", is_hidden_zero ? of_integers : no_path));
    bool nameable = options.add_names && !cost_name.empty() && !v.name().empty() && gradient.has_owner();
    if (nameable && gradient.name().empty()) gradient.set_name(cat("(d", cost_name, "/d", v.name(), ")"));
  }
  return out;
}

std::vector<Seed> known_seeds(const GradOptions& options) {
  std::vector<Seed> seeds;
  for (auto& [variable, gradient] : options.known_grads) {
    require_tensors({variable}, "known_grads");
    if (!gradient.defined()) throw ValueError(cat("known_grads: the gradient of `", variable.str(), "` is missing"));
    seeds.push_back({variable, gradient, true});
  }
  return seeds;
}

// The initial cotangent of a cost. It stays connected with the cost, as PyTensor's does: a gradient that turns out to
// be constant still depends on the cost's inputs, which a function of it may then take as inputs.
Variable one_for(const Variable& cost) { return second(cost, ones_like(cost)); }

}  // namespace

// ---- reverse -------------------------------------------------------------------------------------------------------

Variables grad(const Variable& cost, const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  require_cost(cost, "grad");
  std::vector<Seed> seeds = {{cost, one_for(cost), true}};
  for (Seed& seed : known_seeds(options)) seeds.push_back(std::move(seed));
  return reverse(seeds, wrt, options, cost.name());
}

Variable grad(const Variable& cost, const Variable& wrt, const GradOptions& options, Source where) {
  return grad(cost, Variables{wrt}, options, where)[0];
}

Variables grad(const Variables& wrt, const GradOptions& options, Source where) {
  LocationScope here(where);
  if (options.known_grads.empty()) throw ValueError("grad: either a cost or known_grads is needed");
  return reverse(known_seeds(options), wrt, options);
}

Variables pullback(const Variables& outputs, const Variables& wrt, const Variables& cotangents,
                   const GradOptions& options, Source where) {
  LocationScope here(where);
  require_tensors(outputs, "pullback, outputs");
  require_pairs("pullback", "output", outputs.size(), "cotangents", cotangents.size());
  std::vector<Seed> seeds = known_seeds(options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!cotangents[i].defined())
      throw ValueError(cat("pullback: the cotangent of `", outputs[i].str(), "` is missing"));
    seeds.push_back({outputs[i], cotangents[i]});
  }
  return reverse(seeds, wrt, options);
}

std::pair<Variables, Variables> subgraph_grad(const Variables& wrt, const Variables& end, const Replacements& start,
                                              const Variable& cost, Source where) {
  LocationScope here(where);
  if (!cost.defined() && start.empty())
    throw ValueError("subgraph_grad: either a cost or gradients to start from are needed");
  require_tensors(end, "subgraph_grad, end");
  std::vector<Seed> seeds;
  if (cost.defined()) {
    require_cost(cost, "subgraph_grad");
    seeds.push_back({cost, one_for(cost)});
  }
  for (auto& [variable, gradient] : start) {
    require_tensors({variable}, "subgraph_grad, start");
    if (!gradient.defined()) throw ValueError(cat("subgraph_grad: the gradient of `", variable.str(), "` is missing"));
    seeds.push_back({variable, gradient});
  }
  GradOptions options;
  options.consider_constant = end;
  options.disconnected_inputs = OnDisconnected::Ignore;
  Variables all = wrt;
  all.insert(all.end(), end.begin(), end.end());
  Variables gradients = reverse(seeds, all, options);
  auto middle = gradients.begin() + std::ptrdiff_t(wrt.size());
  return {Variables(gradients.begin(), middle), Variables(middle, gradients.end())};
}

// ---- forward -------------------------------------------------------------------------------------------------------

Variables pushforward(const Variables& outputs, const Variables& wrt, const Variables& tangents,
                      const GradOptions& options, Source where) {
  LocationScope here(where);
  require_tensors(outputs, "pushforward, outputs");
  require_tensors(wrt, "pushforward, variables with respect to which to differentiate");
  require_tensors(options.consider_constant, "consider_constant");
  require_pairs("pushforward", "variable with respect to which to differentiate", wrt.size(), "tangents",
                tangents.size());
  std::vector<Seed> seeds;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (!tangents[i].defined()) throw ValueError(cat("pushforward: the tangent of `", wrt[i].str(), "` is missing"));
    seeds.push_back({wrt[i], tangents[i]});
  }
  Variables found = forward_sweep(outputs, seeds, options.consider_constant), out;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    out.push_back(answer(outputs[i], found[i], options, "pushforward: the derivative of",
                         "pushforward: none of the variables reaches an output differentiably:"));
  return out;
}

}  // namespace bitale
