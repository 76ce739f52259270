#include "function_arguments.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "default_updates.hpp"
#include "flag.hpp"
#include "identity_test.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

// The replacement of a variable: another variable, or a value of its type.
Replacements typed_replacements(const std::vector<std::pair<nb::object, nb::object>>& pairs, const char* what) {
  Replacements out;
  for (auto& [before, after] : pairs) {
    const Variable target = require_variable(before, what);
    if (is_variable(after)) {
      out.emplace_back(target, variable_of(after));
      continue;
    }
    if (as_tensor(target.type())) refuse_truth_value(after);
    out.emplace_back(target, constant_of(target.type(), value_from(*target.type(), after)));
  }
  return out;
}

OutObject as_output(nb::handle given) {
  if (auto* output = instance_of<OutObject>(given)) return *output;
  return {as_variable(given)};
}

void parse_outputs(nb::handle given, FunctionArguments& out) {
  using Kind = OutputForm::Kind;
  if (given.is_none()) {
    out.form.kind = Kind::None;
  } else if (PyDict_Check(given.ptr())) {
    out.form.kind = Kind::Dict;
    for (auto [key, value] : nb::borrow<nb::dict>(given)) {
      out.form.keys.push_back(nb::borrow(key));
      out.outputs.push_back(as_output(value));
    }
  } else if (is_sequence(given)) {
    out.form.kind = Kind::List;
    for (nb::handle one : given) out.outputs.push_back(as_output(one));
  } else {
    out.form.kind = Kind::Single;
    out.outputs.push_back(as_output(given));
  }
}

void parse_inputs(nb::handle given, FunctionArguments& out) {
  if (!is_sequence(given))
    throw TypeError(cat("function: inputs must be a list, even of one variable; got ", shown(given)));
  for (nb::handle one : given) {
    InObject input = as_input(one);
    input.store();
    out.inputs.push_back(std::move(input));
  }
}

std::optional<std::string> optional_text(nb::handle given, const char* what) {
  if (given.is_none()) return {};
  if (!PyUnicode_Check(given.ptr())) throw TypeError(cat("function: ", what, " is a text or None, got ", shown(given)));
  return nb::cast<std::string>(given);
}

std::optional<int> thread_count(nb::handle given) {
  if (given.is_none()) return {};
  if (!is_integer_object(given))
    throw TypeError(cat("function: threads is an integer from 1 to 1024, got ", shown(given)));
  const Py_ssize_t count = PyNumber_AsSsize_t(given.ptr(), nullptr);  // the library knows the range
  if (count == -1 && PyErr_Occurred()) nb::raise_python_error();
  constexpr Py_ssize_t max = std::numeric_limits<int>::max();
  return int(std::clamp(count, -max, max));
}

}  // namespace

void refuse_option(const char* name, nb::handle value) {
  if (!value.is_none() && value.ptr() != Py_False)
    throw NotImplementedError(cat("function: ", name, "=", shown(value)));
}

std::optional<bool> wants_profile(nb::handle profile) {
  if (PyUnicode_Check(profile.ptr())) return true;
  if (profile.is_none() || PyBool_Check(profile.ptr())) return optional_flag(profile, "function: profile");
  throw TypeError(cat("function: profile is True, False, None or a text, got ", shown(profile)));
}

FunctionArguments parse_arguments(const GivenArguments& given) {
  FunctionArguments out;
  parse_inputs(given.inputs, out);
  parse_outputs(given.outputs, out);
  out.mode = mode_or_default(given.mode);
  out.updates = with_default_updates(
      out.expressions(), typed_replacements(as_pairs(given.updates, "updates"), "updates"), given.no_default_updates);
  out.givens = typed_replacements(as_pairs(given.givens, "givens"), "givens");
  out.profile = wants_profile(given.profile);
  out.name = optional_text(given.name, "name");
  if (!out.name && PyUnicode_Check(given.profile.ptr())) out.name = nb::cast<std::string>(given.profile);
  out.allow_input_downcast = optional_flag(given.allow_input_downcast, "function: allow_input_downcast");
  out.on_unused_input = optional_text(given.on_unused_input, "on_unused_input").value_or("");
  out.trust_input = optional_flag(given.trust_input, "function: trust_input").value_or(false);
  out.threads = thread_count(given.threads);
  return out;
}

Variables FunctionArguments::expressions() const {
  Variables out;
  for (auto& output : outputs) out.push_back(output.variable);
  return out;
}

nb::object FunctionArguments::outputs_in_form() const {
  return in_form(form, outputs.size(), [&](std::size_t i) { return nb::cast(outputs[i]); });
}

nb::dict FunctionArguments::keywords() const {
  nb::dict out;
  nb::list each_input;
  for (auto& input : inputs) each_input.append(nb::cast(input));
  out["inputs"] = each_input;
  out["outputs"] = outputs_in_form();
  out["mode"] = mode;
  out["updates"] = updates;
  out["givens"] = givens;
  out["no_default_updates"] = true;
  out["name"] = name;
  out["allow_input_downcast"] = allow_input_downcast;
  out["profile"] = profile;
  out["on_unused_input"] = on_unused_input.empty() ? nb::none() : nb::cast(on_unused_input);
  out["trust_input"] = trust_input;
  out["threads"] = threads;
  return out;
}

Variables FunctionArguments::explicit_inputs() const {
  Variables out;
  for (auto& input : inputs)
    if (!input.is_implicit) out.push_back(input.variable);
  return out;
}

FunctionOptions FunctionArguments::options() const {
  FunctionOptions out;
  Replacements held;
  std::unordered_set<VariableNode*> seen;
  for (auto& input : inputs) {
    if (input.is_implicit) held.emplace_back(input.variable, input.container);
    if (input.is_implicit && !seen.insert(input.variable.node()).second)
      throw UnusedInputError("function: a variable is given as an input twice");
  }
  for (auto& input : inputs)
    if (!input.is_implicit && seen.count(input.variable.node()))
      throw UnusedInputError("function: a variable is given as an input twice");
  out.givens = givens;
  if (!held.empty()) {
    Variables values;
    for (auto& [before, after] : givens) values.push_back(after);
    values = clone_replace(values, held);
    for (std::size_t i = 0; i < values.size(); ++i) out.givens[i].second = values[i];
    out.givens.insert(out.givens.end(), held.begin(), held.end());
  }
  out.updates = updates;
  std::vector<std::pair<nb::object, nb::object>> own;
  for (auto& input : inputs)
    if (input.container.defined() && !input.update.is_none()) own.emplace_back(nb::cast(input.container), input.update);
  for (auto& pair : typed_replacements(own, "updates")) out.updates.push_back(std::move(pair));
  if (auto* chosen = instance_of<Mode>(mode)) out.mode = *chosen;
  out.name = name.value_or("");
  if (!on_unused_input.empty()) out.on_unused_input = on_unused_input_named(on_unused_input);
  out.profile = profile;
  out.threads = threads;
  out.allow_input_downcast = Downcast::Never;  // a call's arguments have been converted before
  return out;
}

}  // namespace bitale::python
