// Special functions that are formulas; those that are records of the scalar-op table are bound in elementwise.cpp.
#include "bitale/ops/special.hpp"
#include "bitale/ops/elementary.hpp"

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
#include "deprecated.hpp"
#include "instance.hpp"

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
  define(m, "iv", two(iv), "v"_a, "x"_a);
  define(m, "kv", two(kv), "v"_a, "x"_a);
  define(m, "kn", two(kn), "n"_a, "x"_a);
  define(m, "gammal", two(gammal), "k"_a, "x"_a);
  define(m, "gammau", two(gammau), "k"_a, "x"_a);
  define(
      m, "chi2sf",
      [](const Like& x, const Like& k) {
        warn_deprecated("chi2sf", "gammaincc(k / 2, x / 2)", PyExc_UserWarning);
        return chi2sf(as_variable(x), as_variable(k));
      },
      "x"_a, "k"_a);
  define_both_of(
      m, "round", "a"_a,
      [](const Like& a, const Any& mode, int decimals) {
        // An integer in the position of PyTensor's mode is NumPy's argument there.
        const bool is_count = is_integer_object(mode);
        const int digits = is_count ? *as_optional_int(mode, "round: decimals") : decimals;
        if (!is_count && !mode.is_none() && !PyUnicode_Check(mode.ptr()))
          throw TypeError(cat("round: expected a mode or a number of decimals, got ", shown(mode)));
        const auto how = is_count ? std::nullopt : nb::cast<std::optional<std::string>>(mode);
        if (digits == 0) return rounded(a, how, "round");
        if (how && *how != "half_to_even") throw NotImplementedError(cat("round: decimals with mode \"", *how, "\""));
        return around(as_variable(a), digits);
      },
      "mode"_a = nb::none(), nb::kw_only(), "decimals"_a = 0);
  define(
      m, "iround",
      [](const Like& a, const std::optional<std::string>& mode) {
        return cast(rounded(a, mode, "iround"), DType::Int64);
      },
      "a"_a, "mode"_a = nb::none());
  define(m, "round_half_away_from_zero", one(round_half_away_from_zero), "x"_a);
  define(
      m, "sgn",
      [](const Like& a) {
        warn_deprecated("sgn", "sign");
        return sign(as_variable(a));
      },
      "a"_a);
  // Functions of bitale.tensor.special.
  const auto caller = nb::call_guard<AtCaller>();
  add_function(m, "beta", two(beta), caller, "a"_a, "b"_a);
  add_function(m, "betaln", two(betaln), caller, "a"_a, "b"_a);
  add_function(m, "factorial", one(factorial), caller, "n"_a);
  add_function(m, "poch", two(poch), caller, "z"_a, "m"_a);
  add_function(m, "xlogx", one(xlogx), caller, "x"_a);
}

}  // namespace bitale::python
