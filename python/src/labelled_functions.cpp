// The functions and methods of labelled tensors that have records (src/xtensor/labelled_function.hpp): one caller binds
// Python's arguments to the parameters of a record. Those of the module begin with "xtensor_".
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "labelled.hpp"
#include "named_options.hpp"
#include "xtensor/labelled_function.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;

// ---- signatures -----------------------------------------------------------------------------------------------------

std::string_view annotation(const LabelledParameter& parameter) {
  const bool is_optional = parameter.initial_text == "None";
  if (parameter.is_ignored) return "bool";
  switch (parameter.kinds[0]) {
    case ArgumentKind::Flag: return "bool";
    case ArgumentKind::Integer: return "int";
    case ArgumentKind::Number: return "float | None";
    case ArgumentKind::Text:
      return is_optional ? "str | None" : parameter.initial_text.starts_with('\'') ? "str" : "typing.Any";
    default: return "typing.Any";
  }
}

std::string signature_text(std::string_view name, const LabelledFunction& function, bool is_method) {
  std::vector<std::string> parts;
  bool is_keyword = false;
  for (const LabelledParameter& each : function.parameters) {
    if (each.is_keyword && !std::exchange(is_keyword, true)) parts.emplace_back("*");
    const bool is_self = is_method && parts.empty();
    const std::string initial = each.initial_text.empty() ? "" : cat(" = ", each.initial_text);
    parts.push_back(is_self ? "self" : cat(each.name, ": ", annotation(each), initial));
  }
  std::vector<std::string> results(function.results, "XTensorVariable");
  if (results.empty()) results = {"XTensorVariable", "..."};
  const std::string result = results.size() == 1 ? results[0] : cat("tuple[", join(results, ", "), "]");
  return cat("def ", name, "(", join(parts, ", "), ") -> ", result);
}

// ---- arguments ------------------------------------------------------------------------------------------------------

// The value that Python's text of a default stands for.
Argument initial_value(const LabelledParameter& parameter) {
  const std::string_view text = parameter.initial_text;
  if (parameter.kinds[0] == ArgumentKind::Names) return Names();
  if (text.starts_with('\'')) {
    const std::string word(text.substr(1, text.size() - 2));
    if (parameter.kinds[0] == ArgumentKind::Dim) return Dim(word);
    return word;
  }
  if (text == "None") return {};
  if (text == "True" || text == "False")
    return parameter.kinds[0] == ArgumentKind::Flag ? Argument(text == "True") : Argument(cat(int(text == "True")));
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Argument argument_of(nb::handle given, ArgumentKind kind, std::string_view who, std::string_view name) {
  const auto expected = [&](std::string_view what) {
    return TypeError(cat(who, ": ", name, ": expected ", what, ", got ", shown(given)));
  };
  const auto integer = [&] {
    if (!is_integer_object(given)) throw expected("an integer");
    return nb::cast<std::int64_t>(nb::int_(given));
  };
  const auto number = [&] {
    const double value = PyFloat_AsDouble(given.ptr());
    if (value == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      throw expected("a number");
    }
    return value;
  };
  switch (kind) {
    case ArgumentKind::Operand: return as_labelled(given);
    case ArgumentKind::Core: return Names(as_core_names(given, who));
    case ArgumentKind::Names: return as_names(given, who);
    case ArgumentKind::Dim: return as_dim(given);
    case ArgumentKind::Flag: return as_flag(given, who, name);
    case ArgumentKind::Integer: return integer();
    case ArgumentKind::Number: return given.is_none() ? Argument() : Argument(number());
    case ArgumentKind::Text:
    case ArgumentKind::Any: break;
  }
  if (given.is_none()) return {};
  if (PyUnicode_Check(given.ptr())) return nb::cast<std::string>(given);
  if (kind == ArgumentKind::Any) return number();
  if (is_integer_object(given)) return cat(integer());
  if (const auto truth = as_truth_value(given)) return cat(int(*truth));
  throw expected("a string");
}

// The arguments in the order of C++'s parameters.
std::vector<NamedArgument> bound(const LabelledFunction& function, const std::vector<Argument>& initial,
                                 const nb::args& given, const nb::kwargs& keywords) {
  const std::string_view who = function.name;
  const auto& parameters = function.parameters;
  const auto by_position =
      std::size_t(std::ranges::count_if(parameters, [](const auto& each) { return !each.is_keyword; }));
  if (given.size() > by_position)
    throw TypeError(cat(who, ": expected at most ", by_position, " arguments by position, got ", given.size()));
  for (auto [key, value] : keywords) {
    const auto name = nb::cast<std::string>(key);
    const auto at = std::size_t(std::ranges::find(parameters, name, &LabelledParameter::name) - parameters.begin());
    if (at < given.size()) throw TypeError(cat(who, ": ", name, " is given twice"));
    if (at < parameters.size()) continue;
    std::vector<std::string> names;
    for (const auto& each : parameters) names.push_back(each.name);
    throw TypeError(
        cat(who, ": no argument is called \"", name, "\"; there are ", join(names, ", "), suggestion(name, names)));
  }
  std::vector<NamedArgument> out(function.parameter_count);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const LabelledParameter& parameter = parameters[i];
    if (parameter.is_ignored) continue;
    const nb::str key(parameter.name.c_str());
    const bool is_named = i >= given.size() && keywords.contains(key);
    const auto put = [&](std::size_t part, Argument value) {
      out[parameter.positions[part]] = {parameter.name, std::move(value)};
    };
    if (i >= given.size() && !is_named) {
      if (parameter.initial_text.empty()) throw TypeError(cat(who, ": the argument ", parameter.name, " is missing"));
      put(0, initial[i]);
      continue;
    }
    const nb::object value = is_named ? nb::object(keywords[key]) : nb::object(given[i]);
    if (parameter.parts.empty()) {
      put(0, argument_of(value, parameter.kinds[0], who, parameter.name));
    } else {
      const auto [first, second] = as_pair(value, who, parameter.parts);
      put(0, argument_of(first, parameter.kinds[0], who, parameter.name));
      put(1, argument_of(second, parameter.kinds[1], who, parameter.name));
    }
  }
  return out;
}

}  // namespace

void bind_labelled_functions(nb::module_& m) {
  auto cls = nb::borrow<nb::class_<XVariable>>(m.attr("XTensorVariable"));
  for (const auto& [name, record] : labelled_functions()) {
    std::vector<Argument> initial;
    for (const LabelledParameter& each : record.parameters)
      initial.push_back(each.is_ignored || each.initial_text.empty() ? Argument() : initial_value(each));
    const LabelledFunction* function = &record;
    const auto call = [function, initial](const nb::args& given, const nb::kwargs& keywords) {
      const XVariables found = function->call(function->name, bound(*function, initial, given, keywords));
      return function->results == 1 ? nb::cast(found[0]) : nb::object(nb::tuple(nb::cast(found)));
    };
    const std::string in_module = cat("xtensor_", name);
    m.def(in_module.c_str(), call, nb::call_guard<AtCaller>(),
          nb::sig(signature_text(in_module, record, false).c_str()));
    if (record.is_method)
      cls.def(record.name.data(), call, nb::call_guard<AtCaller>(),
              nb::sig(signature_text(name, record, true).c_str()));
  }
}

}  // namespace bitale::python
