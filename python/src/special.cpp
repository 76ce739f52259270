// Special functions that are formulas; those that are records of the scalar-op table are bound in elementwise.cpp.
#include "bitale/ops/special.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

// The nearest whole number; `mode` chooses between two that are equally near.
Variable rounded(const Like& a, const std::optional<std::string>& mode, const char* who) {
  if (!mode || *mode == "half_to_even") return round(as_variable(a));
  if (*mode == "half_away_from_zero") return round_half_away_from_zero(as_variable(a));
  throw ValueError(cat(who, ": mode: expected \"half_to_even\" or \"half_away_from_zero\", got \"", *mode, "\""));
}

}  // namespace

void bind_special(nb::module_& m) {
  using One = Variable (*)(const Operand&);
  using Two = Variable (*)(const Operand&, const Operand&);
  const auto two = [](Two function) {
    return [function](const Like& x, const Like& y) { return function(as_variable(x), as_variable(y)); };
  };
  const auto one = [](One function) { return [function](const Like& x) { return function(as_variable(x)); }; };
  define(m, "iv", two(iv), "v"_a, "x"_a, "The modified Bessel function of the first kind of real order v.");
  define(m, "kv", two(kv), "v"_a, "x"_a, "The modified Bessel function of the second kind of real order v.");
  define(m, "kn", two(kn), "n"_a, "x"_a, "The modified Bessel function of the second kind of whole order n.");
  define(m, "gammal", two(gammal), "k"_a, "x"_a, "The lower incomplete gamma function, not regularised.");
  define(m, "gammau", two(gammau), "k"_a, "x"_a, "The upper incomplete gamma function, not regularised.");
  define(m, "chi2sf", two(chi2sf), "x"_a, "k"_a,
         "The survival function at x of the chi-squared distribution with k degrees of freedom.");
  define_both_of(
      m, "round", "a"_a,
      [](const Like& a, const std::optional<std::string>& mode) { return rounded(a, mode, "round"); },
      "mode"_a = nb::none(),
      "Return the nearest integer to each element.\n\n"
      "mode: of two that are equally near, \"half_to_even\" (the default) takes the even one, \"half_away_from_zero\" "
      "the one farther from zero. ValueError for another mode.");
  define(
      m, "iround",
      [](const Like& a, const std::optional<std::string>& mode) {
        return cast(rounded(a, mode, "iround"), DType::Int64);
      },
      "a"_a, "mode"_a = nb::none(), "Return the nearest integer to each element as int64; `mode` is that of round.");
  define(m, "round_half_away_from_zero", one(round_half_away_from_zero), "x"_a,
         "The nearest whole number, the one further from zero of two equally near.");
  define(m, "sgn", one(sign), "a"_a, "Return the sign of each element: -1, 0 or 1, and nan for nan.");
  // Functions of bitale.tensor.special.
  const auto caller = nb::call_guard<AtCaller>();
  add_function(m, "beta", two(beta), caller, "a"_a, "b"_a, "The beta function, gamma(a) gamma(b) / gamma(a + b).");
  add_function(m, "betaln", two(betaln), caller, "a"_a, "b"_a, "The logarithm of the beta function.");
  add_function(m, "factorial", one(factorial), caller, "n"_a, "gamma(n + 1), which is n! for whole n.");
  add_function(m, "poch", two(poch), caller, "z"_a, "m"_a, "The Pochhammer symbol, gamma(z + m) / gamma(z).");
  add_function(m, "xlogx", one(xlogx), caller, "x"_a, "x log(x), 0 at 0.");
}

}  // namespace bitale::python
