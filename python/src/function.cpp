// Function, shared variables and eval().
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/address.hpp"
#include "bitale/compile/export.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "default_updates.hpp"
#include "define.hpp"
#include "function_copies.hpp"
#include "function_graph.hpp"
#include "function_maker.hpp"
#include "function_object.hpp"
#include "hooks.hpp"
#include "input_output.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"

namespace bitale::python {

namespace {

std::vector<Dims> shapes_from(const std::optional<std::vector<std::vector<std::int64_t>>>& shapes) {
  std::vector<Dims> out;
  if (shapes)
    for (auto& lengths : *shapes) out.emplace_back(std::span(lengths));
  return out;
}

// "<Function step(X, y)>".
std::string signature_text(const Function& function) {
  constexpr std::size_t max_inputs = 8;
  std::vector<std::string> names;
  for (auto& input : function.inputs()) {
    if (names.size() == max_inputs) {
      names.push_back("...");
      break;
    }
    names.push_back(input.str());
  }
  return cat("<Function ", function.name(), "(", join(names, ", "), ")>");
}

FunctionGraphObject graph_of(const FunctionObject& self) {
  auto held = std::make_shared<Function>(self.function);
  const FunctionGraph* graph = &held->graph();
  return {std::shared_ptr<const FunctionGraph>(std::move(held), graph), nullptr};
}

// Compiles once per set of given variables, and caches the function.
Any eval(nb::handle object, Any given, nb::kwargs options) {
  VariableObject& self = variable_object_of(object);
  Variables inputs;
  nb::list values;
  if (!given.is_none()) {
    if (!nb::isinstance<nb::dict>(given))
      throw TypeError(cat("eval: expected a dict from variables to values, got ", shown(given)));
    const nb::list keys = nb::borrow<nb::dict>(given).keys();
    if (std::ranges::any_of(keys, is_tree))
      return nb::module_::import_("bitale._core")
          .attr("function")(keys, object, **options)(*nb::borrow<nb::dict>(given).values());
    Variables named;  // the named variables that the expression is computed from
    for (auto [key, value] : nb::borrow<nb::dict>(given)) {
      if (PyUnicode_Check(key.ptr())) {
        if (named.empty())
          for (auto& one : ancestors(Variables{self.variable}))
            if (!one.name().empty() && !one.node()->leaf) named.push_back(one);
        const std::string name = nb::cast<std::string>(key);
        Variables found;
        for (auto& one : named)
          if (one.name() == name) found.push_back(one);
        if (found.size() != 1)
          throw KeyError(cat("eval: ", found.empty() ? "no variable is" : "several variables are", " called ", name));
        inputs.push_back(found[0]);
      } else if (is_variable(key)) {
        inputs.push_back(variable_of(key));
      } else {
        throw TypeError(cat("eval: expected variables or their names as keys, got ", shown(key)));
      }
      values.append(value);
    }
  }
  nb::object compiled;
  auto same = [&](const Variables& others) {
    return std::equal(inputs.begin(), inputs.end(), others.begin(), others.end(),
                      [](const Variable& a, const Variable& b) { return a.same_as(b); });
  };
  if (options.size() == 0)
    for (auto& [others, function] : self.functions)
      if (same(others)) compiled = function;
  if (!compiled) {
    compiled = nb::module_::import_("bitale._core").attr("function")(nb::cast(inputs), object, **options);
    if (options.size() == 0) self.functions.emplace_back(inputs, compiled);
  }
  return compiled(*values);
}

void bind_function_class(nb::module_& m) {
  using Self = FunctionObject;
  nb::class_<Self> cls(m, "Function", nb::type_slots(function_slots),
                       "A compiled function: f(*inputs), with inputs also by name. Calls may come from many threads.");
  make_callable(cls);
  cls.def_prop_ro("name",
                  [](const Self& self) -> std::optional<std::string> {
                    if (self.function.name().empty()) return {};
                    return self.function.name();
                  })
      .def_prop_ro(
          "inputs", [](const Self& self) { return self.function.inputs(); }, "The input variables.")
      .def_prop_ro("fgraph", graph_of, "The graph after rewriting; the expressions of updates follow the outputs.")
      .def_prop_ro(
          "maker", [](const Self& self) { return self.maker; }, nb::sig("def maker(self) -> FunctionMaker"),
          "What made it, with fgraph, mode, inputs, outputs, linker.")
      .def_prop_ro(
          "mode", [](const Self& self) { return nb::object(self.maker.attr("mode")); },
          nb::sig("def mode(self) -> Mode"), "How it was compiled.")
      .def_prop_ro(
          "times",
          [](const Self& self) {
            nb::dict out;
            out["rewrite"] = self.function.times().rewrite;
            out["lower"] = self.function.times().lower;
            out["codegen"] = self.function.times().codegen;
            out["total"] = self.function.times().total;
            return out;
          },
          nb::sig("def times(self) -> dict[str, float]"), "Milliseconds spent compiling, by phase.")
      .def(
          "explain", [](const Self& self) { return self.function.explain(); },
          "For every node of the final graph, the rewrite rules that made it and the line it came from.")
      .def(
          "export_c",
          [](const Self& self, nb::handle folder, const std::optional<std::string>& name) {
            const nb::object path = nb::steal(PyOS_FSPath(folder.ptr()));
            if (!path.is_valid()) nb::raise_python_error();
            return export_c(self.function, nb::cast<std::string>(path), {.name = name.value_or("")});
          },
          "folder"_a, "name"_a = nb::none(),
          nb::sig("def export_c(self, folder: str | os.PathLike[str], name: str | None = None) -> list[str]"),
          "Writes NAME.c, NAME.h and CMakeLists.txt into the folder, and returns their paths: C99 that needs the C "
          "library "
          "alone, allocates nothing and may be called from many threads. NotImplementedError names what can't be "
          "exported.")
      .def(
          "export_wasm",
          [](const Self& self, nb::handle folder, const std::optional<std::string>& name) {
            const nb::object path = nb::steal(PyOS_FSPath(folder.ptr()));
            if (!path.is_valid()) nb::raise_python_error();
            return export_wasm(self.function, nb::cast<std::string>(path), {.name = name.value_or("")});
          },
          "folder"_a, "name"_a = nb::none(),
          nb::sig("def export_wasm(self, folder: str | os.PathLike[str], name: str | None = None) -> list[str]"),
          "Writes NAME.wasm, NAME.js and NAME.d.ts into the folder, and returns their paths: a WebAssembly module with "
          "vectors of 128 bits, a JavaScript module whose load() gives the function in a browser or in Node.js, and "
          "its types for TypeScript. Needs clang and wasm-ld. Results differ from native ones in their last bits. "
          "NotImplementedError names what can't be exported, and what to install where a program is missing.")
      .def(
          "export_object",
          [](const Self& self, nb::handle folder, const std::optional<std::string>& name,
             const std::optional<std::string>& target) {
            const nb::object path = nb::steal(PyOS_FSPath(folder.ptr()));
            if (!path.is_valid()) nb::raise_python_error();
            return export_object(self.function, nb::cast<std::string>(path),
                                 {.name = name.value_or(""), .target = target.value_or("")});
          },
          "folder"_a, "name"_a = nb::none(), "target"_a = nb::none(),
          nb::sig("def export_object(self, folder: str | os.PathLike[str], name: str | None = None, target: str | None "
                  "= None) -> list[str]"),
          "Writes NAME.o and NAME.h into the folder, and returns their paths: the functions that export_c writes, as "
          "native code for Linux to be linked with the C library's mathematics alone (-lm). target: native, "
          "native-128, native-256, native-512, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64; by default "
          "config.target. NotImplementedError names what can't "
          "be exported, ValueError an unknown target.")
      .def(
          "stablehlo",
          [](const Self& self, const std::optional<std::vector<std::vector<std::int64_t>>>& shapes, bool checks,
             const std::optional<std::string>& platform) {
            const ModuleText module = stablehlo_text(self.function, shapes_from(shapes),
                                                     {.checks = checks, .platform = platform.value_or("")});
            nb::list results;
            for (auto& [dtype, lengths] : module.results)
              results.append(nb::make_tuple(std::string(dtype_name(dtype)),
                                            std::vector<std::int64_t>(lengths.begin(), lengths.end())));
            return nb::make_tuple(module.text, results, module.checks);
          },
          "shapes"_a = nb::none(), "checks"_a = true, "platform"_a = nb::none(),
          nb::sig("def stablehlo(self, shapes: Sequence[Sequence[int]] | None = None, checks: bool = True, platform: "
                  "str | None = None) -> tuple[str, list[tuple[str, list[int]]], list[str]]"),
          "The text of the StableHLO module that export_stablehlo writes, the dtypes and shapes of its results, and "
          "what "
          "each outcome in its last one checks, if something is checked.")
      .def(
          "export_stablehlo",
          [](const Self& self, nb::handle folder, const std::optional<std::vector<std::vector<std::int64_t>>>& shapes,
             const std::optional<std::string>& name, bool checks, const std::optional<std::string>& platform) {
            const nb::object path = nb::steal(PyOS_FSPath(folder.ptr()));
            if (!path.is_valid()) nb::raise_python_error();
            return export_stablehlo(self.function, nb::cast<std::string>(path), shapes_from(shapes),
                                    {.name = name.value_or("")}, {.checks = checks, .platform = platform.value_or("")});
          },
          "folder"_a, "shapes"_a = nb::none(), "name"_a = nb::none(), "checks"_a = true, "platform"_a = nb::none(),
          nb::sig("def export_stablehlo(self, folder: str | os.PathLike[str], shapes: Sequence[Sequence[int]] | None = "
                  "None, name: str | None = None, checks: bool = True, platform: str | None = None) -> str"),
          "Writes NAME.mlir into the folder, and returns its path: a StableHLO module, for XLA and PJRT plugins, whose "
          "main takes inputs of these shapes (default: the shapes of their types), then shared variables, and gives "
          "the outputs, then updates. With checks, there is one more result where something can fail: bool[count], "
          "false where it did; without, positions out of range are clamped, and factors of matrices that have none are "
          "nan. platform: \"cpu\" for a module with calls of LAPACK, which jaxlib has on processors; by default one "
          "that "
          "every platform of XLA compiles. NotImplementedError names an op that has no form in StableHLO there or "
          "lengths that depend on values; ValueError for unknown lengths or platforms, ShapeError for shapes that do "
          "not fit.")
      .def(
          "address",
          [](const Self& self, const std::string& form) {
            return reinterpret_cast<std::uintptr_t>(address(self.function, form));
          },
          "form"_a,
          "The address of a C function that calls this one, valid until the process ends. Forms: value_and_grad, "
          "int f(size_t n, const double *x, double *grad, double *value, const void *user), of a function of one "
          "vector with a scalar and a vector output; finite_value_and_grad, the same, which returns 3 where the "
          "gradient and 4 where the value is not finite; vector, int f(size_t n, size_t m, const double *x, double "
          "*out, const void *user), of a function from a vector to a vector of m elements; and SciPy's double "
          "(double), "
          "double (double, void *), double (int, double *), double (int, double *, void *). After an error the first "
          "three return 1 and the others nan. Calls may come from many threads at once. TypeError when the function's "
          "inputs or outputs don't fit.")
      .def(
          "get_shared", [](const Self& self) { return self.function.shared_variables(); },
          "The shared variables it reads or updates.")
      .def(
          "free", [](const Self& self) { self.function.free(); },
          "Lets go of the memory that is kept between calls for temporaries. The next call takes some again.")
      .def_rw("trust_input", &Self::trust_input,
              "Accepted as in PyTensor. Arguments are checked whatever it says: that costs nanoseconds, and wrong ones "
              "never crash.")
      .def(
          "_in_form",
          [](const Self& self, const nb::list& results) {
            return self.form.build([&](std::size_t i) { return nb::object(results[i]); });
          },
          "results"_a, "A list of results as a call of the function hands them over: one, a list or a dict.")
      .def(
          "_leaves_of",
          [](const Self& self, nb::args given) {
            if (given.size() != self.input_names.size())
              throw TypeError(
                  cat(name_of(self), ": expected ", self.input_names.size(), " arguments, got ", given.size()));
            std::vector<PyObject*> arguments;
            for (nb::handle each : given) arguments.push_back(each.ptr());
            const Leaves leaves = leaves_of(self, arguments);
            nb::list out;
            for (std::size_t i = 0; i < leaves.size(); ++i) out.append(leaves[i]);
            return out;
          },
          "arguments"_a, "The value of each input, of arguments by position.")
      .def_prop_ro(
          "_output_labels", [](const Self& self) { return self.function.output_labels(); },
          "What to say of each expression of fgraph: \"update of W\".")
      .def(
          "_text", [](const Self& self, const std::string& stage) { return self.function.dprint(stage); },
          "stage"_a = "graph")
      .def("__repr__", [](const Self& self) { return signature_text(self.function); });
  const auto in_python = [&cls](const char* name, Hook function, const char* signature, const char* doc) {
    define_in_python(cls, name, function, signature, doc);
  };
  in_python("__getitem__", "get_input", "def __getitem__(self, key: typing.Any, /) -> numpy.typing.NDArray[typing.Any]",
            "The value in a container, by name, variable or position: f.container[key].value.");
  in_python("__setitem__", "set_input", "def __setitem__(self, key: typing.Any, value: typing.Any, /) -> None",
            "Stores a value in a container.");
  cls.def_prop_ro(
      "container", [](nb::handle self) { return hook("containers_of")(self); },
      "The containers of inputs with a default and of shared variables, by name, variable or position.");
  m.def(
      "pairs_of", [](Any pairs, const std::string& what) { return as_pairs(pairs, what); }, "pairs"_a.none(), "what"_a);
  variable_class(m).def(
      "eval", eval, "inputs_to_values"_a = nb::none(), "options"_a,
      nb::sig("def eval(self, inputs_to_values: dict[typing.Any, typing.Any] | None = None, **options: typing.Any) -> "
              "numpy.typing.NDArray[typing.Any]"),
      "The value, given those of the inputs, or of other variables that it is computed from: {x: 1.0} or {\"x\": 1.0}. "
      "Options are those of function().");
}

const Variable& shared_variable(const VariableObject& self) {
  if (is_shared(self.variable)) return self.variable;
  throw TypeError(cat("`", self.variable.str(), "` is not a shared variable"));
}

// An array may be returned without a copy; other values are Python objects, shared with their other owners unless
// copied.
nb::object shared_value(const VariableObject& self, bool borrow) {
  const Variable& variable = shared_variable(self);
  return value_object(*variable.type(), get_value(variable, Borrow(borrow)));
}

void set_shared_value(const VariableObject& self, Any value, bool borrow) {
  const Variable& variable = shared_variable(self);
  set_value(variable, value_from(*variable.type(), value), Borrow(borrow));
}

void bind_shared(nb::module_& m) {
  nb::class_<TensorSharedVariableObject, TensorVariableObject>(m, "TensorSharedVariable",
                                                               "A variable with a value that persists between calls.")
      .def(
          "get_value",
          [](const TensorSharedVariableObject& self, bool borrow, bool) { return shared_value(self, borrow); },
          "borrow"_a = false, "return_internal_type"_a = false,
          nb::sig("def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> "
                  "numpy.typing.NDArray[typing.Any]"),
          "The value: a copy, unless borrow.")
      .def(
          "set_value",
          [](const TensorSharedVariableObject& self, Any value, bool borrow) { set_shared_value(self, value, borrow); },
          "new_value"_a, "borrow"_a = false, "Stores a copy of the value (the array itself, if borrow).")
      .def(
          "zero",
          [](const TensorSharedVariableObject& self, bool) {
            Array value = get_value(self.variable, Borrow::Yes);
            set_value(self.variable, Array::zeros(value.dtype(), value.shape()), Borrow::Yes);
          },
          "borrow"_a = false, "Sets all elements to zero.");
  m.def(
      "shared_value", [](const VariableObject& self, bool borrow) { return shared_value(self, borrow); }, "variable"_a,
      "borrow"_a);
  m.def(
      "set_shared_value",
      [](const VariableObject& self, Any value, bool borrow) { set_shared_value(self, value, borrow); }, "variable"_a,
      "value"_a.none(), "borrow"_a);
  m.def(
      "is_shared", [](Any object) { return is_variable(object) && is_shared(variable_of(object)); }, "object"_a.none());
  m.def(
      "make_shared",
      [](Any value, const std::optional<std::string>& name, bool borrow, Any shape) {
        if (is_variable(value))
          throw TypeError(cat("shared: expected a value, got the symbolic variable ", variable_of(value).str()));
        std::optional<Dims> static_shape;
        if (!shape.is_none()) static_shape = as_static_shape(shape);
        return shared(array_from(value, Share::Borrow), name.value_or(""), Borrow(borrow), static_shape);
      },
      "value"_a, "name"_a.none(), "borrow"_a, "shape"_a.none(), nb::call_guard<AtCaller>(),
      nb::sig("def make_shared(value: typing.Any, name: str | None, borrow: bool, shape: typing.Any | None) -> "
              "TensorSharedVariable"));
  m.def(
      "make_shared_of",
      [](const Type& type, Any value, const std::optional<std::string>& name, bool borrow) {
        return shared_of(type, value_from(*type, value), name.value_or(""), Borrow(borrow));
      },
      "type"_a, "value"_a.none(), "name"_a.none(), "borrow"_a, nb::call_guard<AtCaller>(),
      nb::sig("def make_shared_of(type: Type, value: typing.Any, name: str | None, borrow: bool) -> typing.Any"));
  m.def(
      "is_constant", [](const VariableObject& self) { return self.variable.is_constant(); }, "variable"_a,
      "Whether a variable is a constant of any type.");
  m.def(
      "constant_value",
      [](const VariableObject& self) -> nb::object {
        const Array* value = self.variable.constant();
        return value ? value_object(*self.variable.type(), value->read_only()) : nb::none();
      },
      "variable"_a, "The value of a constant; None for other variables.");
}

}  // namespace

void bind_function(nb::module_& m) {
  bind_shared(m);
  bind_default_updates(m);
  bind_input_output(m);
  bind_mode(m);
  bind_function_class(m);
  bind_function_maker(m);
  bind_function_copies(m);
  bind_compilation(m);
}

}  // namespace bitale::python
