// Functions of how numbers are represented: signs and neighbours of floats, shifts of integers. Signs and neighbours
// are computed on the bits of a float, so that zeros, subnormal numbers and infinities need few cases of their own.
#include <type_traits>

#include "bitale/core/error.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

// float16 is computed as float32, whose numbers are closer to each other.
ScalarTypes computed_as_stored(std::span<const DType> in) {
  const ScalarTypes types = upgrade_to_float(in);
  if (is_storage_format(types.compute))
    throw TypeError("not defined for float16, which is computed as float32: cast an operand to float32");
  return types;
}

ScalarTypes shifted_dtype(std::span<const DType> in) {
  const ScalarTypes types = discrete_upcast(in);
  return types.compute == DType::Bool ? ScalarTypes{DType::Int8, DType::Int8} : types;
}

bool is_negative(auto x) { return std::signbit(x); }

Expr expand_signbit(Args in, DType) { return copysign(in[0].pool().number(1, in[0].dtype()), in[0]) < 0; }

Variable with_sign_changed(At a) { return switch_(eq(of("signbit", a.x), of("signbit", a.y)), a.g, neg(a.g)); }

// Floats of one sign are ordered as the integers with the same bits.
Expr expand_nextafter(Args in, DType dtype) {
  const Expr &x = in[0], &y = in[1];
  const bool is_double = dtype == DType::Float64;
  const Expr bits = bitcast(x, is_double ? DType::Int64 : DType::Int32);
  const Expr next = bitcast(select(equal(y > x, x > 0), bits + 1, bits - 1), dtype);
  const Expr least = x.pool().number(is_double ? 4.9406564584124654e-324 : 1.401298464324817e-45, dtype);
  const Expr from_number = select(equal(x, 0), copysign(least, y), next);
  return select(equal(x, y), y, select(is_nan(x) | is_nan(y), x + y, from_number));
}

template <class T>
constexpr int width = 8 * int(sizeof(T));

template <class T>
T shifted_left(T x, T n) {
  if (n < 0 || n >= width<T>) return 0;
  return T(std::make_unsigned_t<T>(x) << n);
}
template <class T>
T shifted_right(T x, T n) {
  if (n < 0 || n >= width<T>) return x < 0 ? T(-1) : T(0);
  return T(x >> n);
}

// Whether the shift is by less than all bits.
Expr is_within(const Expr& n, DType dtype) { return (n >= 0) & (n < 8 * int(itemsize(dtype))); }

Expr expand_left_shift(Args in, DType dtype) { return select(is_within(in[1], dtype), in[0] << in[1], 0.0); }
Expr expand_right_shift(Args in, DType dtype) {
  const Expr none = in[0].pool().integer(0, dtype);
  const Expr beyond = is_signed_int(dtype) ? select(in[0] < 0, in[0].pool().integer(-1, dtype), none) : none;
  return select(is_within(in[1], dtype), in[0] >> in[1], beyond);
}

}  // namespace

SCALAR_OP({
    .name = "signbit",
    .title = "Signbit",
    .doc = "Whether the sign of x is negative, which tells -0.0 from 0.0; integers are converted to floats.",
    .symbol = "signbit",
    .dtypes =
        [](std::span<const DType> in) {
          return ScalarTypes{upgrade_to_float(in).compute, DType::Bool};
        },
    .loops = loops<1>(float_types, [](auto x) { return is_negative(x); }),
    .expand = expand_signbit,
    .traits = cheap | discrete_output,
    .domain = {{-2, 2}},
    .edges = {0.0, -0.0, inf, -inf},
});

SCALAR_OP({
    .name = "copysign",
    .title = "Copysign",
    .doc = "The absolute value of x with the sign of y, also where that is the sign of a zero.",
    .symbol = "copysign",
    .arity = 2,
    .dtypes = upgrade_to_float,
    .loops = loops<2>(float_types, [](auto x, auto y) { return std::copysign(x, y); }),
    .expand = [](Args in, DType) { return copysign(in[0], in[1]); },
    .partials = {with_sign_changed, zero_derivative},
    .traits = cheap | regular,
    .domain = {{0.5, 5}, {0.5, 5}},
    .edges = {0.0, -0.0, 1.0, -1.0, inf, -inf},
});

SCALAR_OP({
    .name = "nextafter",
    .title = "Nextafter",
    .doc = "The float next to x in the direction of y; y where they are equal. Not defined for float16.",
    .symbol = "nextafter",
    .arity = 2,
    .dtypes = computed_as_stored,
    .loops = loops<2>(float_types, [](auto x, auto y) { return std::nextafter(x, y); }),
    .expand = expand_nextafter,
    .partials = {[](At a) { return a.g; }, zero_derivative},
    .traits = cheap | regular,
    .domain = {{-5, 5}, {-5, 5}},
    .edges = {0.0, -0.0, 1.0, -1.0, 1e-310, inf, -inf, nan},
});

SCALAR_OP({
    .name = "left_shift",
    .title = "LeftShift",
    .doc =
        "The bits of x shifted left by y, x << y. Shifts by a negative number, or by all bits and more, give 0, as in "
        "NumPy.",
    .symbol = "<<",
    .arity = 2,
    .dtypes = shifted_dtype,
    .loops = loops<2>(integer_types, [](auto x, auto y) { return shifted_left(x, y); }),
    .expand = expand_left_shift,
    .traits = cheap | discrete_output,
    .domain = {{-9, 9}, {-2, 9}},
});

SCALAR_OP({
    .name = "right_shift",
    .title = "RightShift",
    .doc =
        "The bits of x shifted right by y, x >> y, which keeps the sign. Shifts by a negative number, or by all bits "
        "and more, give 0, or -1 of a negative x, as in NumPy.",
    .symbol = ">>",
    .arity = 2,
    .dtypes = shifted_dtype,
    .loops = loops<2>(integer_types, [](auto x, auto y) { return shifted_right(x, y); }),
    .expand = expand_right_shift,
    .traits = cheap | discrete_output,
    .domain = {{-99, 99}, {-2, 9}},
});

}  // namespace bitale::records
