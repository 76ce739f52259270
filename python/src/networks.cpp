// Convolutions and pooling over images, with Theano's argument names.
#include "bitale/ops/networks.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "numpy_functions.hpp"

namespace bitale::python {

namespace {

// A number for both dimensions, or a number for each.
std::pair<int, int> pair_of(nb::handle given, const char* what) {
  if (is_integer_object(given)) {
    const int both = *as_optional_int(given, what);
    return {both, both};
  }
  const std::vector<int> two = as_ints(given, what);
  if (two.size() != 2) throw ValueError(cat(what, ": expected one or two integers, got ", shown(given)));
  return {two[0], two[1]};
}

Border border_of(const Any& mode) {
  if (!PyUnicode_Check(mode.ptr())) return pair_of(mode, "conv2d: border_mode");
  const auto name = nb::cast<std::string>(mode);
  if (name == "valid") return BorderMode::Valid;
  if (name == "half") return BorderMode::Half;
  if (name == "full") return BorderMode::Full;
  throw ValueError(
      cat("conv2d: expected border_mode \"valid\", \"half\", \"full\" or numbers of zeros, got \"", name, "\""));
}

PoolMode pool_mode(const std::string& name) {
  if (name == "max") return PoolMode::Max;
  if (name == "sum") return PoolMode::Sum;
  if (name == "average_inc_pad") return PoolMode::AverageIncludingPad;
  if (name == "average_exc_pad") return PoolMode::AverageExcludingPad;
  throw ValueError(
      cat("pool_2d: expected mode \"max\", \"sum\", \"average_inc_pad\" or \"average_exc_pad\", got \"", name, "\""));
}

}  // namespace

void bind_networks(nb::module_& m) {
  define(
      m, "conv2d",
      [](const Like& input, const Like& filters, const Any& border_mode, const Any& subsample, Flag filter_flip,
         const Any& filter_dilation, int num_groups) {
        return conv2d(as_variable(input), as_variable(filters),
                      {.border_mode = border_of(border_mode),
                       .subsample = pair_of(subsample, "conv2d: subsample"),
                       .filter_flip = filter_flip,
                       .filter_dilation = pair_of(filter_dilation, "conv2d: filter_dilation"),
                       .num_groups = num_groups});
      },
      "input"_a, "filters"_a, "border_mode"_a = "valid", "subsample"_a = nb::make_tuple(1, 1), "filter_flip"_a = true,
      "filter_dilation"_a = nb::make_tuple(1, 1), "num_groups"_a = 1,
      R"(>>> x = np.arange(9.0).reshape(1, 1, 3, 3)
>>> pt.conv2d(x, np.ones((1, 1, 2, 2))).eval()[0, 0]
array([[ 8., 12.],
       [20., 24.]]))");
  define(
      m, "pool_2d",
      [](const Like& input, const Any& ws, Flag ignore_border, const Any& stride, const Any& pad,
         const std::string& mode) {
        if (!ignore_border)
          throw NotImplementedError("pool_2d: windows that reach over the border (ignore_border=False); pad the input");
        const auto window = pair_of(ws, "pool_2d: ws");
        return pool_2d(as_variable(input), window,
                       {.stride = stride.is_none() ? window : pair_of(stride, "pool_2d: stride"),
                        .pad = pair_of(pad, "pool_2d: pad"),
                        .mode = pool_mode(mode)});
      },
      "input"_a, "ws"_a, "ignore_border"_a = true, "stride"_a = nb::none(), "pad"_a = nb::make_tuple(0, 0),
      "mode"_a = "max",
      R"(>>> pt.pool_2d(np.arange(16.0).reshape(4, 4), 2).eval()
array([[ 5.,  7.],
       [13., 15.]]))");
}

}  // namespace bitale::python
