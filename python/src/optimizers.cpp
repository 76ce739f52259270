// Optimisers and schedules, for bitale.optimizers: a function for each rule, whose parameters are the settings of its
// record. Parameters, gradients and states are trees.
#include "optimizers.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "optimizers/rule.hpp"
#include "tree.hpp"

namespace bitale::python {

namespace {

using namespace optimizers;

#define BITALE_SETTING_TYPE \
  "TensorVariable | numpy.typing.ArrayLike | Schedule | collections.abc.Callable[[TensorVariable], typing.Any]"

// ---- settings -------------------------------------------------------------------------------------------------------

Schedule schedule_of(nb::object function) {
  const std::string name =
      nb::hasattr(function, "__name__") ? nb::cast<std::string>(nb::str(function.attr("__name__"))) : "schedule";
  return Schedule([function](const Variable& step) { return as_variable(function(wrap(step))); }, name);
}

bool is_number(nb::handle given) { return PyFloat_Check(given.ptr()) || is_integer_object(given); }
bool is_schedule(nb::handle given) { return instance_of<Schedule>(given) || PyCallable_Check(given.ptr()); }

Setting setting_of(nb::handle given, const std::string& what) {
  if (is_number(given)) return nb::cast<double>(nb::float_(nb::borrow(given)));
  if (const auto* schedule = instance_of<Schedule>(given)) return *schedule;
  if (is_variable(given)) return require_variable(given, what);
  if (PyCallable_Check(given.ptr())) return schedule_of(nb::borrow(given));
  if (given.is_none() || PyBool_Check(given.ptr()) || nb::isinstance<nb::str>(given))
    throw TypeError(cat(what, ": expected a number, a scalar or a schedule, got ", shown(given)));
  return as_variable(given);
}

// ---- trees ----------------------------------------------------------------------------------------------------------

// A leaf with its path: params["W"][0].
struct Leaf {
  nb::object value;
  std::string path;
};

// The leaves of a value that has the structure of the parameters. TypeError or ValueError that names the path where it
// has another. `what`: its name, with which paths begin.
std::vector<Leaf> leaves_as(const Tree& form, nb::handle value, const std::string& what) {
  Leaves leaves;
  form.leaves_of(value, leaves, what);
  const std::vector<std::string> paths = form.paths(what);
  std::vector<Leaf> out;
  for (std::size_t i = 0; i < leaves.size(); ++i) out.push_back({leaves[i], paths[i]});
  return out;
}

Tree form_of(nb::handle value) {
  Leaves leaves;
  return Tree::of(value, leaves);
}

Variables variables_of(const std::vector<Leaf>& leaves) {
  Variables out;
  for (const Leaf& each : leaves) out.push_back(require_variable(each.value, each.path));
  return out;
}

Variables values_of(const std::vector<Leaf>& leaves) {
  Variables out;
  for (const Leaf& each : leaves) out.push_back(as_variable(each.value));
  return out;
}

nb::object tree_of(const Tree& form, const Variables& variables) {
  return form.build([&](std::size_t i) { return wrap(variables[i]); });
}

// A state as a dictionary: the count, and each slot in the form of the parameters.
template <class Count, class Slot>
nb::dict state_by_name(const Optimizer& optimizer, const Count& count, const Slot& slot) {
  nb::dict out;
  if (optimizer.has_count()) out["count"] = count();
  const std::vector<std::string> names = optimizer.slot_names();
  for (std::size_t s = 0; s < names.size(); ++s) out[names[s].c_str()] = slot(s);
  return out;
}

nb::dict state_in_form(const Optimizer& optimizer, const Tree& form, const State& state) {
  return state_by_name(
      optimizer, [&] { return wrap(state.count); }, [&](std::size_t s) { return tree_of(form, state.slots[s]); });
}

State state_of(const Optimizer& optimizer, nb::handle given, const Tree& form) {
  const nb::dict wanted = state_by_name(
      optimizer, [] { return nb::none(); }, [](std::size_t) { return nb::none(); });
  if (!PyDict_Check(given.ptr()))
    throw TypeError(cat("state: expected a dictionary as returned by init(), got ", shown(given)));
  const nb::dict state = nb::borrow<nb::dict>(given);
  for (auto [key, value] : state)
    if (!wanted.contains(key))
      throw ValueError(cat("state: expected the keys ", shown(nb::list(wanted.keys())), ", got ", shown(key)));
  for (auto [key, value] : wanted)
    if (!state.contains(key)) throw ValueError(cat("state: key ", shown(key), " is missing"));
  State out;
  if (optimizer.has_count()) out.count = as_variable(nb::object(state["count"]));
  for (const std::string& name : optimizer.slot_names())
    out.slots.push_back(values_of(leaves_as(form, nb::object(state[name.c_str()]), cat("state['", name, "']"))));
  return out;
}

// Updates: a dictionary, to which a program may add its own, with the variables of the state. Python's dict has no
// class in C++ that could be derived from.
nb::object updates_class() {
  static const nb::object& cls = *new nb::object([] {
    nb::dict members;
    members["__doc__"] = "Updates of shared variables by one step of an optimiser; `state` has those of its state.";
    members["__module__"] = "bitale._core";
    return nb::handle(reinterpret_cast<PyObject*>(&PyType_Type))(
        "Updates", nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))), members);
  }());
  return cls;
}

// ---- the two forms --------------------------------------------------------------------------------------------------

// Of variables, expressions; of values, arrays.
nb::object init(const Optimizer& optimizer, Any params) {
  const Tree form = form_of(params);
  const std::vector<Leaf> leaves = leaves_as(form, params, "params");
  std::size_t variables = 0;
  for (const Leaf& each : leaves) variables += is_variable(each.value);
  if (variables) return state_in_form(optimizer, form, optimizer.init(variables_of(leaves)));
  if (leaves.empty()) throw ValueError("init: expected params, got none");
  std::vector<std::vector<Array>> slots;  // of each parameter
  for (const Leaf& each : leaves) slots.push_back(optimizer.initial_slots(array_from(each.value, Share::Copy)));
  return state_by_name(
      optimizer, [] { return to_numpy(Array(std::int64_t(0))); },
      [&](std::size_t s) { return form.build([&](std::size_t k) { return to_numpy(slots[k][s]); }); });
}

nb::object update(const Optimizer& optimizer, Any gradients, Any state, Any params) {
  const Tree form = form_of(params);
  const auto [moved, next] =
      optimizer.update(values_of(leaves_as(form, gradients, "gradients")), state_of(optimizer, state, form),
                       values_of(leaves_as(form, params, "params")));
  return nb::make_tuple(tree_of(form, moved), state_in_form(optimizer, form, next));
}

nb::object updates(const Optimizer& optimizer, Any loss, Any params) {
  const Tree form = form_of(params);
  const Variables parameters = variables_of(leaves_as(form, params, "params"));
  const Updates made = is_variable(loss) ? optimizer.updates(require_variable(loss, "loss"), parameters)
                                         : optimizer.updates(values_of(leaves_as(form, loss, "gradients")), parameters);
  nb::object out = updates_class()();
  for (const auto& [before, after] : made) out[wrap(before)] = wrap(after);
  out.attr("state") = state_in_form(optimizer, form, made.state);
  return out;
}

// ---- functions of rules ---------------------------------------------------------------------------------------------

// What was given by position or by name; null objects for what was not.
std::vector<nb::object> given_by_name(const std::string& function, const std::vector<std::string>& names, nb::args args,
                                      nb::kwargs kwargs) {
  if (args.size() > names.size())
    throw TypeError(cat(function, ": expected at most ", names.size(), " arguments, got ", args.size()));
  std::vector<nb::object> out(names.size());
  for (std::size_t i = 0; i < args.size(); ++i) out[i] = nb::object(args[i]);
  for (auto [key, value] : kwargs) {
    const std::string name = nb::cast<std::string>(key);
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      const std::string near = closest(name, names);
      throw TypeError(cat(function, ": there is no argument ", name, "; ",
                          near.empty() ? cat("expected ", join(names, ", ")) : cat("did you mean ", near, "?")));
    }
    nb::object& place = out[std::size_t(found - names.begin())];
    if (place.is_valid()) throw TypeError(cat(function, ": argument ", name, " is given twice"));
    place = nb::borrow(value);
  }
  return out;
}

nb::object call_rule(const RuleRecord& rule, nb::args args, nb::kwargs kwargs) {
  const std::string name(rule.name);
  // A number or schedule alone is the first setting, the learning rate, as there is no such loss.
  const bool has_loss = rule.role == Role::optimizer &&
                        !(args.size() == 1 && (is_number(args[0]) || (is_schedule(args[0]) && !is_variable(args[0]))));
  std::vector<std::string> names;
  if (has_loss) names = {"loss", "params"};
  const std::size_t before = names.size();
  for (const auto& each : rule.settings) names.emplace_back(each.name);
  const std::vector<nb::object> given = given_by_name(name, names, args, kwargs);
  std::vector<Setting> settings;
  for (std::size_t i = before; i < names.size(); ++i)
    settings.push_back(given[i].is_valid() ? setting_of(given[i], cat(name, ": ", names[i]))
                                           : rule.settings[i - before].initial);
  Optimizer optimizer = optimizer_of(rule, std::move(settings));
  const auto is_given = [&](std::size_t i) { return before && given[i].is_valid() && !given[i].is_none(); };
  if (!is_given(0) && !is_given(1)) return nb::cast(std::move(optimizer));
  if (is_given(0) && is_given(1)) return updates(optimizer, given[0], given[1]);
  TypeError error(cat(name, ": expected a loss with its params, got ", is_given(0) ? "a loss" : "params", " alone"));
  error.add("hint", cat("an optimizer of other variables has neither: ", name, "(", names[before], "=...)"));
  throw error;
}

std::string signature_of(const RuleRecord& rule) {
  std::string out = cat("def ", rule.name, "(");
  if (rule.role == Role::optimizer) out += "loss: typing.Any = None, params: typing.Any = None";
  for (const auto& each : rule.settings)
    out += cat(out.ends_with('(') ? "" : ", ", each.name, ": ", BITALE_SETTING_TYPE, " = ", each.initial.str());
  return out + (rule.role == Role::optimizer ? ") -> Updates | Optimizer" : ") -> Optimizer");
}

// A step that lowers a loss; averages and other gradients within a chain.
std::string example_of(const RuleRecord& rule) {
  const std::string name(rule.name);
  const std::string optimizer = rule.role == Role::optimizer ? cat("bt.optimizers.", name, "()")
                                : rule.role == Role::average
                                    ? cat("bt.optimizers.chain(bt.optimizers.sgd(), bt.optimizers.", name, "())")
                                    : cat("bt.optimizers.chain(bt.optimizers.", name, "(), bt.optimizers.sgd())");
  const std::string updates =
      rule.role == Role::optimizer ? cat("bt.optimizers.", name, "(loss, w)") : "o.updates(loss, w)";
  return cat(rule.role == Role::optimizer ? "" : cat(">>> o = ", optimizer, "\n"),
             ">>> w = bt.shared(np.array([1.0, -2.0]), \"w\")\n"
             ">>> loss = (w**2).sum()\n"
             ">>> step = bt.function([], loss, updates=",
             updates,
             ")\n"
             ">>> bool(step() > step())\n"
             "True");
}

void bind_rules(nb::module_& m) {
  for (const RuleRecord* rule : rules()) {
    // Texts that live as long as the module.
    const auto& signature = *new std::string(signature_of(*rule));
    const auto& example = *new std::string(example_of(*rule));
    add_function(
        m, rule->name.data(),
        [rule](nb::args args, nb::kwargs kwargs) { return call_rule(*rule, std::move(args), std::move(kwargs)); },
        nb::call_guard<AtCaller>(), nb::sig(signature.c_str()), example.c_str());
  }
}

// ---- schedules ------------------------------------------------------------------------------------------------------

template <class>
using AsLike = Like;

template <class... Settings, class... Names>
void bind_schedule(nb::module_& m, const char* name, Schedule (*function)(Settings...), const char* example,
                   const Names&... names) {
  add_function(
      m, name, [=](const AsLike<Settings>&... given) { return function(setting_of(given, name)...); },
      nb::call_guard<AtCaller>(), names..., example);
}

Schedule exponential_decay_of(const Like& init_value, const Like& transition_steps, const Like& decay_rate,
                              const Like& transition_begin, bool staircase, const Any& end_value) {
  const auto setting = [](nb::handle given) { return setting_of(given, "exponential_decay"); };
  return exponential_decay(setting(init_value), setting(transition_steps), setting(decay_rate),
                           setting(transition_begin),
                           staircase ? optimizers::Decay::Staircase : optimizers::Decay::Continuous,
                           end_value.is_none() ? std::nullopt : std::optional(setting(end_value)));
}

Schedule join_schedules_of(const nb::list& schedules, const nb::list& boundaries) {
  std::vector<Schedule> parts;
  for (nb::handle each : schedules) {
    const auto* schedule = instance_of<Schedule>(each);
    if (!schedule && !PyCallable_Check(each.ptr()))
      throw TypeError(cat("join_schedules: expected schedules, got ", shown(each)));
    parts.push_back(schedule ? *schedule : schedule_of(nb::borrow(each)));
  }
  std::vector<Setting> at;
  for (nb::handle each : boundaries) at.push_back(setting_of(each, "join_schedules: a boundary"));
  return join_schedules(std::move(parts), std::move(at));
}

void bind_schedules(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule", "A number that follows from how many steps were made.")
      .def(
          "__call__", [](const Schedule& schedule, const Like& step) { return schedule(as_variable(step)); }, "step"_a,
          nb::call_guard<AtCaller>(), "The number after so many steps, a float64 scalar.")
      .def("__repr__", [](const Schedule& schedule) { return cat("<Schedule ", schedule.name(), ">"); });
  bind_schedule(m, "constant_schedule", constant_schedule, R"(>>> bt.optimizers.constant_schedule(0.1)(5).eval()
array(0.1))",
                "value"_a);
  bind_schedule(m, "linear_schedule", linear_schedule,
                R"(>>> bt.optimizers.linear_schedule(1.0, 0.0, transition_steps=4)(np.int64(1)).eval()
array(0.75))",
                "init_value"_a, "end_value"_a, "transition_steps"_a, "transition_begin"_a = 0);
  add_function(m, "exponential_decay", exponential_decay_of, nb::call_guard<AtCaller>(), "init_value"_a,
               "transition_steps"_a, "decay_rate"_a, "transition_begin"_a = 0, "staircase"_a = false,
               "end_value"_a = nb::none(),
               R"(>>> bt.optimizers.exponential_decay(1.0, transition_steps=2, decay_rate=0.25)(3).eval()
array(0.125))");
  bind_schedule(m, "cosine_decay_schedule", cosine_decay_schedule,
                R"(>>> bt.optimizers.cosine_decay_schedule(1.0, decay_steps=4)(2).eval().round(6)
np.float64(0.5))",
                "init_value"_a, "decay_steps"_a, "alpha"_a = 0.0, "exponent"_a = 1.0);
  bind_schedule(m, "warmup_cosine_decay_schedule", warmup_cosine_decay_schedule,
                R"(>>> schedule = bt.optimizers.warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=2, decay_steps=6)
>>> [float(schedule(step).eval().round(3)) for step in range(7)]
[0.0, 0.5, 1.0, 0.854, 0.5, 0.146, 0.0])",
                "init_value"_a, "peak_value"_a, "warmup_steps"_a, "decay_steps"_a, "end_value"_a = 0.0,
                "exponent"_a = 1.0);
  add_function(m, "join_schedules", join_schedules_of, nb::call_guard<AtCaller>(), "schedules"_a, "boundaries"_a,
               nb::sig("def join_schedules(schedules: list[Schedule], boundaries: list[int]) -> Schedule"),
               R"(>>> o = bt.optimizers
>>> schedule = o.join_schedules([o.constant_schedule(0.1), o.constant_schedule(0.01)], [100])
>>> schedule(99).eval(), schedule(100).eval()
(array(0.1), array(0.01)))");
}

}  // namespace

void bind_optimizers(nb::module_& m) {
  bind_schedules(m);
  m.attr("Updates") = updates_class();
  nb::class_<Optimizer>(m, "Optimizer", "Steps of an optimiser, as expressions.")
      .def("init", init, "params"_a.none(), nb::call_guard<AtCaller>(),
           nb::sig("def init(self, params: typing.Any) -> dict[str, typing.Any]"),
           R"(>>> bt.optimizers.momentum().init(np.zeros(2))
{'trace': array([0., 0.])})")
      .def("update", update, "grads"_a.none(), "state"_a.none(), "params"_a.none(), nb::call_guard<AtCaller>(),
           nb::sig("def update(self, grads: typing.Any, state: dict[str, typing.Any], params: typing.Any) -> "
                   "tuple[typing.Any, dict[str, typing.Any]]"),
           R"(>>> o = bt.optimizers.sgd(0.5)
>>> w = pt.dvector("w")
>>> moved, state = o.update(2 * w, o.init(w), w)
>>> moved.eval({w: [1.0, -2.0]})
array([0., 0.]))")
      .def("updates", updates, "loss"_a.none(), "params"_a.none(), nb::call_guard<AtCaller>(),
           nb::sig("def updates(self, loss: typing.Any, params: typing.Any) -> Updates"),
           R"(>>> o = bt.optimizers.chain(bt.optimizers.clip_by_global_norm(1.0), bt.optimizers.adam(0.1))
>>> w = bt.shared(np.array([1.0, -2.0]), "w")
>>> step = bt.function([], [], updates=o.updates((w**2).sum(), w))
>>> step()
[]
>>> w.get_value().round(3)
array([ 0.9, -1.9]))")
      .def("__repr__", &Optimizer::str);
  bind_rules(m);
  add_function(
      m, "chain",
      [](nb::args parts) {
        std::vector<Optimizer> optimizers;
        for (nb::handle each : parts) {
          const auto* optimizer = instance_of<Optimizer>(each);
          if (!optimizer) throw TypeError(cat("chain: expected optimizers, got ", shown(each)));
          optimizers.push_back(*optimizer);
        }
        return chain(optimizers);
      },
      nb::sig("def chain(*parts: Optimizer) -> Optimizer"),
      R"(>>> o = bt.optimizers.chain(bt.optimizers.clip_by_global_norm(1.0), bt.optimizers.sgd(0.5))");
  add_function(
      m, "global_norm",
      [](const Any& tensors) { return global_norm(values_of(leaves_as(form_of(tensors), tensors, "tensors"))); },
      "tensors"_a, nb::call_guard<AtCaller>(), R"(>>> bt.optimizers.global_norm([np.array([3.0]), np.array(4.0)]).eval()
array(5.))");
}

}  // namespace bitale::python
