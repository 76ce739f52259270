#include "function_arguments.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
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

// The replacement of a variable: another variable, or a value of its type. Of a tree, those of its leaves but for what
// both have in common.
Replacements typed_replacements(const std::vector<std::pair<nb::object, nb::object>>& pairs, const char* what) {
  Replacements out;
  for (const auto& pair : pairs) {
    const bool is_of_tree = is_tree(pair.first);
    for (auto& [before, after] : leaf_pairs({pair}, cat("function: ", what))) {
      const Variable target = require_variable(before, what);
      if (is_variable(after)) {
        if (!is_of_tree || !variable_of(after).same_as(target)) out.emplace_back(target, variable_of(after));
        continue;
      }
      if (as_tensor(target.type())) refuse_truth_value(after);
      out.emplace_back(target, constant_of(target.type(), value_from(*target.type(), after)));
    }
  }
  return out;
}

void parse_outputs(nb::handle given, FunctionArguments& out) {
  Leaves leaves;
  out.output_form = Tree::of(given, leaves, {}, Tree::Stop::AtRegistered);
  std::vector<Tree> forms;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    OutObject output = as_output(leaves[i]);
    forms.push_back(output.form);
    if (output.is_tree())
      for (const Variable& part : output.parts) out.outputs.push_back({part, output.is_borrowed});
    else
      out.outputs.push_back(output);
    out.given_outputs.push_back(std::move(output));
  }
  out.form = out.output_form.grafted(forms);
}

void parse_inputs(nb::handle given, FunctionArguments& out) {
  if (!is_sequence(given))
    throw TypeError(cat("function: inputs must be a list, even of one variable; got ", shown(given)));
  for (nb::handle one : given)
    if (one.is_none()) throw TypeError("function: expected variables as inputs, got None");
  Leaves leaves;
  out.input_form = Tree::of(given, leaves, {}, Tree::Stop::AtRegistered);
  std::unordered_map<VariableNode*, int> known;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    InObject input = as_input(leaves[i]);
    const std::vector<bool> in_registered = input.is_tree() ? input.form.are_in_registered() : std::vector<bool>{false};
    auto parts = input.is_tree() ? input.parts : std::vector<InObject>{input};
    for (std::size_t k = 0; k < parts.size(); ++k) {
      parts[k].store();
      const auto [found, is_new] = known.emplace(parts[k].variable.node(), int(out.inputs.size()));
      const bool is_repeated = !is_new && in_registered[k] && !out.inputs[std::size_t(found->second)].is_implicit;
      out.same_as.push_back(is_repeated ? found->second : -1);
      out.inputs.push_back(std::move(parts[k]));
    }
    out.given_inputs.push_back(std::move(input));
  }
}

std::optional<std::string> optional_text(nb::handle given, const char* what) {
  if (given.is_none()) return {};
  if (!PyUnicode_Check(given.ptr()))
    throw TypeError(cat("function: ", what, " must be a string or None, got ", shown(given)));
  return nb::cast<std::string>(given);
}

std::optional<int> thread_count(nb::handle given) {
  if (given.is_none()) return {};
  if (!is_integer_object(given))
    throw TypeError(cat("function: threads must be an integer from 1 to 1024, got ", shown(given)));
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
  throw TypeError(cat("function: profile must be True, False, None or a string, got ", shown(profile)));
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
  std::size_t at = 0;
  return output_form.build([&](std::size_t i) {
    const OutObject& given = given_outputs[i];
    if (!given.is_tree()) return nb::cast(outputs[at++]);
    OutObject now = given;
    now.tree = given.form.build([&](std::size_t k) { return wrap(outputs[at + k].variable); });
    for (Variable& part : now.parts) part = outputs[at++].variable;
    return nb::cast(now);
  });
}

nb::dict FunctionArguments::keywords() const {
  nb::dict out;
  std::size_t at = 0;
  out["inputs"] = input_form.build([&](std::size_t i) {
    if (!given_inputs[i].is_tree()) return nb::cast(inputs[at++]);
    InObject now = given_inputs[i];
    for (InObject& part : now.parts) part = inputs[at++];
    return nb::cast(now);
  });
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
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_explicit(i)) out.push_back(inputs[i].variable);
  return out;
}

CallForm FunctionArguments::call_form() const {
  CallForm out;
  std::size_t item = 0, input = 0, leaf = 0;
  std::vector<std::size_t> leaf_of_input(inputs.size());
  bool is_plain = true;
  std::size_t position = 0;
  for (const Tree& child : input_form.children()) {
    const InObject* own = child.is_leaf() ? &given_inputs[item] : nullptr;
    std::vector<Tree> forms;
    const std::size_t begin = input;
    for (std::size_t i = 0; i < child.leaf_count(); ++i, ++item) {
      forms.push_back(given_inputs[item].form);
      input += given_inputs[item].form.leaf_count();
    }
    const auto implicit = std::count_if(inputs.begin() + std::ptrdiff_t(begin), inputs.begin() + std::ptrdiff_t(input),
                                        [](const InObject& one) { return one.is_implicit; });
    if (implicit > 0 && std::size_t(implicit) < input - begin)
      throw TypeError(cat("function: inputs[", position, "]: expected values from a call for all variables of the ",
                          "tree, but some are implicit: give these as inputs of their own"));
    ++position;
    if (input > begin && std::size_t(implicit) == input - begin) continue;
    CallForm::Argument argument{own ? own->name.value_or("") : "", child.grafted(forms), leaf};
    is_plain = is_plain && argument.form.is_leaf();
    for (const std::string& path : argument.form.paths(cat("inputs[", out.arguments.size(), "]")))
      out.paths.push_back(path);
    for (std::size_t i = begin; i < input; ++i, ++leaf) {
      leaf_of_input[i] = leaf;
      if (same_as[i] >= 0) out.same.emplace_back(leaf, leaf_of_input[std::size_t(same_as[i])]);
    }
    out.arguments.push_back(std::move(argument));
  }
  return is_plain ? CallForm() : out;
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
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_explicit(i) && seen.count(inputs[i].variable.node()))
      throw UnusedInputError("function: a variable is given as an input twice");
  std::size_t argument = 0;
  const CallForm form_of_call = call_form();
  for (const auto& [name, tree, first] : form_of_call.arguments) {
    for (std::size_t leaf = first; leaf < first + tree.leaf_count(); ++leaf)
      if (std::ranges::none_of(form_of_call.same, [&](const auto& pair) { return pair.first == leaf; }))
        out.arguments_of_inputs.push_back(argument);
    ++argument;
  }
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
