// Rearranging, creating, searching and contracting: the functions of arrange.hpp, creation.hpp, search.hpp and
// contraction.hpp with PyTensor's argument names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/quantile.hpp"
#include "bitale/ops/search.hpp"
#include "define.hpp"
#include "deprecated.hpp"
#include "device.hpp"
#include "diagonal_number.hpp"
#include "flag.hpp"
#include "hooks.hpp"
#include "numpy_bridge.hpp"
#include "ops/option_names.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

TakeMode mode_of(const std::string& mode, const char* who) {
  if (mode == "raise") return TakeMode::Raise;
  if (mode == "clip") return TakeMode::Clip;
  if (mode == "wrap") return TakeMode::Wrap;
  throw ValueError(cat(who, ": expected mode \"raise\", \"clip\" or \"wrap\", got \"", mode, "\""));
}

SearchSide side_of(const std::string& side) {
  if (side == "left") return SearchSide::Left;
  if (side == "right") return SearchSide::Right;
  throw ValueError(cat("searchsorted: expected side \"left\" or \"right\", got \"", side, "\""));
}

// A scalar, a pair, or a sequence of pairs.
std::vector<Padding> paddings(nb::handle given, const char* what) {
  const auto pair_of = [&](nb::handle before, nb::handle after) {
    return Padding{Operand(as_variable(before)), Operand(as_variable(after))};
  };
  if (given.is_none()) return {};
  nb::object pairs = nb::borrow(given);
  if (is_ndarray(given)) pairs = given.attr("tolist")();
  if (!is_sequence(pairs)) return {pair_of(pairs, pairs)};
  const std::size_t n = nb::len(pairs);
  std::vector<Padding> out;
  for (nb::handle pair : pairs) {
    if (!is_sequence(pair)) {
      if (n == 2) return {pair_of(pairs[0], pairs[1])};
      if (n == 1) return {pair_of(pairs[0], pairs[0])};
      throw ValueError(cat("pad: expected a number, a pair, or a pair for each dimension as ", what));
    }
    const std::size_t count = nb::len(pair);
    if (count != 1 && count != 2) throw ValueError(cat("pad: expected pairs as ", what, ", got ", shown(pair)));
    out.push_back(pair_of(pair[0], pair[count - 1]));
  }
  return out;
}

Variable tensordot_of(const Like& a, const Like& b, const Any& axes) {
  if (!is_sequence(axes)) {
    const auto count = as_optional_int(axes, "tensordot: axes");
    if (!count) throw TypeError("tensordot: expected a number of axes, or the axes of both operands");
    return tensordot(as_variable(a), as_variable(b), *count);
  }
  if (nb::len(axes) != 2) throw ValueError("tensordot: expected the axes of both operands");
  const auto several = [](nb::handle given) {
    return is_sequence(given) ? as_ints(given, "tensordot: axes") : std::vector<int>{nb::cast<int>(given)};
  };
  return tensordot(as_variable(a), as_variable(b), several(axes[0]), several(axes[1]));
}

SequenceOptions sequence_options(bool endpoint, const DTypeLike& dtype, int axis) {
  return {.endpoint = endpoint, .dtype = optional_dtype(dtype), .axis = axis};
}

Variable in_optional_dtype(const Variable& x, const DTypeLike& dtype) {
  const auto element = optional_dtype(dtype);
  return element ? cast(x, *element) : x;
}

// The sizes, n_splits of them if they are a vector of unknown length; ValueError for another number of sizes.
Variables sizes_of_parts(const ShapeLike& sizes, const Any& n_splits) {
  const auto count = as_optional_int(n_splits, "split: n_splits");
  nb::object given = nb::borrow(sizes);
  if (count && is_variable(sizes) && variable_of(sizes).ndim() == 1)
    given = wrap(specify_shape(variable_of(sizes), {Operand(*count)}));
  const Variables parts = as_lengths(given, "split");
  if (count && *count != int(parts.size()))
    throw ValueError(cat("split: n_splits is ", *count, ", but there are ", parts.size(), " sizes"));
  return parts;
}

// The argument that a mode takes beside the widths.
const char* argument_of_padding(const std::string& mode) {
  if (mode == "constant") return "constant_values";
  if (mode == "linear_ramp") return "end_values";
  if (mode == "symmetric" || mode == "reflect") return "reflect_type";
  return mode == "maximum" || mode == "minimum" || mode == "mean" || mode == "median" ? "stat_length" : "";
}

Variable padded(const Like& x, const Any& widths, const std::string& mode, const Any& constant_values,
                const Any& end_values, const Any& stat_length, const std::optional<std::string>& reflect_type) {
  const std::string_view taken = argument_of_padding(mode);
  const auto check = [&](bool is_given, std::string_view name) {
    if (is_given && name != taken) throw ValueError(cat("pad: mode \"", mode, "\" does not take ", name));
  };
  check(!constant_values.is_none(), "constant_values");
  check(!end_values.is_none(), "end_values");
  check(!stat_length.is_none(), "stat_length");
  check(reflect_type.has_value(), "reflect_type");
  if (reflect_type && *reflect_type != "even" && *reflect_type != "odd")
    throw ValueError(cat("pad: expected reflect_type \"even\" or \"odd\", got \"", *reflect_type, "\""));
  PadOptions options;
  options.is_odd = reflect_type == "odd";
  options.values = paddings(end_values.is_none() ? constant_values : end_values, "values");
  options.stat_length = paddings(stat_length, "stat_length");
  return pad(as_variable(x), paddings(widths, "pad_width"), option_named<PadMode>(mode, "pad: expected a mode of"),
             options);
}

void bind_complex(nb::module_& m) {
  define(
      m, "complex", [](const Like& real, const Like& imag) { return complex(as_variable(real), as_variable(imag)); },
      "real"_a, "imag"_a);
  define(
      m, "complex_from_polar",
      [](const Like& abs, const Like& angle) {
        warn_deprecated("complex_from_polar", "complex(abs * cos(angle), abs * sin(angle))");
        return complex_from_polar(as_variable(abs), as_variable(angle));
      },
      "abs"_a, "angle"_a);
}

Variable rolled(const Like& x, const Any& shift, const AxisLike& axis) {
  const Variable value = as_variable(x);
  const bool has_several = is_sequence(shift) || is_sequence(axis);
  if (axis.is_none() || !has_several) return roll(value, as_variable(shift), as_optional_int(axis, "roll: axis"));
  std::vector<int> axes = *as_axes(axis, "roll");
  Variables shifts = is_sequence(shift) ? as_variables(shift, "roll: shift") : Variables{as_variable(shift)};
  const std::size_t count = std::max(axes.size(), shifts.size());
  if (axes.size() == 1) axes.resize(count, axes[0]);
  if (shifts.size() == 1) shifts.resize(count, shifts[0]);
  if (axes.size() != shifts.size())
    throw ValueError(cat("roll: expected a shift for each of the ", axes.size(), " axes, got ", shifts.size()));
  Variable out = value;
  for (std::size_t k = 0; k < count; ++k) out = roll(out, shifts[k], axes[k]);
  return out;
}

void bind_arranging(nb::module_& m) {
  define(
      m, "flip", [](const Like& x, const AxisLike& axis) { return flip(as_variable(x), as_axes(axis, "flip")); },
      "arr"_a, "axis"_a.none() = nb::none());
  define(
      m, "rot90",
      [](const Like& x, int k, const Any& axes) {
        const std::vector<int> pair = as_ints(axes, "rot90: axes");
        if (pair.size() != 2) throw ValueError("rot90: expected two axes");
        return rot90(as_variable(x), k, {pair[0], pair[1]});
      },
      "m"_a, "k"_a = 1, "axes"_a = nb::make_tuple(0, 1));
  define(m, "roll", rolled, "x"_a, "shift"_a, "axis"_a.none() = nb::none());
  define(
      m, "tile",
      [](const Like& x, const Any& reps) {
        std::vector<Operand> repetitions;
        for (const Variable& length : as_lengths(reps, "tile")) repetitions.emplace_back(length);
        return tile(as_variable(x), repetitions);
      },
      "A"_a, "reps"_a);
  const auto repeated = [](const Like& x, const Like& repeats, const AxisLike& axis) {
    return repeat(as_variable(x), as_variable(repeats), as_optional_int(axis, "repeat: axis"));
  };
  define(m, "repeat", repeated, "a"_a, "repeats"_a, "axis"_a.none() = nb::none());
  define_method(m, "repeat", repeated, "repeats"_a, "axis"_a.none() = nb::none(),
                "Each element so many times in a row: a number, or one for each element along the axis.");
  define(
      m, "broadcast_arrays",
      [](nb::args tensors) { return list_of(broadcast_arrays(as_variables(tensors, "broadcast_arrays"))); }, "args"_a);
  define(
      m, "meshgrid",
      [](nb::args xi, Flag copy, Flag sparse, const std::string& indexing) {
        if (!copy)
          throw NotImplementedError("meshgrid: copy=False is not supported: results share no memory with inputs");
        return list_of(meshgrid(
            as_variables(xi, "meshgrid"),
            {.sparse = sparse, .indexing = option_named<GridIndexing>(indexing, "meshgrid: expected indexing")}));
      },
      "xi"_a, "copy"_a = true, "sparse"_a = false, "indexing"_a = "xy");
  define(
      m, "join_dims",
      [](const Like& x, int start_axis, std::optional<int> n_axes) {
        return join_dims(as_variable(x), start_axis, n_axes);
      },
      "x"_a, "start_axis"_a = 0, "n_axes"_a = nb::none());
  define(
      m, "split_dims",
      [](const Like& x, const ShapeLike& shape, int axis) {
        return split_dims(as_variable(x), as_lengths(shape, "split_dims"), axis);
      },
      "x"_a, "shape"_a, "axis"_a = 0);
  define(
      m, "split",
      [](const Like& x, const ShapeLike& sizes, const Any& n_splits, int axis) {
        return list_of(split(as_variable(x), sizes_of_parts(sizes, n_splits), axis));
      },
      "x"_a, "splits_size"_a, nb::kw_only(), "n_splits"_a = nb::none(), "axis"_a = 0);
  define(m, "pad", padded, "x"_a, "pad_width"_a, "mode"_a = "constant", nb::kw_only(), "constant_values"_a = nb::none(),
         "end_values"_a = nb::none(), "stat_length"_a = nb::none(), "reflect_type"_a = nb::none());
}

void bind_creating(nb::module_& m) {
  define(
      m, "linspace",
      [](const Like& start, const Like& stop, const Like& num, Flag endpoint, Flag retstep, const DTypeLike& dtype,
         int axis, const Any& device) -> nb::object {
        check_device(device, "linspace");
        const Variable limits[] = {as_variable(start), as_variable(stop), as_variable(num)};
        const nb::object numbers =
            wrap(linspace(limits[0], limits[1], limits[2], sequence_options(endpoint, dtype, axis)));
        if (!retstep) return numbers;
        return nb::make_tuple(numbers, wrap(linspace_step(limits[0], limits[1], limits[2],
                                                          endpoint ? Endpoint::Included : Endpoint::Excluded)));
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "retstep"_a = false, "dtype"_a = nb::none(), "axis"_a = 0,
      nb::kw_only(), "device"_a = nb::none(),
      nb::sig("def linspace(start: typing.Any, stop: typing.Any, num: typing.Any = 50, endpoint: bool = True, "
              "retstep: bool = False, dtype: typing.Any = None, axis: int = 0, *, device: str | None = None) -> "
              "TensorVariable | tuple[TensorVariable, TensorVariable]"));
  define(
      m, "empty",
      [](const ShapeLike& shape, const DTypeLike& dtype, const Any& device) {
        check_device(device, "empty");
        return empty(Operands(as_lengths(shape, "empty")), optional_dtype(dtype));
      },
      "shape"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none());
  define(
      m, "empty_like",
      [](const Like& prototype, const DTypeLike& dtype, const Any& device) {
        check_device(device, "empty_like");
        return empty_like(as_variable(prototype), optional_dtype(dtype));
      },
      "prototype"_a, "dtype"_a = nb::none(), nb::kw_only(), "device"_a = nb::none());
  define(
      m, "logspace",
      [](const Like& start, const Like& stop, const Like& num, const Like& base, Flag endpoint, const DTypeLike& dtype,
         int axis) {
        return logspace(as_variable(start), as_variable(stop), as_variable(num), as_variable(base),
                        sequence_options(endpoint, dtype, axis));
      },
      "start"_a, "stop"_a, "num"_a = 50, "base"_a = 10.0, "endpoint"_a = true, "dtype"_a = nb::none(), "axis"_a = 0);
  define(
      m, "geomspace",
      [](const Like& start, const Like& stop, const Like& num, const Like&, Flag endpoint, const DTypeLike& dtype,
         int axis) {
        return geomspace(as_variable(start), as_variable(stop), as_variable(num),
                         sequence_options(endpoint, dtype, axis));
      },
      "start"_a, "stop"_a, "num"_a = 50, "base"_a = 10.0, "endpoint"_a = true, "dtype"_a = nb::none(), "axis"_a = 0);
  define(
      m, "tri",
      [](const Like& n, const Any& columns, DiagonalNumber k, const DTypeLike& dtype) {
        return tri(as_variable(n), optional_operand(columns), k, optional_dtype(dtype));
      },
      "N"_a, "M"_a = nb::none(), "k"_a = 0, "dtype"_a = nb::none());
  define(
      m, "nan_to_num",
      [](const Like& x, const Like& nan, const Any& posinf, const Any& neginf) {
        return nan_to_num(as_variable(x), as_variable(nan), optional_operand(posinf), optional_operand(neginf));
      },
      "x"_a, "nan"_a = 0.0, "posinf"_a = nb::none(), "neginf"_a = nb::none());
  define(
      m, "fill_diagonal",
      [](const Like& a, const Like& value) { return fill_diagonal(as_variable(a), as_variable(value)); }, "a"_a,
      "val"_a);
  define(
      m, "fill_diagonal_offset",
      [](const Like& a, const Like& value, const Like& offset) {
        return fill_diagonal_offset(as_variable(a), as_variable(value), as_variable(offset));
      },
      "a"_a, "val"_a, "offset"_a);
}

void bind_searching(nb::module_& m) {
  const auto search = [](const Like& x, const Like& v, const std::string& side, const Any& sorter) {
    return searchsorted(as_variable(x), as_variable(v), side_of(side), optional_operand(sorter));
  };
  define(m, "searchsorted", search, "x"_a, "v"_a, "side"_a = "left", "sorter"_a = nb::none());
  define_method(m, "searchsorted", search, "v"_a, "side"_a = "left", "sorter"_a = nb::none(),
                "Where the elements of v would have to be inserted into this increasing vector.");
  m.def(
      "_unique",
      [](const Like& x) {
        const UniqueValues found = unique(as_variable(x));
        return tuple_of(Variables{found.values, found.index, found.inverse, found.counts});
      },
      nb::call_guard<AtCaller>());
  define(
      m, "bincount",
      [](const Like& x, const Any& weights, const Any& minlength, Flag) {
        return bincount(as_variable(x), optional_operand(weights), optional_operand(minlength).value_or(Operand(0)));
      },
      "x"_a, "weights"_a = nb::none(), "minlength"_a = nb::none(), "assert_nonneg"_a = false);
  define(
      m, "digitize",
      [](const Like& x, const Like& bins, Flag right) {
        return digitize(as_variable(x), as_variable(bins), {.right = right});
      },
      "x"_a, "bins"_a, "right"_a = false);
  define(
      m, "take_along_axis",
      [](const Like& arr, const Like& indices, const AxisLike& axis) {
        const auto along = as_optional_int(axis, "take_along_axis: axis");
        if (!along) return take_along_axis(flatten(as_variable(arr)), flatten(as_variable(indices)), 0);
        return take_along_axis(as_variable(arr), as_variable(indices), *along);
      },
      "arr"_a, "indices"_a, "axis"_a.none() = 0);
  const auto chosen = [](const Like& a, const Any& choices, const std::string& mode) {
    const Variable stacked = is_variable(choices) ? variable_of(choices) : Variable();
    if (!stacked.defined()) return choose(as_variable(a), as_variables(choices, "choose"), mode_of(mode, "choose"));
    const std::int64_t count = stacked.ndim() ? stacked.static_shape()[0] : unknown_length;
    if (count == unknown_length)
      throw ValueError("choose: expected a sequence of choices, or a tensor whose length is known");
    Variables all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(subtensor(stacked, {IndexItem(Operand(i))}));
    return choose(as_variable(a), all, mode_of(mode, "choose"));
  };
  define(m, "choose", chosen, "a"_a, "choices"_a, "mode"_a = "raise");
  define_method(m, "choose", chosen, "choices"_a, "mode"_a = "raise", "Each element from that choice which this says.");
  define(
      m, "ravel_multi_index",
      [](const Any& multi_index, const ShapeLike& dims, const std::string& mode, const std::string& order) {
        if (order != "C") throw NotImplementedError("ravel_multi_index: only order=\"C\" is supported");
        return ravel_multi_index(as_variables(multi_index, "ravel_multi_index"), as_lengths(dims, "ravel_multi_index"),
                                 mode_of(mode, "ravel_multi_index"));
      },
      "multi_index"_a, "dims"_a, "mode"_a = "raise", "order"_a = "C");
  define(
      m, "unravel_index",
      [](const Like& indices, const ShapeLike& dims, const std::string& order) {
        if (order != "C") throw NotImplementedError("unravel_index: only order=\"C\" is supported");
        return tuple_of(unravel_index(as_variable(indices), as_lengths(dims, "unravel_index")));
      },
      "indices"_a, "dims"_a, "order"_a = "C");
  define(
      m, "inverse_permutation", [](const Like& perm) { return inverse_permutation(as_variable(perm)); }, "perm"_a);
  define(
      m, "median",
      [](const Like& x, const AxisLike& axis, Flag keepdims) {
        return median(as_variable(x), as_axes(axis, "median"), keepdims);
      },
      "x"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false);
  define(
      m, "quantile",
      [](const Like& a, const Like& q, const AxisLike& axis, Flag keepdims, const char* method) {
        return quantile(as_variable(a), as_variable(q), as_axes(axis, "quantile"), keepdims, quantile_method(method));
      },
      "a"_a, "q"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, nb::kw_only(), "method"_a = "linear");
  define(
      m, "percentile",
      [](const Like& a, const Like& q, const AxisLike& axis, Flag keepdims, const char* method) {
        return percentile(as_variable(a), as_variable(q), as_axes(axis, "percentile"), keepdims,
                          quantile_method(method));
      },
      "a"_a, "q"_a, "axis"_a.none() = nb::none(), "keepdims"_a = false, nb::kw_only(), "method"_a = "linear");
}

void bind_contracting(nb::module_& m) {
  define(m, "tensordot", tensordot_of, "a"_a, "b"_a, "axes"_a = 2);
  const auto product = [](Variable (*function)(const Operand&, const Operand&)) {
    return [function](const Like& x1, const Like& x2, const DTypeLike& dtype) {
      return in_optional_dtype(function(as_variable(x1), as_variable(x2)), dtype);
    };
  };
  define(
      m, "vecdot",
      [](const Like& x1, const Like& x2, const DTypeLike& dtype, int axis) {
        const auto last = [axis](const Like& x) {
          const Variable value = as_variable(x);
          return axis == -1 ? value : moveaxis(value, {axis}, {-1});
        };
        return in_optional_dtype(vecdot(last(x1), last(x2)), dtype);
      },
      "x1"_a, "x2"_a, "dtype"_a = nb::none(), "axis"_a = -1);
  define(m, "matvec", product(matvec), "x1"_a, "x2"_a, "dtype"_a = nb::none());
  define(m, "vecmat", product(vecmat), "x1"_a, "x2"_a, "dtype"_a = nb::none());
  add_function(
      m, "kron", [](const Like& a, const Like& b) { return kron(as_variable(a), as_variable(b)); },
      nb::call_guard<AtCaller>(), "a"_a, "b"_a);
  define(
      m, "einsum",
      [](const std::string& subscripts, nb::args operands, const Any&) {
        return einsum(subscripts, as_variables(operands, "einsum"));
      },
      "subscripts"_a, "operands"_a, "optimize"_a = nb::none(), R"(>>> x, m = pt.dvector("x"), pt.dmatrix("m")
>>> pt.einsum("ij,j->i", m, x).eval({m: [[1.0, 2.0]], x: [3.0, 4.0]})
array([11.]))");
}

}  // namespace

// Methods of variables that are implemented by functions in Python.
void bind_variable_surface(nb::module_& m) {
  auto cls = variable_class(m);
  define_in_python(cls, "transfer", "transfer", "def transfer(self, target: str) -> TensorVariable",
                   "Return this variable on a target; \"cpu\" is the only one that is known.");
}

void bind_language(nb::module_& m) {
  bind_variable_surface(m);
  bind_complex(m);
  bind_arranging(m);
  bind_creating(m);
  bind_searching(m);
  bind_contracting(m);
}

}  // namespace bitale::python
