#include "compilation.hpp"

#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "caller.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "function_maker.hpp"
#include "function_object.hpp"
#include "input_output.hpp"
#include "instance.hpp"

namespace bitale::python {

namespace {

// Classes of values that are no variables themselves, and what compiles functions of them. Never destroyed.
std::vector<std::pair<nb::object, nb::object>>& compilers() {
  static auto& registered = *new std::vector<std::pair<nb::object, nb::object>>;
  return registered;
}

bool is_instance(nb::handle object, nb::handle kind) {
  const int answer = PyObject_IsInstance(object.ptr(), kind.ptr());
  if (answer < 0) nb::raise_python_error();
  return answer != 0;
}

// Whether the argument, or an item of it, or a member of a pair is of that class.
bool contains(nb::handle argument, nb::handle kind, int levels = 3) {
  if (PyDict_Check(argument.ptr())) {
    for (auto [key, value] : nb::borrow<nb::dict>(argument))
      if (contains(key, kind, 1) || contains(value, kind, 1)) return true;
    return false;
  }
  if (levels > 1 && is_sequence(argument)) {
    for (nb::handle one : argument)
      if (contains(one, kind, levels - 1)) return true;
    return false;
  }
  if (const auto* input = instance_of<InObject>(argument)) return is_instance(input->labelled, kind);
  if (const auto* output = instance_of<OutObject>(argument)) return is_instance(output->labelled, kind);
  return !is_variable(argument) && is_instance(argument, kind);
}

nb::object function(Any inputs, Any outputs, Any mode, Any updates, Any givens, Any no_default_updates,
                    Any accept_inplace, Any name, Any rebuild_strict, Any allow_input_downcast, Any profile,
                    Any on_unused_input, Any trust_input, Any threads) {
  optional_flag(accept_inplace, "function: accept_inplace");  // ops that write over their inputs get copies
  if (!optional_flag(rebuild_strict, "function: rebuild_strict").value_or(true))
    refuse_option("rebuild_strict", nb::str("False"));
  for (auto& [kind, compiler] : compilers())
    for (nb::handle given : {nb::handle(inputs), nb::handle(outputs), nb::handle(updates), nb::handle(givens)})
      if (contains(given, kind))
        return compiler(inputs, outputs, updates, givens, on_unused_input, nb::arg("mode") = mode,
                        nb::arg("no_default_updates") = no_default_updates, nb::arg("name") = name,
                        nb::arg("allow_input_downcast") = allow_input_downcast, nb::arg("profile") = profile,
                        nb::arg("trust_input") = trust_input, nb::arg("threads") = threads);
  return make_function({inputs, outputs, mode, updates, givens, no_default_updates, name, allow_input_downcast, profile,
                        on_unused_input, trust_input, threads});
}

}  // namespace

nb::object compile(const nb::dict& keywords) {
  const auto given = [&](const char* name) { return nb::handle(keywords[name].ptr()); };
  const AtCaller line;
  return make_function({given("inputs"), given("outputs"), given("mode"), given("updates"), given("givens"),
                        given("no_default_updates"), given("name"), given("allow_input_downcast"), given("profile"),
                        given("on_unused_input"), given("trust_input"), given("threads")});
}

void bind_compilation(nb::module_& m) {
  m.def("function", function, "inputs"_a.none(), "outputs"_a = nb::none(), "mode"_a = nb::none(),
        "updates"_a = nb::none(), "givens"_a = nb::none(), "no_default_updates"_a = false, "accept_inplace"_a = false,
        "name"_a = nb::none(), "rebuild_strict"_a = true, "allow_input_downcast"_a = nb::none(),
        "profile"_a = nb::none(), "on_unused_input"_a = nb::none(), "trust_input"_a = false, "threads"_a = nb::none(),
        nb::call_guard<AtCaller>(),
        nb::sig("def function(inputs: collections.abc.Sequence[Variable | In], outputs: typing.Any = None, mode: str | "
                "Mode | None = None, updates: typing.Any = None, givens: typing.Any = None, no_default_updates: bool | "
                "collections.abc.Sequence[Variable] = False, accept_inplace: bool = False, name: str | None = None, "
                "rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: bool | str | None = "
                "None, on_unused_input: str | None = None, trust_input: bool = False, threads: int | None = None) -> "
                "Function"));
  m.def(
      "register_compiler",
      [](Any kind, Any compiler) { compilers().emplace_back(std::move(kind), std::move(compiler)); }, "kind"_a,
      "compiler"_a,
      "Have function() call another one where values of a class are among its arguments.\n\nkind: the class of the "
      "values, which are no variables themselves. compiler: what is called with the arguments of function().");
}

}  // namespace bitale::python
