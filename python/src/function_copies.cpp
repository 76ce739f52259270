#include "function_copies.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "caller.hpp"
#include "compilation.hpp"
#include "define.hpp"
#include "function_maker.hpp"
#include "function_object.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

bool has(const Variables& variables, const Variable& wanted) {
  return std::any_of(variables.begin(), variables.end(), [&](const Variable& one) { return one.same_as(wanted); });
}

// Which shared variables of the function are exchanged for which.
Replacements swap_of(const FunctionObject& function, nb::handle given) {
  Replacements out;
  const Variables known = function.function.shared_variables();
  for (auto& [before, after] : leaf_pairs(as_pairs(given, "swap"), "copy: swap")) {
    for (nb::handle one : {nb::handle(before), nb::handle(after)})
      if (!is_variable(one) || !is_shared(variable_of(one)))
        throw TypeError(cat("copy: swap: expected shared variables, got ", shown(one)));
    const Variable &from = variable_of(before), &to = variable_of(after);
    if (!has(known, from))
      throw ValueError(cat("copy: swap: the function does not use the shared variable ", from.str()));
    if (!from.type()->equals(*to.type()))
      throw TypeError(
          cat("copy: swap: ", from.str(), " is ", from.type()->str(), ", but ", to.str(), " is ", to.type()->str()));
    out.emplace_back(from, to);
  }
  return out;
}

Variable swapped(const Variable& variable, const Replacements& swap) {
  for (auto& [before, after] : swap)
    if (before.same_as(variable)) return after;
  return variable;
}

Replacements swapped_pairs(const Replacements& pairs, const Replacements& swap) {
  Variables values;
  for (auto& [before, after] : pairs) values.push_back(after);
  values = clone_replace(values, swap);
  Replacements out;
  for (std::size_t i = 0; i < pairs.size(); ++i) out.emplace_back(swapped(pairs[i].first, swap), values[i]);
  return out;
}

void change_input(InObject& input, const Replacements& swap, bool share_memory, bool delete_updates) {
  if (input.owns_container() && !share_memory) {
    input.value = value_object(*input.variable.type(), get_value(input.container));
    input.container = Variable();
  } else if (const Variable after = swapped(input.container, swap);
             input.container.defined() && !after.same_as(input.container)) {
    input.hold(nb::cast(after));
  }
  if (delete_updates)
    input.update = nb::none();
  else if (is_variable(input.update))
    input.update = nb::cast(clone_replace(Variables{variable_of(input.update)}, swap)[0]);
  input.store();
}

nb::object copy(nb::handle function, bool share_memory, nb::handle swap_given, bool delete_updates,
                const std::optional<std::string>& name, nb::handle profile) {
  const FunctionObject& self = *instance_of<FunctionObject>(function);
  const Replacements swap = swap_of(self, swap_given);
  const std::optional<bool> wanted = wants_profile(profile);
  FunctionArguments changed = maker_of(function).arguments;
  for (auto& input : changed.inputs) change_input(input, swap, share_memory, delete_updates);
  if (name) changed.name = name;
  changed.trust_input = self.trust_input;
  const bool is_profiled = self.function.is_profiled() || wanted.value_or(config::get_bool("profile"));
  if (swap.empty() && !delete_updates && !is_profiled)
    return create_function(maker_with(self.maker, std::move(changed)));
  const Variables outputs = clone_replace(changed.expressions(), swap);
  for (std::size_t i = 0; i < outputs.size(); ++i) changed.outputs[i].variable = outputs[i];
  changed.updates = delete_updates ? Replacements() : swapped_pairs(changed.updates, swap);
  changed.givens = swapped_pairs(changed.givens, swap);
  changed.profile = wanted;
  // The expression of an update may have been the only one that uses an input.
  if (delete_updates) changed.on_unused_input = "ignore";
  return compile(changed.keywords());
}

nb::object deep_copy(nb::handle function, nb::handle memo) {
  nb::dict keywords = maker_of(function).arguments.keywords();
  nb::dict own;
  for (const char* name : {"inputs", "outputs", "updates", "givens"}) own[name] = keywords[name];
  keywords.update(nb::borrow<nb::dict>(nb::module_::import_("copy").attr("deepcopy")(own, memo)));
  return compile(keywords);
}

}  // namespace

void bind_function_copies(nb::module_& m) {
  nb::borrow<nb::class_<FunctionObject>>(m.attr("Function"))
      .def(
          "copy",
          [](nb::handle self, bool share_memory, Any swap, bool delete_updates, const std::optional<std::string>& name,
             Any profile) { return copy(self, share_memory, swap, delete_updates, name, profile); },
          "share_memory"_a = false, "swap"_a = nb::none(), "delete_updates"_a = false, "name"_a = nb::none(),
          "profile"_a = nb::none(), nb::call_guard<AtCaller>(),
          nb::sig("def copy(self, share_memory: bool = False, swap: typing.Any = None, delete_updates: bool = False, "
                  "name: str | None = None, profile: bool | str | None = None) -> Function"),
          "Another function of the same expressions. It shares the shared variables, except for those that swap maps "
          "to others, and, with share_memory, the containers of its inputs. delete_updates: without updates. The code "
          "is the same, too, unless there is a swap, delete_updates or a profile: then it is compiled anew.")
      .def(
          "__copy__", [](nb::handle self) { return copy(self, false, nb::none(), false, {}, nb::none()); },
          nb::sig("def __copy__(self) -> Function"), "The same as copy().")
      .def("__deepcopy__", deep_copy, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any], /) -> Function"),
           "A copy with shared variables and containers of its own: the copies of those that are copied with it.")
      .def(
          "__reduce__",
          [](nb::handle self) {
            return nb::make_tuple(hook("stored_function"), nb::make_tuple(maker_of(self).arguments.keywords()));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
          "The arguments of function(), with the values of containers: loading compiles anew.");
}

}  // namespace bitale::python
