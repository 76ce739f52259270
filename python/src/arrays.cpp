// Tensors joined and taken apart, as sets, in other orders, and chosen by conditions: the functions of stacking.hpp,
// sets.hpp, sorting.hpp and piecewise.hpp.
#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/piecewise.hpp"
#include "bitale/ops/sets.hpp"
#include "bitale/ops/sorting.hpp"
#include "bitale/ops/stacking.hpp"
#include "bitale/ops/vectorize.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
#include "numpy_functions.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

using Stacking = Variable (*)(const Operands&);
void bind_stack(nb::module_& m, const char* name, Stacking function, const char* doc) {
  define(
      m, name,
      [function, name](const Any& tup, const DTypeLike& dtype) {
        const Variable out = function(as_variables(tup, name));
        return cast(out, optional_dtype(dtype).value_or(out.dtype()));
      },
      "tup"_a, nb::kw_only(), "dtype"_a = nb::none(), doc);
}

void bind_stacks(nb::module_& m) {
  bind_stack(m, "vstack", vstack,
             R"(>>> pt.vstack([[1.0, 2.0], [3.0, 4.0]]).eval()
array([[1., 2.],
       [3., 4.]]))");
  bind_stack(m, "hstack", hstack,
             R"(>>> pt.hstack([[1.0, 2.0], [3.0]]).eval()
array([1., 2., 3.]))");
  bind_stack(m, "dstack", dstack,
             R"(>>> pt.dstack([[1.0, 2.0], [3.0, 4.0]]).eval()
array([[[1., 3.],
        [2., 4.]]]))");
  bind_stack(m, "column_stack", column_stack,
             R"(>>> pt.column_stack([[1.0, 2.0], [3.0, 4.0]]).eval()
array([[1., 3.],
       [2., 4.]]))");
  define(
      m, "unstack", [](const Like& x, int axis) { return tuple_of(unstack(as_variable(x), axis)); }, "x"_a,
      nb::kw_only(), "axis"_a = 0,
      nb::sig(
          "def unstack(x: TensorVariable | numpy.typing.ArrayLike, *, axis: int = 0) -> tuple[TensorVariable, ...]"),
      R"(>>> [part.eval().tolist() for part in pt.unstack(np.array([[1, 2], [3, 4]]))]
[[1, 2], [3, 4]])");
}

using Joining = Variable (*)(const Operand&, const Operand&);
void bind_joining(nb::module_& m, const char* name, Joining function, const char* doc) {
  define(
      m, name, [function](const Like& a, const Like& b) { return function(as_variable(a), as_variable(b)); }, "ar1"_a,
      "ar2"_a, doc);
}
void bind_joining_unique(nb::module_& m, const char* name, Joining function, const char* doc) {
  define(
      m, name, [function](const Like& a, const Like& b, Flag) { return function(as_variable(a), as_variable(b)); },
      "ar1"_a, "ar2"_a, "assume_unique"_a = false, doc);
}

void bind_sets(nb::module_& m) {
  define(
      m, "isin",
      [](const Like& element, const Like& test_elements, Flag, Flag invert, const Any&) {
        return isin(as_variable(element), as_variable(test_elements), {.invert = invert});
      },
      "element"_a, "test_elements"_a, "assume_unique"_a = false, "invert"_a = false, nb::kw_only(),
      "kind"_a = nb::none(),
      R"(>>> pt.isin([1, 2, 3], [3, 1]).eval()
array([ True, False,  True]))");
  bind_joining(m, "union1d", union1d,
               R"(>>> pt.union1d([3, 1], [1, 2]).eval()
array([1, 2, 3]))");
  bind_joining_unique(m, "setdiff1d", setdiff1d,
                      R"(>>> pt.setdiff1d([3, 1, 2, 3], [1]).eval()
array([2, 3]))");
  bind_joining_unique(m, "setxor1d", setxor1d,
                      R"(>>> pt.setxor1d([3, 1], [1, 2]).eval()
array([2, 3]))");
  define(
      m, "intersect1d",
      [](const Like& a, const Like& b, Flag, Flag return_indices) -> nb::object {
        const CommonElements found = intersect1d(as_variable(a), as_variable(b));
        if (!return_indices) return wrap(found.values);
        return tuple_of(Variables{found.values, found.first_index, found.second_index});
      },
      "ar1"_a, "ar2"_a, "assume_unique"_a = false, "return_indices"_a = false,
      nb::sig("def intersect1d(ar1: TensorVariable | numpy.typing.ArrayLike, ar2: TensorVariable | "
              "numpy.typing.ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> typing.Any"),
      R"(>>> pt.intersect1d([3, 1, 4], [1, 2, 3]).eval()
array([1, 3]))");
}

std::vector<int> positions_of(const Any& kth, const char* who) {
  if (is_integer_object(kth)) return {*as_optional_int(kth, cat(who, ": kth"))};
  return as_ints(kth, cat(who, ": kth"));
}

using Parting = Variable (*)(const Operand&, const std::vector<int>&, std::optional<int>);
void bind_parting(nb::module_& m, const char* name, Parting function, const char* doc) {
  define(
      m, name,
      [function, name](const Like& a, const Any& kth, const AxisLike& axis) {
        return function(as_variable(a), positions_of(kth, name), as_optional_int(axis, cat(name, ": axis")));
      },
      "a"_a, "kth"_a, "axis"_a.none() = -1, doc);
}

void bind_orders(nb::module_& m) {
  bind_parting(m, "partition", partition,
               R"(>>> pt.partition([3.0, 1.0, 2.0], 1).eval()
array([1., 2., 3.]))");
  bind_parting(m, "argpartition", argpartition,
               R"(>>> pt.argpartition([3.0, 1.0, 2.0], 1).eval()
array([1, 2, 0]))");
  define(
      m, "lexsort",
      [](const Any& keys, int axis) {
        if (is_variable(keys)) return lexsort(unstack(variable_of(keys)), axis);
        return lexsort(as_variables(keys, "lexsort"), axis);
      },
      "keys"_a, "axis"_a = -1,
      R"(>>> pt.lexsort([[2, 1, 3], [1, 1, 0]]).eval()
array([2, 1, 0]))");
}

PiecewiseFunction piece_of(nb::handle given, const nb::args& args, const nb::kwargs& keywords) {
  if (!PyCallable_Check(given.ptr()) || is_variable(given)) return PiecewiseFunction(as_variable(given));
  return PiecewiseFunction(
      PiecewiseFunction::Formula([function = nb::borrow(given), args, keywords](const Variable& x) {
        return as_variable(function(wrap(x), *args, **keywords));
      }));
}

void bind_choices(nb::module_& m) {
  define(
      m, "select",
      [](const Any& condlist, const Any& choicelist, const Like& otherwise) {
        return select(as_variables(condlist, "select: condlist"), as_variables(choicelist, "select: choicelist"),
                      as_variable(otherwise));
      },
      "condlist"_a, "choicelist"_a, "default"_a = 0,
      R"(>>> x = pt.dvector("x")
>>> pt.select([x < 1, x < 3], [-x, x**2], 100.0).eval({x: [0.5, 2.0, 5.0]})
array([ -0.5,   4. , 100. ]))");
  define(
      m, "piecewise",
      [](const Like& x, const Any& condlist, const Any& funclist, nb::args args, nb::kwargs kw) {
        const bool is_one = is_variable(condlist) || (is_ndarray(condlist) && nb::cast<int>(condlist.attr("ndim")) < 2);
        std::vector<PiecewiseFunction> pieces;
        for (nb::handle each : funclist) pieces.push_back(piece_of(each, args, kw));
        const Variables conditions =
            is_one ? Variables{as_variable(condlist)} : as_variables(condlist, "piecewise: condlist");
        return piecewise(as_variable(x), conditions, pieces);
      },
      "x"_a, "condlist"_a, "funclist"_a, "args"_a, "kw"_a,
      nb::sig("def piecewise(x: TensorVariable | numpy.typing.ArrayLike, condlist: typing.Any, funclist: typing.Any, "
              "*args: typing.Any, **kw: typing.Any) -> TensorVariable"),
      R"(>>> x = pt.dvector("x")
>>> pt.piecewise(x, [x < 0, x >= 0], [lambda x: -x, pt.sqrt]).eval({x: [-2.0, 9.0]})
array([2., 3.]))");
}

void bind_application(nb::module_& m) {
  define(
      m, "apply_along_axis",
      [](nb::callable func1d, int axis, const Like& arr, nb::args args, nb::kwargs kwargs) {
        const auto function = [&](const Variable& x) { return as_variable(func1d(wrap(x), *args, **kwargs)); };
        return apply_along_axis(function, axis, as_variable(arr));
      },
      "func1d"_a, "axis"_a, "arr"_a, "args"_a, "kwargs"_a,
      nb::sig(
          "def apply_along_axis(func1d: collections.abc.Callable[..., typing.Any], axis: int, arr: TensorVariable | "
          "numpy.typing.ArrayLike, *args: typing.Any, **kwargs: typing.Any) -> TensorVariable"),
      R"(>>> pt.apply_along_axis(lambda x: x.max() - x.min(), 0, np.array([[1.0, 5.0], [3.0, 9.0]])).eval()
array([2., 4.]))");
}

}  // namespace

void bind_arrays(nb::module_& m) {
  bind_stacks(m);
  bind_sets(m);
  bind_orders(m);
  bind_choices(m);
  bind_application(m);
}

}  // namespace bitale::python
