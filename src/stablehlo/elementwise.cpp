// Elementwise operations: a Program expression of elements becomes one operation on tensors per node. Behaviour that
// StableHLO leaves to the implementation, such as conversions of floats that fit no integer, is spelled out.
#include <cstring>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/math/core.hpp"
#include "stablehlo/builder.hpp"
#include "stablehlo/rejection.hpp"
#include "stablehlo/special.hpp"

namespace bitale::stablehlo {

using program::Code;

namespace {

// Operations that have exactly the meaning of the code.
std::string_view direct_operation(Code code, DType dtype) {
  const bool is_signed = is_signed_int(dtype);
  switch (code) {
    case Code::add: return "stablehlo.add";
    case Code::sub: return "stablehlo.subtract";
    case Code::mul: return "stablehlo.multiply";
    case Code::div: return "stablehlo.divide";
    case Code::rem: return "stablehlo.remainder";
    case Code::sqrt: return "stablehlo.sqrt";
    case Code::floor: return "stablehlo.floor";
    case Code::ceil: return "stablehlo.ceil";
    case Code::rint: return "stablehlo.round_nearest_even";
    case Code::bit_and: return "stablehlo.and";
    case Code::bit_or: return "stablehlo.or";
    case Code::bit_xor: return "stablehlo.xor";
    case Code::bit_not: return "stablehlo.not";
    case Code::shl: return "stablehlo.shift_left";
    case Code::shr: return is_signed ? "stablehlo.shift_right_arithmetic" : "stablehlo.shift_right_logical";
    case Code::select: return "stablehlo.select";
    case Code::bitcast: return "stablehlo.bitcast_convert";
    default: return {};
  }
}

std::string_view direction(Code code) {
  switch (code) {
    case Code::eq: return "EQ";
    case Code::ne: return "NE";
    case Code::lt: return "LT";
    case Code::le: return "LE";
    case Code::gt: return "GT";
    case Code::ge: return "GE";
    default: return {};
  }
}

// Runtime functions of scalars for which StableHLO or CHLO has an operation; names of float32 versions end in f.
std::string_view called_operation(std::string_view function) {
  constexpr std::pair<std::string_view, std::string_view> table[] = {
      {"fmod", "stablehlo.remainder"},     {"atan2", "stablehlo.atan2"},     {"bt_sin_huge", "stablehlo.sine"},
      {"bt_cos_huge", "stablehlo.cosine"}, {"bt_tan_huge", "stablehlo.tan"}, {"bt_lgamma", "chlo.lgamma"},
      {"bt_digamma", "chlo.digamma"},
  };
  for (auto& [name, operation] : table)
    if (function == name ||
        (function.size() == name.size() + 1 && function.starts_with(name) && function.back() == 'f'))
      return operation;
  return {};
}

// The loops that replace a runtime function; null if there are none.
LaneFunction lane_function(std::string_view name) {
  const LaneFunction drawn = rejection_function(name);
  return drawn ? drawn : special_function(name);
}

// Adding this constant to a float rounds it to an integer, which the lowest bits of the sum are
// (program/math/core.hpp).
bool is_shifter(Expr expr) {
  return expr.is_constant() && (expr.dtype() == DType::Float64 || expr.dtype() == DType::Float32) &&
         expr == expr.pool().number(program::math::Format(expr.dtype()).shifter(), expr.dtype());
}
bool is_shifted(Expr expr) {
  return (expr.code() == Code::add && is_shifter(expr.argument(1))) ||
         (expr.code() == Code::fma && is_shifter(expr.argument(2)));
}

// 1 - x x with one rounding. With two, as StableHLO would have it, (1 - x) (1 + x) is as accurate, and 1 - x x is not.
bool is_one_minus_square(Expr expr) {
  return expr.code() == Code::fma && expr.argument(0).code() == Code::neg &&
         expr.argument(0).argument(0) == expr.argument(1) && expr.argument(2).is_constant() &&
         expr.argument(2) == expr.pool().number(1, expr.dtype());
}

}  // namespace

TensorValue Builder::map(DType dtype, std::span<const TensorValue> in, const ElementwiseRule& rule) {
  program::ExprPool pool;
  std::vector<Expr> arguments;
  Dims lengths;
  for (auto& x : in)
    if (x.ndim() > 0) lengths = x.lengths;
  TensorValues values(in.begin(), in.end());
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (values[k].ndim() == 0 && !lengths.empty()) values[k] = broadcast(values[k], lengths, {});
    if (values[k].lengths != lengths) throw InternalError("stablehlo: elements of tensors of different lengths");
    arguments.push_back(pool.var(std::int64_t(k), in[k].dtype));
  }
  const Expr made = rule(arguments);
  if (made.dtype() != dtype)
    throw InternalError("stablehlo: an elementwise rule returns another dtype than it declares");
  return lower_expr(made, values, lengths);
}

TensorValue Builder::function(std::string_view name, std::span<const TensorValue> in) {
  if (const LaneFunction lanes = lane_function(name)) return lanes(*this, full(1, DType::Bool, in[0].lengths), in);
  return elementwise(name, in, in[0].dtype);
}

// Iterative, arguments first, because an expression may be deep.
// XLA replaces (a + c) + d by a + (c + d) for constants c and d, floats included, so that (a + c) - c would be a, not a
// rounded to an integer. Such sums are therefore written as operations that round.
TensorValue Builder::lower_expr(Expr root, std::span<const TensorValue> in, const Dims& lengths) {
  std::unordered_map<std::uint32_t, TensorValue> done;
  std::vector<Expr> left{root};
  while (!left.empty()) {
    const Expr expr = left.back();
    if (done.count(expr.id())) {
      left.pop_back();
      continue;
    }
    if (expr.code() == Code::var) {
      done[expr.id()] = in[std::size_t(expr.payload())];
      continue;
    }
    TensorValues arguments;
    const std::size_t waiting = left.size();
    for (std::size_t k = expr.argument_count(); k-- > 0;)
      if (!done.count(expr.argument(k).id())) left.push_back(expr.argument(k));
    if (left.size() != waiting) continue;
    for (std::size_t k = 0; k < expr.argument_count(); ++k) arguments.push_back(done.at(expr.argument(k).id()));
    left.pop_back();
    if (is_one_minus_square(expr)) {
      const auto one_with = [&](std::string_view name) {
        return elementwise(name, TensorValues{arguments[2], arguments[1]}, expr.dtype());
      };
      const TensorValues factors{one_with("stablehlo.subtract"), one_with("stablehlo.add")};
      done[expr.id()] = elementwise("stablehlo.multiply", factors, expr.dtype());
      continue;
    }
    const bool unshifts = expr.code() == Code::sub && is_shifter(expr.argument(1)) && is_shifted(expr.argument(0));
    if (!unshifts && !is_shifted(expr)) {
      done[expr.id()] = lower_node(expr, arguments, lengths);
      continue;
    }
    const Expr sum = unshifts ? expr.argument(0) : expr;
    TensorValue term = done.at(sum.argument(0).id());
    if (sum.code() == Code::fma)
      term = elementwise("stablehlo.multiply", TensorValues{term, done.at(sum.argument(1).id())}, term.dtype);
    term = operation("stablehlo.round_nearest_even", {&term, 1}, "", term.dtype, lengths);
    done[expr.id()] = unshifts ? term : elementwise("stablehlo.add", TensorValues{term, arguments.back()}, term.dtype);
  }
  return done.at(root.id());
}

TensorValue Builder::lower_node(Expr expr, std::span<const TensorValue> arguments, const Dims& lengths) {
  const DType dtype = expr.dtype();
  const Code code = expr.code();
  const auto number_like = [&](double value, DType of) { return full(value, of, lengths); };
  const auto binary = [&](std::string_view name, const TensorValue& a, const TensorValue& b) {
    return elementwise(name, TensorValues{a, b}, a.dtype);
  };
  const auto compare = [&](std::string_view how, const TensorValue& a, const TensorValue& b) {
    return elementwise("stablehlo.compare", TensorValues{a, b}, DType::Bool,
                       cat("comparison_direction = #stablehlo<comparison_direction ", how, ">"));
  };
  const auto select_of = [&](const TensorValue& condition, const TensorValue& a, const TensorValue& b) {
    return operation("stablehlo.select", TensorValues{condition, a, b}, "", a.dtype, a.lengths);
  };
  const auto converted = [&](const TensorValue& x, DType to) {
    return x.dtype == to ? x : operation("stablehlo.convert", {&x, 1}, "", to, x.lengths);
  };
  if (const std::string_view name = direct_operation(code, dtype); !name.empty())
    return operation(name, arguments, "", dtype, lengths);
  if (const std::string_view how = direction(code); !how.empty()) return compare(how, arguments[0], arguments[1]);
  switch (code) {
    case Code::constant: {
      const std::int64_t payload = expr.payload();
      const Array value = Array::scalar(dtype, &payload);  // its bits, of which the lowest are the element
      const TensorValue scalar = constant(value);
      return lengths.empty() ? scalar : broadcast(scalar, lengths, {});
    }
    case Code::fma:
      return binary("stablehlo.add", binary("stablehlo.multiply", arguments[0], arguments[1]), arguments[2]);
    case Code::neg:
      if (kind(dtype) == DTypeKind::UInt) return binary("stablehlo.subtract", number_like(0, dtype), arguments[0]);
      return operation("stablehlo.negate", arguments, "", dtype, lengths);
    case Code::abs:
      if (kind(dtype) == DTypeKind::UInt) return arguments[0];
      return operation("stablehlo.abs", arguments, "", dtype, lengths);
    case Code::trunc: {
      const TensorValue up = operation("stablehlo.ceil", arguments, "", dtype, lengths);
      const TensorValue down = operation("stablehlo.floor", arguments, "", dtype, lengths);
      return select_of(compare("LT", arguments[0], number_like(0, dtype)), up, down);
    }
    case Code::min: return select_of(compare("LT", arguments[0], arguments[1]), arguments[0], arguments[1]);
    case Code::max: return select_of(compare("GT", arguments[0], arguments[1]), arguments[0], arguments[1]);
    case Code::copysign: {
      const DType bits = dtype_of_size(DTypeKind::UInt, itemsize(dtype));
      const std::uint64_t sign = std::uint64_t(1) << (8 * itemsize(dtype) - 1);
      const TensorValue mask = visit_dtype(bits, [&]<class T>() {
        const T element = T(sign);
        const TensorValue scalar = constant(Array::scalar(bits, &element));
        return lengths.empty() ? scalar : broadcast(scalar, lengths, {});
      });
      const auto as_bits = [&](const TensorValue& x) {
        return operation("stablehlo.bitcast_convert", {&x, 1}, "", bits, lengths);
      };
      const TensorValue rest = operation("stablehlo.not", {&mask, 1}, "", bits, lengths);
      const TensorValue joined = binary("stablehlo.or", binary("stablehlo.and", as_bits(arguments[0]), rest),
                                        binary("stablehlo.and", as_bits(arguments[1]), mask));
      return operation("stablehlo.bitcast_convert", {&joined, 1}, "", dtype, lengths);
    }
    case Code::cast: {
      const TensorValue& x = arguments[0];
      if (dtype == DType::Bool) return compare("NE", x, number_like(0, x.dtype));
      if (!is_float(x.dtype) || !is_integer(dtype)) return converted(x, dtype);
      // As in core/convert.hpp: rounded towards zero; what does not fit is the least int32 or int64, truncated.
      const bool is_wide = itemsize(dtype) == 8 || dtype == DType::UInt32;
      const DType through = is_wide ? DType::Int64 : DType::Int32;
      const double bound = is_wide ? 0x1p63 : 0x1p31;
      const auto fitted = [&](const TensorValue& value) {
        const TensorValue up = operation("stablehlo.ceil", {&value, 1}, "", x.dtype, lengths);
        const TensorValue down = operation("stablehlo.floor", {&value, 1}, "", x.dtype, lengths);
        const TensorValue cut = select_of(compare("LT", value, number_like(0, x.dtype)), up, down);
        const TensorValue fits = binary("stablehlo.and", compare("LT", cut, number_like(bound, x.dtype)),
                                        compare("GE", cut, number_like(-bound, x.dtype)));
        const TensorValue inside = select_of(fits, cut, number_like(0, x.dtype));
        return select_of(fits, converted(inside, through), number_like(-bound, through));
      };
      if (dtype != DType::UInt64) return converted(fitted(x), dtype);
      const TensorValue is_upper = compare("GE", x, number_like(bound, x.dtype));
      const TensorValue lowered = binary("stablehlo.subtract", x, number_like(bound, x.dtype));
      const TensorValue upper = binary("stablehlo.xor", fitted(lowered), number_like(-bound, through));
      return converted(select_of(is_upper, upper, fitted(x)), dtype);
    }
    case Code::lookup: {
      const std::size_t count = arguments.size() - 1;
      Array table = Array::empty(dtype, {std::int64_t(count)});
      for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t payload = expr.argument(k + 1).payload();
        std::memcpy(static_cast<char*>(table.mutable_data()) + k * itemsize(dtype), &payload, itemsize(dtype));
      }
      const TensorValue index = converted(arguments[0], DType::UInt64);
      TensorValue position =
          converted(binary("stablehlo.and", index, number_like(double(count - 1), DType::UInt64)), DType::Int64);
      Dims with_one = lengths;
      with_one.push_back(1);
      const int axes[] = {0};
      return gather(constant(table), reshape(position, with_one), axes);
    }
    case Code::call:
    case Code::rare_call: {
      const std::string& name = expr.pool().function_name(expr.payload());
      const std::string_view known = called_operation(name);
      if (const LaneFunction lanes = lane_function(name)) {
        const bool is_rare = code == Code::rare_call;
        const TensorValue active = is_rare ? arguments[0] : full(1, DType::Bool, lengths);
        const TensorValue drawn = lanes(*this, active, arguments.subspan(is_rare ? 2 : 0));
        return is_rare ? select_of(active, drawn, arguments[1]) : drawn;
      }
      if (known.empty())
        throw NotImplementedError(cat("StableHLO has no operation for the function ", name,
                                      ", which is a call of the runtime library in native code"));
      const auto called = [&](std::span<const TensorValue> operands) {
        const TensorValue out = operation(known, operands, "", dtype, lengths);
        if (known != "chlo.digamma") return out;
        // Some versions give nan at 0, others lose its sign.
        const TensorValue size = operation("stablehlo.abs", operands, "", dtype, lengths);
        const TensorValue near_pole = binary("stablehlo.divide", number_like(-1, dtype), operands[0]);
        return select_of(compare("LT", size, number_like(program::math::Format(dtype).tiny(), dtype)), near_pole, out);
      };
      if (code == Code::call) return called(arguments);
      return select_of(arguments[0], called(arguments.subspan(2)), arguments[1]);
    }
    default: break;
  }
  throw InternalError(cat("stablehlo: an element can't be expressed by ", program::code_name(code)));
}

}  // namespace bitale::stablehlo
