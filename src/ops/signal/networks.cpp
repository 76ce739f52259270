// Convolutions and pooling over images. A convolution is a product of matrices: the elements under each element of a
// filter are a slice of the image with the stride as its step, and the slices are the rows of one matrix.
#include "bitale/ops/networks.hpp"

#include <limits>
#include <optional>
#include <string>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

using TwoNumbers = std::pair<int, int>;

int element(const TwoNumbers& pair, int k) { return k == 0 ? pair.first : pair.second; }

void require_at_least(const TwoNumbers& pair, int least, const char* who, const char* what) {
  if (pair.first < least || pair.second < least)
    throw ValueError(
        cat(who, ": ", what, ": expected two numbers from ", least, " on, got ", pair.first, " and ", pair.second));
}

// The elements that a window's element (i, j) meets at each position: of each of the last two dimensions a slice.
class WindowPositions {
 public:
  // Windows of these lengths, whose elements are `dilation` apart, at positions that are `stride` apart.
  WindowPositions(Variable image, const TwoNumbers& window, const TwoNumbers& stride, const TwoNumbers& dilation,
                  const char* who)
      : image_(std::move(image)), stride_(stride), dilation_(dilation) {
    for (const int k : {0, 1}) {
      const int extent = (element(window, k) - 1) * element(dilation, k) + 1;
      const Variable room = lengths::sub(length_of(image_, image_.ndim() - 2 + k), int64_constant(extent));
      const std::string message = cat(who, ": a window of ", extent, " elements is longer than the image");
      if (const auto known = known_integer(room); known && *known < 0) throw ShapeError(message);
      if (!known_integer(room)) image_ = check_and_raise(image_, {ge(room, int64_constant(0))}, "ShapeError", message);
      count_[k] = lengths::add(lengths::floor_div(room, int64_constant(element(stride, k))), int64_constant(1));
    }
  }
  const Variable& count(int k) const { return count_[k]; }
  Variable under(int i, int j) const {
    std::vector<IndexItem> items(std::size_t(image_.ndim() - 2), IndexItem(Slice{}));
    items.push_back(slice(0, i));
    items.push_back(slice(1, j));
    return subtensor(image_, items);
  }

 private:
  Slice slice(int k, int index) const {
    const Variable start = int64_constant(index * element(dilation_, k)), step = int64_constant(element(stride_, k));
    const Variable end = lengths::add(lengths::add(start, int64_constant(1)),
                                      lengths::mul(lengths::sub(count_[k], int64_constant(1)), step));
    return {Operand(start), Operand(end), Operand(step)};
  }
  Variable image_;
  Variable count_[2];
  TwoNumbers stride_, dilation_;
};

// The last two dimensions with elements added at both ends.
Variable surrounded(const Variable& x, const TwoNumbers& by, const Operand& value) {
  if (by == TwoNumbers{0, 0}) return x;
  std::vector<Padding> widths(std::size_t(x.ndim() - 2), Padding{0, 0});
  for (const int k : {0, 1}) widths.push_back({element(by, k), element(by, k)});
  return pad(x, widths, PadMode::Constant, {.values = {Padding{value, value}}});
}

int static_length_of(const Variable& x, int axis, const char* what) {
  const std::int64_t length = x.static_shape()[std::size_t(axis)];
  if (length == unknown_length)
    throw NotImplementedError(cat("conv2d: the filters' ", what, " must be known, which they are not in ", x.str(),
                                  "; specify_shape states them"));
  return int(length);
}

TwoNumbers zeros_around(const Border& border, const TwoNumbers& extent) {
  if (const auto* given = std::get_if<TwoNumbers>(&border)) {
    require_at_least(*given, 0, "conv2d", "border_mode");
    return *given;
  }
  switch (std::get<BorderMode>(border)) {
    case BorderMode::Half: return {extent.first / 2, extent.second / 2};
    case BorderMode::Full: return {extent.first - 1, extent.second - 1};
    default: return {0, 0};
  }
}

// The dimension of channels, which has `count` elements: known now, or in a call.
Variable with_channels(const Variable& x, int count) {
  const std::int64_t given = x.static_shape()[1];
  if (given != unknown_length && given != count)
    throw ShapeError(cat("conv2d: the filters are for ", count, " channels, but ", x.str(), " has ", given));
  return specify_shape(x, {std::nullopt, Operand(count), std::nullopt, std::nullopt});
}

Variable lowest_of(DType dtype) {
  if (is_float(dtype)) return cast(Operand(-std::numeric_limits<double>::infinity()), dtype);
  if (!is_signed_int(dtype)) return cast(Operand(0), dtype);
  return constant(Array(std::int64_t(-1) << (8 * itemsize(dtype) - 1)).astype(dtype));
}

template <class Combine>
Variable over_windows(const WindowPositions& positions, const TwoNumbers& window, const Combine& combine) {
  Variable out;
  for (int i = 0; i < window.first; ++i)
    for (int j = 0; j < window.second; ++j) {
      const Variable part = positions.under(i, j);
      out = out.defined() ? combine(out, part) : part;
    }
  return out;
}

}  // namespace

Variable conv2d(const Operand& input, const Operand& filters, const Conv2dOptions& options) {
  const LocationScope here(input.where);
  for (const Operand* each : {&input, &filters})
    if (each->ndim() != 4)
      throw ShapeError(cat("conv2d: expected images and filters of 4 dimensions, got ", each->variable.str(), " with ",
                           each->ndim()));
  require_at_least(options.subsample, 1, "conv2d", "subsample");
  require_at_least(options.filter_dilation, 1, "conv2d", "filter_dilation");
  const Variable& given = filters.variable;
  const int groups = options.num_groups, outputs = static_length_of(given, 0, "number");
  const int channels = static_length_of(given, 1, "number of channels");
  const TwoNumbers window{static_length_of(given, 2, "rows"), static_length_of(given, 3, "columns")};
  if (groups < 1 || outputs % groups != 0)
    throw ValueError(cat("conv2d: num_groups: ", outputs, " filters are not ", groups, " groups of equally many"));
  if (window.first < 1 || window.second < 1 || channels < 1) throw ShapeError("conv2d: a filter has no elements");
  const auto extent = [&](int k) { return (element(window, k) - 1) * element(options.filter_dilation, k) + 1; };
  const Variable images = with_channels(input.variable, channels * groups);
  const WindowPositions positions(surrounded(images, zeros_around(options.border_mode, {extent(0), extent(1)}), 0),
                                  window, options.subsample, options.filter_dilation, "conv2d");
  Variables parts;
  for (int i = 0; i < window.first; ++i)
    for (int j = 0; j < window.second; ++j) {
      const bool flip = options.filter_flip;
      parts.push_back(positions.under(flip ? window.first - 1 - i : i, flip ? window.second - 1 - j : j));
    }
  // [batch, groups, elements of a filter, positions]
  const Variable batch = length_of(images, 0), number = lengths::mul(positions.count(0), positions.count(1));
  const int elements = channels * int(parts.size());
  const Variable matrix =
      reshape(stack(parts, 2), Operands({batch, Operand(groups).variable, Operand(elements).variable, number}));
  const Variable rows = reshape(given, Operands({Operand(groups), Operand(outputs / groups), Operand(elements)}));
  const Variable out = matmul(rows, matrix);
  return reshape(out, Operands({batch, Operand(outputs).variable, positions.count(0), positions.count(1)}));
}

Variable pool_2d(const Operand& input, std::pair<int, int> window, const Pool2dOptions& options) {
  const LocationScope here(input.where);
  if (input.ndim() < 2)
    throw ShapeError(
        cat("pool_2d: expected at least 2 dimensions, got ", input.variable.str(), " with ", input.ndim()));
  require_at_least(window, 1, "pool_2d", "ws");
  require_at_least(options.stride, 0, "pool_2d", "stride");
  require_at_least(options.pad, 0, "pool_2d", "pad");
  if (options.pad.first >= window.first || options.pad.second >= window.second)
    throw ValueError("pool_2d: pad: expected fewer elements than the length of a window");
  const TwoNumbers stride{options.stride.first ? options.stride.first : window.first,
                          options.stride.second ? options.stride.second : window.second};
  if (is_complex(input.dtype())) throw TypeError("pool_2d: not defined for complex numbers");
  const auto windows = [&](const Variable& x, const Operand& border) {
    return WindowPositions(surrounded(x, options.pad, border), window, stride, {1, 1}, "pool_2d");
  };
  const auto total = [](const Variable& a, const Variable& b) { return add(a, b); };
  const Variable x = input.dtype() == DType::Bool ? cast(input, DType::Int64) : input.variable;
  if (options.mode == PoolMode::Max)
    return over_windows(windows(x, lowest_of(x.dtype())), window,
                        [](const Variable& a, const Variable& b) { return maximum(a, b); });
  if (options.mode == PoolMode::Sum) return over_windows(windows(x, 0), window, total);
  const Variable values = is_discrete(x.dtype()) ? cast(x, DType::Float64) : x;
  const Variable sums = over_windows(windows(values, 0), window, total);
  const bool counts_pad = options.mode == PoolMode::AverageIncludingPad || options.pad == TwoNumbers{0, 0};
  return true_div(sums, counts_pad ? cast(Operand(window.first * window.second), values.dtype())
                                   : over_windows(windows(ones_like(values), 0), window, total));
}

}  // namespace bitale
