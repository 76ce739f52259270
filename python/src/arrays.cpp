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
             R"(Tensors one below the other: joined along the first dimension.

Parameters
----------
tup : sequence of tensor_like
    Vectors are rows. ValueError for none.
dtype : dtype
    Of the result; by default the common one.

Returns
-------
TensorVariable
    At least a matrix.

Examples
--------
>>> pt.vstack([[1.0, 2.0], [3.0, 4.0]]).eval()
array([[1., 2.],
       [3., 4.]]))");
  bind_stack(m, "hstack", hstack,
             R"(Tensors side by side: joined along the second dimension, vectors along their only one.

Parameters
----------
tup : sequence of tensor_like
    ValueError for none.
dtype : dtype
    Of the result; by default the common one.

Returns
-------
TensorVariable
    At least a vector.

Examples
--------
>>> pt.hstack([[1.0, 2.0], [3.0]]).eval()
array([1., 2., 3.]))");
  bind_stack(m, "dstack", dstack,
             R"(Tensors behind each other: joined along the third dimension.

Parameters
----------
tup : sequence of tensor_like
    Vectors are rows, and matrices have a third dimension of length 1. ValueError for none.
dtype : dtype
    Of the result; by default the common one.

Returns
-------
TensorVariable
    At least of 3 dimensions.

Examples
--------
>>> pt.dstack([[1.0, 2.0], [3.0, 4.0]]).eval()
array([[[1., 3.],
        [2., 4.]]]))");
  bind_stack(m, "column_stack", column_stack,
             R"(Vectors as the columns of a matrix; matrices side by side.

Parameters
----------
tup : sequence of tensor_like
    ValueError for none.
dtype : dtype
    Of the result; by default the common one.

Returns
-------
TensorVariable
    At least a matrix.

Examples
--------
>>> pt.column_stack([[1.0, 2.0], [3.0, 4.0]]).eval()
array([[1., 3.],
       [2., 4.]]))");
  define(
      m, "unstack", [](const Like& x, int axis) { return tuple_of(unstack(as_variable(x), axis)); }, "x"_a,
      nb::kw_only(), "axis"_a = 0,
      nb::sig(
          "def unstack(x: TensorVariable | numpy.typing.ArrayLike, *, axis: int = 0) -> tuple[TensorVariable, ...]"),
      R"(The parts at each position along an axis.

Parameters
----------
x : tensor_like
    ValueError when its length along the axis is not known.
axis : int
    Which dimension the parts are without.

Returns
-------
tuple of TensorVariable
    As many as the axis has elements.

Examples
--------
>>> [part.eval().tolist() for part in pt.unstack(np.array([[1, 2], [3, 4]]))]
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
        return isin(as_variable(element), as_variable(test_elements), invert);
      },
      "element"_a, "test_elements"_a, "assume_unique"_a = false, "invert"_a = false, nb::kw_only(),
      "kind"_a = nb::none(),
      R"(For each element, whether it is among others.

Parameters
----------
element : tensor_like
    What is looked for.
test_elements : tensor_like
    Where it is looked for. nan is never found.
assume_unique : bool
    Accepted; it changes nothing.
invert : bool
    Whether it is not among them.
kind : str or None
    Accepted; it changes nothing.

Returns
-------
TensorVariable
    bool, in the shape of element.

Examples
--------
>>> pt.isin([1, 2, 3], [3, 1]).eval()
array([ True, False,  True]))");
  bind_joining(m, "union1d", union1d,
               R"(The distinct elements of either tensor.

Parameters
----------
ar1 : tensor_like
    Flattened.
ar2 : tensor_like
    Flattened.

Returns
-------
TensorVariable
    A vector in increasing order.

Examples
--------
>>> pt.union1d([3, 1], [1, 2]).eval()
array([1, 2, 3]))");
  bind_joining_unique(m, "setdiff1d", setdiff1d,
                      R"(The distinct elements of one tensor that are not in another.

Parameters
----------
ar1 : tensor_like
    Flattened.
ar2 : tensor_like
    Flattened.
assume_unique : bool
    Accepted; the result is sorted in any case.

Returns
-------
TensorVariable
    A vector in increasing order.

Examples
--------
>>> pt.setdiff1d([3, 1, 2, 3], [1]).eval()
array([2, 3]))");
  bind_joining_unique(m, "setxor1d", setxor1d,
                      R"(The distinct elements of exactly one of two tensors.

Parameters
----------
ar1 : tensor_like
    Flattened.
ar2 : tensor_like
    Flattened.
assume_unique : bool
    Accepted; it changes nothing.

Returns
-------
TensorVariable
    A vector in increasing order.

Examples
--------
>>> pt.setxor1d([3, 1], [1, 2]).eval()
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
      R"(The distinct elements of both tensors.

Parameters
----------
ar1 : tensor_like
    Flattened. nan is in no other tensor.
ar2 : tensor_like
    Flattened. nan is in no other tensor.
assume_unique : bool
    Accepted; it changes nothing.
return_indices : bool
    Whether to return where each element is first in both tensors, too.

Returns
-------
TensorVariable, or tuple of three
    A vector in increasing order, and vectors of positions.

Examples
--------
>>> pt.intersect1d([3, 1, 4], [1, 2, 3]).eval()
array([1, 3]))");
}

std::vector<int> places_of(const Any& kth, const char* who) {
  if (is_integer_object(kth)) return {*as_optional_int(kth, cat(who, ": kth"))};
  return as_ints(kth, cat(who, ": kth"));
}

using Parting = Variable (*)(const Operand&, const std::vector<int>&, std::optional<int>);
void bind_parting(nb::module_& m, const char* name, Parting function, const char* doc) {
  define(
      m, name,
      [function, name](const Like& a, const Any& kth, const AxisLike& axis) {
        return function(as_variable(a), places_of(kth, name), as_optional_int(axis, cat(name, ": axis")));
      },
      "a"_a, "kth"_a, "axis"_a.none() = -1, doc);
}

void bind_orders(nb::module_& m) {
  m.def(
      "_argsort_decreasing",
      [](const Like& x, int axis) { return argsort(as_variable(x), axis, SortOrder::Decreasing); },
      nb::call_guard<AtCaller>(), "x"_a, "axis"_a);
  bind_parting(m, "partition", partition,
               R"(The elements rearranged such that the kth is where a sort has it.

Parameters
----------
a : tensor_like
    Elements that have an order.
kth : int or sequence of int
    The places; ValueError for those that do not exist.
axis : int or None
    Along which dimension; None: of the flattened a.

Returns
-------
TensorVariable
    All elements in increasing order, which has smaller ones before each place, and larger ones behind it.

Examples
--------
>>> pt.partition([3.0, 1.0, 2.0], 1).eval()
array([1., 2., 3.]))");
  bind_parting(m, "argpartition", argpartition,
               R"(The positions that partition takes its elements from.

Parameters
----------
a : tensor_like
    Elements that have an order.
kth : int or sequence of int
    The places; ValueError for those that do not exist.
axis : int or None
    Along which dimension; None: of the flattened a.

Returns
-------
TensorVariable
    int64.

Examples
--------
>>> pt.argpartition([3.0, 1.0, 2.0], 1).eval()
array([1, 2, 0]))");
  define(
      m, "lexsort",
      [](const Any& keys, int axis) {
        if (is_variable(keys)) return lexsort(unstack(variable_of(keys)), axis);
        return lexsort(as_variables(keys, "lexsort"), axis);
      },
      "keys"_a, "axis"_a = -1,
      R"(The positions that sort by several keys.

Parameters
----------
keys : sequence of tensor_like
    Of one shape; the last one counts most. ValueError for none.
axis : int
    Along which dimension.

Returns
-------
TensorVariable
    int64. Equal elements keep their order.

Examples
--------
>>> pt.lexsort([[2, 1, 3], [1, 1, 0]]).eval()
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
      R"(Each element of the choice whose condition is the first that holds.

Parameters
----------
condlist : sequence of tensor_like
    Conditions of dtype bool; TypeError for others.
choicelist : sequence of tensor_like
    As many; ValueError for another number, and for none.
default : tensor_like
    Where no condition holds.

Returns
-------
TensorVariable
    All broadcast, in the common dtype.

Examples
--------
>>> x = pt.dvector("x")
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
      R"(A function that is given by other functions where conditions hold.

Parameters
----------
x : tensor_like
    Where it is computed.
condlist : sequence of tensor_like
    Conditions, which broadcast with x; where several hold, the last counts.
funclist : sequence of callable or tensor_like
    A function of x, or a value, for each condition; one more for where none holds, which otherwise gives 0. Functions
    are elementwise, and get all of x. ValueError for another number.
*args : Any
    Further arguments of the functions.
**kw : Any
    Further arguments of the functions.

Returns
-------
TensorVariable
    In the common dtype of x and of the values: integers are not cut.

Examples
--------
>>> x = pt.dvector("x")
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
      R"(A function of vectors for each vector along an axis.

Parameters
----------
func1d : callable
    A function of a symbolic vector, which is called once.
axis : int
    Along which dimension; AxisError for one that does not exist.
arr : tensor_like
    The vectors.
*args : Any
    Further arguments of the function.
**kwargs : Any
    Further arguments of the function.

Returns
-------
TensorVariable
    The dimensions of a result of the function, if it has any, are in the place of that axis.

Examples
--------
>>> pt.apply_along_axis(lambda x: x.max() - x.min(), 0, np.array([[1.0, 5.0], [3.0, 9.0]])).eval()
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
