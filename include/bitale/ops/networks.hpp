// Layers of convolutional networks. Names and arguments are Theano's.
#pragma once

#include <utility>
#include <variant>

#include "bitale/ops/operand.hpp"

namespace bitale {

// Zeros around images, by what the result then covers. Valid: only positions at which a filter lies within the image,
// so that there are none; Half: as many positions as the image has elements, for filters of odd lengths; Full: all
// positions at which a filter touches the image. Or their number at each end of rows and of columns.
enum class BorderMode { Valid, Half, Full };
using Border = std::variant<BorderMode, std::pair<int, int>>;

struct Conv2dOptions {
  Border border_mode = BorderMode::Valid;
  std::pair<int, int> subsample = {1, 1};        // the distance between positions, along columns and rows
  bool filter_flip = true;                       // a convolution; otherwise a correlation
  std::pair<int, int> filter_dilation = {1, 1};  // the distance between elements of a filter
  int num_groups = 1;                            // of channels, each with filters of its own
};
// Images [batch, channels, rows, columns] convolved with filters [filters, channels / num_groups, rows, columns] of
// known lengths: [batch, filters, ...]. ShapeError for other ranks, for numbers of channels that don't fit, and for
// images that are smaller than filters; NotImplementedError for filters whose lengths are not known.
Variable conv2d(const Operand& input, const Operand& filters, const Conv2dOptions& options = {});

enum class PoolMode { Max, Sum, AverageIncludingPad, AverageExcludingPad };
struct Pool2dOptions {
  std::pair<int, int> stride = {0, 0};  // 0: the window's length
  std::pair<int, int> pad = {0, 0};     // elements that are added at each end, less than the window's length
  PoolMode mode = PoolMode::Max;
};
// The last two dimensions, reduced over windows: only those that lie within the image. ShapeError for fewer than two
// dimensions, ValueError for windows, strides and pads out of these ranges.
Variable pool_2d(const Operand& input, std::pair<int, int> window, const Pool2dOptions& options = {});

}  // namespace bitale
