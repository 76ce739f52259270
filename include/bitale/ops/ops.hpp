// The tensor functions. Names, arguments, dtype rules and broadcasting follow PyTensor; lengths broadcast only where
// they are statically 1. Each function raises TypeError or ShapeError naming the op, what was expected and what was
// given.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bitale/core/index.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

inline constexpr std::nullopt_t all_axes = std::nullopt;
// Some axes, as {0, 1} or a vector, or all of them; negative ones count from the end.
class Axes : public std::optional<std::vector<int>> {
 public:
  Axes() = default;
  Axes(std::nullopt_t) {}
  Axes(int axis) : Axes{axis} {}
  Axes(bool) = delete;  // which would be axis 0 or 1
  Axes(std::optional<int> axis) {
    if (axis) emplace(1, *axis);
  }
  Axes(std::vector<int> axes) : optional(std::move(axes)) {}
  Axes(std::initializer_list<int> axes) : optional(std::vector<int>(axes)) {}
};

// Whether reduced axes stay, with length 1.
enum class KeepDims : bool { No, Yes };

// ---- leaves -------------------------------------------------------------------------------------------------------
// dtype defaults to config.floatX.
Variable tensor(std::string name, DType dtype, const Dims& shape);
Variable scalar(std::string name = {}, std::optional<DType> dtype = {});
Variable vector(std::string name = {}, std::optional<DType> dtype = {});
Variable matrix(std::string name = {}, std::optional<DType> dtype = {});
Variable tensor3(std::string name = {}, std::optional<DType> dtype = {});
Variable tensor4(std::string name = {}, std::optional<DType> dtype = {});
Variable row(std::string name = {}, std::optional<DType> dtype = {});
Variable col(std::string name = {}, std::optional<DType> dtype = {});
// int64 versions of the above, and named dtypes as PyTensor's lvector, dmatrix, ...; tensor() constructs any dtype.
Variable lscalar(std::string name = {});
Variable lvector(std::string name = {});
Variable lmatrix(std::string name = {});
Variable dscalar(std::string name = {});
Variable dvector(std::string name = {});
Variable dmatrix(std::string name = {});
Variable fscalar(std::string name = {});
Variable fvector(std::string name = {});
Variable fmatrix(std::string name = {});

// ---- elementwise, one operand ---------------------------------------------------------------------------------------
// clang-format off
#define BITALE_UNARY_FUNCTIONS(X)                                                                                    \
  X(neg) X(abs) X(sign) X(sqr) X(sqrt) X(reciprocal) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p)        \
  X(sin) X(cos) X(tan) X(arcsin) X(arccos) X(arctan) X(sinh) X(cosh) X(tanh) X(arcsinh) X(arccosh) X(arctanh)        \
  X(sigmoid) X(softplus) X(log1mexp) X(erf) X(erfc) X(erfcx) X(erfinv) X(erfcinv) X(ndtr) X(log_ndtr) X(gamma)       \
  X(gammaln) X(psi) X(tri_gamma) X(cbrt) X(floor) X(ceil) X(round) X(trunc) X(invert) X(isnan) X(isinf)
// clang-format on
#define BITALE_DECLARE(name) Variable name(const Operand& x);
BITALE_UNARY_FUNCTIONS(BITALE_DECLARE)
#undef BITALE_DECLARE

// ---- elementwise, two operands --------------------------------------------------------------------------------------
// clang-format off
#define BITALE_BINARY_FUNCTIONS(X)                                                                                   \
  X(add) X(sub) X(mul) X(true_div) X(int_div) X(mod) X(pow) X(arctan2) X(hypot) X(xlogy) X(xlog1py) X(maximum) X(minimum) X(eq) X(neq) X(lt)      \
  X(le) X(gt) X(ge) X(and_) X(or_) X(xor_) X(second) X(polygamma)
// clang-format on
#define BITALE_DECLARE(name) Variable name(const Operand& x, const Operand& y);
BITALE_BINARY_FUNCTIONS(BITALE_DECLARE)
#undef BITALE_DECLARE

Variable switch_(const Operand& condition, const Operand& if_true, const Operand& if_false);
inline Variable where(const Operand& condition, const Operand& if_true, const Operand& if_false) {
  return switch_(condition, if_true, if_false);
}
Variable clip(const Operand& x, const Operand& low, const Operand& high);
Variable cast(const Operand& x, DType dtype);  // itself when the dtype is the same
Variable isfinite(const Operand& x);
Variable logaddexp(const Operand& x, const Operand& y);
// Logical operations; every element but 0 counts as true.
Variable logical_and(const Operand& x, const Operand& y);
Variable logical_or(const Operand& x, const Operand& y);
Variable logical_xor(const Operand& x, const Operand& y);
Variable logical_not(const Operand& x);
// Degrees to radians, and back. Integers become floats as for other functions (exp).
Variable deg2rad(const Operand& x);
Variable rad2deg(const Operand& x);

Variable operator+(const Operand& x, const Operand& y);
Variable operator-(const Operand& x, const Operand& y);
Variable operator*(const Operand& x, const Operand& y);
Variable operator/(const Operand& x, const Operand& y);
Variable operator%(const Operand& x, const Operand& y);
Variable operator-(const Operand& x);
Variable operator<(const Operand& x, const Operand& y);
Variable operator<=(const Operand& x, const Operand& y);
Variable operator>(const Operand& x, const Operand& y);
Variable operator>=(const Operand& x, const Operand& y);
// logical_and, logical_or, logical_not, as for std::valarray: both operands are part of the expression.
Variable operator&&(const Operand& x, const Operand& y);
Variable operator||(const Operand& x, const Operand& y);
Variable operator!(const Operand& x);

// x becomes another expression, in which y is added; other handles of the old expression keep it.
Variable& operator+=(Variable& x, const Operand& y);
Variable& operator-=(Variable& x, const Operand& y);
Variable& operator*=(Variable& x, const Operand& y);
Variable& operator/=(Variable& x, const Operand& y);
Variable& operator%=(Variable& x, const Operand& y);

// With a Variable and a text, a pointer, or a range of anything but numbers, they only say what would fit.
template <class T>
concept UnfitOperand =
    !std::is_convertible_v<const T&, Operand> && !std::is_convertible_v<const T&, Variable> &&
    (std::is_pointer_v<std::decay_t<T>> || std::is_convertible_v<const T&, std::string_view> || IterableRange<T>);
template <class T>
inline constexpr bool is_accepted = false;  // for the assertion, which is made where one of these operators is used
#define BITALE_REFUSED(op)                                                                                \
  template <UnfitOperand T>                                                                               \
  Variable operator op(const Variable& x, const T&) {                                                     \
    static_assert(is_accepted<T>, "an operand is a Variable, a number, an Array, or a range of numbers"); \
    return x;                                                                                             \
  }                                                                                                       \
  template <UnfitOperand T>                                                                               \
  Variable operator op(const T&, const Variable& y) {                                                     \
    static_assert(is_accepted<T>, "an operand is a Variable, a number, an Array, or a range of numbers"); \
    return y;                                                                                             \
  }
BITALE_REFUSED(+)
BITALE_REFUSED(-)
BITALE_REFUSED(*)
BITALE_REFUSED(/)
BITALE_REFUSED(%)
BITALE_REFUSED(<)
BITALE_REFUSED(<=)
BITALE_REFUSED(>)
BITALE_REFUSED(>=)
BITALE_REFUSED(&&)
BITALE_REFUSED(||)
#undef BITALE_REFUSED

// ---- reductions -----------------------------------------------------------------------------------------------------
// Sums and products of floats in an integer dtype are computed as floats, and then converted.
Variable sum(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
             std::optional<DType> dtype = {});
Variable prod(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
              std::optional<DType> dtype = {});
Variable max(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable min(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable all(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable any(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
// dtype: that of the sum that is divided; with an integer dtype the mean is float64.
Variable mean(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No,
              std::optional<DType> dtype = {});
Variable var(const Operand& x, const Axes& axis = all_axes, int ddof = 0, KeepDims keepdims = KeepDims::No);
Variable std_(const Operand& x, const Axes& axis = all_axes, int ddof = 0, KeepDims keepdims = KeepDims::No);
// Over several axes: the position among their elements, flattened in x's order of the axes; over all: of the flattened
// x.
Variable argmax(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable argmin(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable logsumexp(const Operand& x, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
Variable softmax(const Operand& x, const Axes& axis = all_axes);
Variable log_softmax(const Operand& x, const Axes& axis = all_axes);

// ---- shape ----------------------------------------------------------------------------------------------------------
// Entries of `order` are input dimensions or new_axis; input dimensions left out must have static length 1.
inline constexpr int new_axis = -1;
Variable dimshuffle(const Operand& x, const std::vector<int>& order);
Variable transpose(const Operand& x, const Axes& axes = all_axes);  // all: reversed
Variable expand_dims(const Operand& x, int axis);
Variable squeeze(const Operand& x, const Axes& axis = all_axes);
Variable shape(const Operand& x);              // int64 vector
Variable shape_i(const Operand& x, int axis);  // int64 scalar
Variable size(const Operand& x);
Variable reshape(const Operand& x, const Operand& new_shape, std::optional<int> ndim = {});  // one -1 allowed
Variable reshape(const Operand& x, const Operands& new_shape);
Variable flatten(const Operand& x, int ndim = 1);
Variable specify_shape(const Operand& x, const std::vector<std::optional<Operand>>& lengths);
Variable alloc(const Operand& value, const Operands& shape);
Variable broadcast_to(const Operand& x, const Operands& shape);
Variable zeros_like(const Operand& x, std::optional<DType> dtype = {});
Variable ones_like(const Operand& x, std::optional<DType> dtype = {});
Variable zeros(const Operands& shape, std::optional<DType> dtype = {});
Variable ones(const Operands& shape, std::optional<DType> dtype = {});
Variable make_vector(const Operands& scalars, std::optional<DType> dtype = {});
Variable join(int axis, const Operands& tensors);
Variable concatenate(const Operands& tensors, int axis = 0);
Variable stack(const Operands& tensors, int axis = 0);
Variable arange(const Operand& stop);
Variable arange(const Operand& start, const Operand& stop, const Operand& step, std::optional<DType> dtype = {});

// ---- indexing -------------------------------------------------------------------------------------------------------
// x[start:stop:step] of one dimension; an absent entry is Python's None.
struct Slice {
  std::optional<Operand> start = {}, stop = {}, step = {};
};
// slice(1, n), slice({}, n), slice(i, j, -1), where a bound is an expression (core/index.hpp: where all are numbers).
template <class Start = Absent, class Stop = Absent, class Step = Absent>
requires(!(NumericBound<Start> && NumericBound<Stop> && NumericBound<Step>)) Slice
    slice(const Start& start, const Stop& stop, const Step& step = {}) {
  const auto bound = []<class T>(const T& value) -> std::optional<Operand> {
    if constexpr (std::is_same_v<T, Absent>)
      return std::nullopt;
    else
      return Operand(value);
  };
  return {bound(start), bound(stop), bound(step)};
}
// An integer (symbolic or not) drops its dimension; a slice keeps it; an integer tensor gathers; a boolean mask, which
// is as long as the dimensions it covers, selects.
class IndexItem {
 public:
  enum class Kind { Integer, Range, Tensor, Mask, NewAxis, Ellipsis };
  // IndexError for other dtypes than integers and bool.
  IndexItem(const Operand& index);
  template <class T>
  requires std::constructible_from<Operand, const T&, std::source_location> IndexItem(
      const T& given_index, std::source_location where = std::source_location::current())
      : IndexItem(Operand(given_index, where)) {}
  IndexItem(Slice given_slice) : kind(Kind::Range), slice(std::move(given_slice)) {}
  IndexItem(const IndexRange& range);
  IndexItem(bitale::NewAxis) : kind(Kind::NewAxis) {}
  IndexItem(bitale::Ellipsis) : kind(Kind::Ellipsis) {}
  Kind kind;
  Slice slice;
  std::optional<Operand> index;
};
// What indexes a tensor: one item, or {some}, for its leading dimensions.
class IndexItems : public std::vector<IndexItem> {
 public:
  using Source = std::source_location;
  IndexItems(std::vector<IndexItem> items, Source given_where = Source::current())
      : vector(std::move(items)), where(given_where) {}
  IndexItems(std::initializer_list<IndexItem> items, Source given_where = Source::current())
      : vector(items), where(given_where) {}
  template <class T>
  requires std::constructible_from<Operand, const T&, Source> IndexItems(const T& item,
                                                                         Source given_where = Source::current())
      : vector(1, IndexItem(item, given_where)), where(given_where) {}
  template <class T>
  requires(std::constructible_from<IndexItem, const T&> && !std::constructible_from<Operand, const T&, Source>)
      IndexItems(const T& item, Source given_where = Source::current())
      : vector(1, IndexItem(item)), where(given_where) {}

  Location where;
};
// x[items...] with NumPy's meaning for integers, slices, newaxis, Ellipsis, integer tensors and masks. IndexError where
// a mask has another length than the dimension it covers: now, where both are known, else when the function is called.
Variable subtensor(const Operand& x, const IndexItems& items);
// A copy of x in which x[items...] is y (or has y added; repeated indices add up).
Variable set_subtensor(const Operand& x, const IndexItems& items, const Operand& y);
Variable inc_subtensor(const Operand& x, const IndexItems& items, const Operand& y);
// The elements at positions along an axis. A position beyond the ends raises an IndexError (Raise), is clipped to that
// end (Clip; negative ones are before the beginning), or wraps around (Wrap). IndexError where the axis has no
// elements.
enum class TakeMode { Raise, Clip, Wrap };
Variable take(const Operand& x, const Operand& indices, int axis = 0, TakeMode mode = TakeMode::Raise);
// The positions of the elements that are not 0, in row-major order: a vector per dimension. ValueError for a scalar.
Variables nonzero(const Operand& x);
Variable flatnonzero(const Operand& x);     // the same, of the flattened x
Variable nonzero_values(const Operand& x);  // those elements
// The elements along an axis at which a vector is not 0; nullopt: of the flattened x.
Variable compress(const Operand& condition, const Operand& x, std::optional<int> axis = {});

// ---- products -------------------------------------------------------------------------------------------------------
Variable dot(const Operand& x, const Operand& y);     // numpy.dot for up to 2 dimensions
Variable matmul(const Operand& x, const Operand& y);  // numpy.matmul
Variable outer(const Operand& x, const Operand& y);

// ---- gradient control -----------------------------------------------------------------------------------------------
Variable zero_grad(const Operand& x);          // x, with gradient zero
Variable disconnected_grad(const Operand& x);  // x, with no connection

}  // namespace bitale
