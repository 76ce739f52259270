#include "compilation.hpp"

#include "arguments.hpp"
#include "bind.hpp"
#include "caller.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "function_maker.hpp"
#include "function_object.hpp"
#include "input_output.hpp"

namespace bitale::python {

namespace {

nb::object function(Any inputs, Any outputs, Any mode, Any updates, Any givens, Any no_default_updates,
                    Any accept_inplace, Any name, Any rebuild_strict, Any allow_input_downcast, Any profile,
                    Any on_unused_input, Any trust_input, Any threads) {
  optional_flag(accept_inplace, "function: accept_inplace");  // ops that write over their inputs get copies
  if (!optional_flag(rebuild_strict, "function: rebuild_strict").value_or(true))
    refuse_option("rebuild_strict", nb::str("False"));
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
        nb::sig("def function(inputs: collections.abc.Sequence[typing.Any], outputs: typing.Any = None, mode: str | "
                "Mode | None = None, updates: typing.Any = None, givens: typing.Any = None, no_default_updates: bool | "
                "collections.abc.Sequence[Variable] = False, accept_inplace: bool = False, name: str | None = None, "
                "rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: bool | str | None = "
                "None, on_unused_input: str | None = None, trust_input: bool = False, threads: int | None = None) -> "
                "Function"));
}

}  // namespace bitale::python
