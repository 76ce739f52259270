// The functions that make loops: their signatures; bitale/scan/_loops.py handles the forms of arguments and results.
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <utility>

#include "bind.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "hooks.hpp"

namespace bitale::python {

namespace {

// What the signatures below abbreviate.
constexpr std::pair<std::string_view, std::string_view> abbreviations[] = {
    {"Function", "collections.abc.Callable[..., typing.Any]"},
    {"Length", "int | numpy.integer[typing.Any] | TensorVariable"},
    {"Sequences", "Like | collections.abc.Mapping[str, typing.Any] | collections.abc.Sequence[typing.Any] | None"},
    {"Like", "TensorVariable | numpy.typing.ArrayLike"},
    {"Others", "mode: str | Mode | None = None, name: str | None = None"},
    {"Updates", "return_updates: bool = True"},
    {"Along", "dim: str | Dim | None = None"},
};

// A function of bitale.scan.
void define_loop(nb::module_& m, std::string name, std::string_view parameters, const char* example = "") {
  const std::string in_module = "loop_" + name;
  std::string signature = cat("def ", in_module, "(", parameters, ") -> typing.Any");
  for (const auto& [brief, full] : abbreviations)
    for (std::size_t at = 0; (at = signature.find(brief, at)) != std::string::npos; at += full.size())
      signature.replace(at, brief.size(), full);
  const auto call = [name = std::move(name)](const nb::args& given, const nb::kwargs& keywords) {
    return nb::object(nb::object(hook("loops")[name.c_str()])(*given, **keywords));
  };
  m.def(in_module.c_str(), call, nb::sig(signature.c_str()), example);
}

}  // namespace

void bind_scan(nb::module_& m) {
  define_loop(m, "scan",
              "fn: Function, sequences: Sequences = None, outputs_info: Sequences = None, non_sequences: Sequences = "
              "None, n_steps: Length | None = None, truncate_gradient: int = -1, go_backwards: bool = False, Others, "
              "profile: bool | str = False, allow_gc: bool | None = None, strict: bool = False, return_list: bool = "
              "False, Updates, Along",
              R"(>>> a = pt.dscalar("a")
>>> powers = bt.scan(lambda p: p * a, outputs_info=1.0, n_steps=4, return_updates=False)
>>> bt.function([a], powers)(2.0)
array([ 2.,  4.,  8., 16.]))");
  define_loop(m, "map",
              "fn: Function, sequences: Sequences, non_sequences: Sequences = None, truncate_gradient: int = -1, "
              "go_backwards: bool = False, Others, Updates, Along");
  define_loop(m, "reduce",
              "fn: Function, sequences: Sequences, outputs_info: Sequences, non_sequences: Sequences = None, "
              "go_backwards: bool = False, Others, Updates, Along");
  for (const char* fold : {"foldl", "foldr"})
    define_loop(m, fold,
                "fn: Function, sequences: Sequences, outputs_info: Sequences, non_sequences: Sequences = None, Others, "
                "Updates, Along");
  define_loop(m, "filter",
              "fn: Function, sequences: Sequences, non_sequences: Sequences = None, go_backwards: bool = False, "
              "Others, Updates, Along");
  define_loop(m, "fori_loop", "lower: Length, upper: Length, body: Function, *initial: Like");
  define_loop(m, "while_loop", "condition: Function, body: Function, *initial: Like, max_steps: Length");
  define_loop(m, "scan_checkpoints",
              "fn: Function, sequences: Sequences = None, outputs_info: Sequences = None, non_sequences: Sequences = "
              "None, name: str = 'checkpointscan_fn', n_steps: Length | None = None, save_every_N: int = 10, padding: "
              "bool = True, Updates");
}

}  // namespace bitale::python
