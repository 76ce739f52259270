// Helpers for the records of scalar ops: dtype rules, loops over element types, and arithmetic on integers that wraps
// and never traps.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "bitale/ops/ops.hpp"
#include "bitale/program/expr.hpp"
#include "core/limits.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "ops/scalar/complex.hpp"
#include "program/math/math.hpp"

namespace bitale::records {

using program::Expr;
using program::math_call;
using Args = std::span<const Expr>;
using At = const ChainPoint&;
namespace math = program::math;

// ---- dtype rules (PyTensor's names) ----------------------------------------
ScalarTypes upcast_out(std::span<const DType> in);
ScalarTypes upcast_out_nobool(std::span<const DType> in);
ScalarTypes upcast_out_min8(std::span<const DType> in);   // bool becomes int8
ScalarTypes upgrade_to_float(std::span<const DType> in);  // small integers become float32, others float64
ScalarTypes float_quotient(std::span<const DType> in);    // of discrete operands: floatX
ScalarTypes compared(std::span<const DType> in);          // bool
ScalarTypes discrete_upcast(std::span<const DType> in);   // TypeError for floats

// ---- loops ----------------------------------------
template <class... T>
struct Types {};
template <class... A, class... B>
constexpr Types<A..., B...> operator+(Types<A...>, Types<B...>) {
  return {};
}

inline constexpr Types<bool> bool_type;
#define X(id, name, suffix, T, ...) +Types<T>()
inline constexpr auto integer_types = Types<>() BITALE_INTEGER_DTYPES(X);
#undef X
inline constexpr Types<float, double> float_types;
inline constexpr auto discrete_types = bool_type + integer_types;
inline constexpr auto number_types = integer_types + float_types;
inline constexpr auto all_types = bool_type + number_types;

template <class T, bool has_condition, std::size_t input>
using InputType = std::conditional_t<has_condition && input == 0, bool, T>;

template <class F, class T, bool has_condition, std::size_t... I>
struct Loop {
  using Value = decltype(std::declval<F>()(std::declval<InputType<T, has_condition, I>>()...));
  using Out = std::conditional_t<std::is_same_v<Value, bool> || is_complex_type<T>, Value, T>;

  static void run(std::int64_t n, const char* const* in, const std::int64_t* strides, char* out, std::int64_t stride) {
    const bool packed = ((strides[I] == sizeof(InputType<T, has_condition, I>)) && ...) && stride == sizeof(Out);
    if (packed)
      return each(n, in, out, stride,
                  std::integral_constant<std::int64_t, sizeof(InputType<T, has_condition, I>)>()...);
    each(n, in, out, stride, strides[I]...);
  }

  template <class... Stride>
  static void each(std::int64_t n, const char* const* in, char* out, std::int64_t out_stride, Stride... strides) {
    for (std::int64_t k = 0; k < n; ++k)
      *reinterpret_cast<Out*>(out + k * out_stride) =
          static_cast<Out>(F{}(*reinterpret_cast<const InputType<T, has_condition, I>*>(in[I] + k * strides)...));
  }
};

template <class F, bool has_condition, class T, std::size_t... I>
void add_loop(ScalarLoops& to, std::index_sequence<I...>) {
  using L = Loop<F, T, has_condition, I...>;
  const auto slot = std::size_t(dtype_of<T>::value);
  to.run[slot] = &L::run;
  to.out[slot] = dtype_of<typename L::Out>::value;
}

// Loops of a stateless function over the element types for which it is defined.
template <int arity, bool has_condition = false, class... T, class F>
ScalarLoops loops(Types<T...>, F) {
  ScalarLoops out;
  (add_loop<F, has_condition, T>(out, std::make_index_sequence<std::size_t(arity)>()), ...);
  return out;
}

// Applies an elementwise function by its name, for derivatives.
template <class... V>
Variable of(const char* name, const V&... in) {
  const Variable inputs[] = {in...};
  return apply_elemwise(name, inputs);
}

// Applies a function of doubles, for a loop over any float type.
template <class F, class T, class... Rest>
T through_double(F f, T x, Rest... rest) {
  return T(f(double(x), double(rest)...));
}

// ---- integers that wrap ----------------------------------------
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;

template <class T>
T add_values(T x, T y) {
  if constexpr (is_real<T>)
    return x + y;
  else if constexpr (is_bool<T>)
    return x || y;
  else
    return T(std::uint64_t(x) + std::uint64_t(y));
}
template <class T>
T sub_values(T x, T y) {
  if constexpr (is_real<T>)
    return x - y;
  else
    return T(std::uint64_t(x) - std::uint64_t(y));
}
template <class T>
T mul_values(T x, T y) {
  if constexpr (is_real<T>)
    return x * y;
  else if constexpr (is_bool<T>)
    return x && y;
  else
    return T(std::uint64_t(x) * std::uint64_t(y));
}

}  // namespace bitale::records
