#include "program/interpret.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::program {

namespace {

template <class T>
T value_of(std::int64_t bits) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(std::uint32_t(bits));
  else if constexpr (is_half<T>)
    return T::from_bits(std::uint16_t(bits));
  else if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else
    return T(bits);
}

template <class T>
std::int64_t bits_of(T value) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::int64_t>(value);
  else if constexpr (std::is_same_v<T, float>)
    return std::int64_t(std::bit_cast<std::uint32_t>(value));
  else if constexpr (is_half<T>)
    return value.bits();
  else
    return std::int64_t(value);
}

// C's conversion; what does not fit an integer becomes its smallest value.
template <class To, class From>
To convert(From value) {
  if constexpr (is_half<From>) {
    return convert<To>(float(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const bool fits = double(value)<limit&& double(value)> double(std::numeric_limits<To>::min()) - 1;
    const bool exact_minimum = double(value) == double(std::numeric_limits<To>::min());
    return fits || exact_minimum ? To(value) : std::numeric_limits<To>::min();
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else {
    return To(value);
  }
}

template <class T>
T shifted_left(T x, T by) {
  return T(std::uint64_t(x) << (std::uint64_t(by) & 63));
}

[[noreturn]] void refuse(Code code, DType dtype) {
  throw InternalError(cat("program: ", code_name(code), " of ", dtype_short_name(dtype), " can't be interpreted"));
}

template <class T>
T float_operation(Code code, T x, T y, T z) {
  switch (code) {
    case Code::add: return x + y;
    case Code::sub: return x - y;
    case Code::mul: return x * y;
    case Code::div: return x / y;
    case Code::rem: return std::fmod(x, y);
    case Code::fma: return std::fma(x, y, z);
    case Code::neg: return -x;
    case Code::abs: return std::fabs(x);
    case Code::sqrt: return std::sqrt(x);
    case Code::floor: return std::floor(x);
    case Code::ceil: return std::ceil(x);
    case Code::trunc: return std::trunc(x);
    case Code::rint: return std::nearbyint(x);
    case Code::copysign: return std::copysign(x, y);
    case Code::min: return x < y ? x : y;
    case Code::max: return x > y ? x : y;
    default: refuse(code, dtype_of<T>::value);
  }
}

template <class T>
T integer_operation(Code code, T x, T y, T z) {
  const auto a = std::uint64_t(x), b = std::uint64_t(y);
  const bool overflows = std::is_signed_v<T> && y == T(-1);
  switch (code) {
    case Code::add: return T(a + b);
    case Code::sub: return T(a - b);
    case Code::mul: return T(a * b);
    case Code::div: return y == 0 ? T(0) : overflows ? T(-a) : T(x / y);
    case Code::rem: return y == 0 || overflows ? T(0) : T(x % y);
    case Code::fma: return T(a * b + std::uint64_t(z));
    case Code::neg: return T(-a);
    case Code::abs: return x < 0 ? T(-a) : x;
    case Code::min: return x < y ? x : y;
    case Code::max: return x > y ? x : y;
    case Code::bit_and: return T(x & y);
    case Code::bit_or: return T(x | y);
    case Code::bit_xor: return T(x ^ y);
    case Code::bit_not: return T(~x);
    case Code::shl: return shifted_left(x, y);
    case Code::shr: return T(x >> (b & (8 * sizeof(T) - 1)));
    default: refuse(code, dtype_of<T>::value);
  }
}

bool bool_operation(Code code, bool x, bool y) {
  switch (code) {
    case Code::bit_and: return x && y;
    case Code::bit_or: return x || y;
    case Code::bit_xor: return x != y;
    case Code::bit_not: return !x;
    default: refuse(code, DType::Bool);
  }
}

template <class T>
bool compare(Code code, T x, T y) {
  switch (code) {
    case Code::eq: return x == y;
    case Code::ne: return x != y;
    case Code::lt: return x < y;
    case Code::le: return x <= y;
    case Code::gt: return x > y;
    default: return x >= y;
  }
}

bool is_comparison(Code code) { return code >= Code::eq && code <= Code::ge; }

// Calls through the address with arguments and result of one type.
template <class T>
T call(void* address, int count, T x, T y, T z, T w) {
  switch (count) {
    case 1: return reinterpret_cast<T (*)(T)>(address)(x);
    case 2: return reinterpret_cast<T (*)(T, T)>(address)(x, y);
    case 3: return reinterpret_cast<T (*)(T, T, T)>(address)(x, y, z);
    default: return reinterpret_cast<T (*)(T, T, T, T)>(address)(x, y, z, w);
  }
}

}  // namespace

std::int64_t to_bits(double value, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() { return bits_of(convert<T>(value)); });
}

double from_bits(std::int64_t bits, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() { return double(value_of<T>(bits)); });
}

Interpreter::Interpreter(Expr root, std::span<const Expr> variables, FindFunction find) : dtype_(root.dtype()) {
  std::vector<int> slots(root.pool().size(), -1);  // by node
  for (auto& variable : variables) {
    if (slots[variable.id()] < 0) slots[variable.id()] = slot_count_++;
    variable_slots_.push_back(slots[variable.id()]);
    variable_dtypes_.push_back(variable.dtype());
  }
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    const Expr expr = stack.back();
    const std::size_t before = stack.size();
    if (slots[expr.id()] < 0)
      for (std::size_t i = 0; i < expr.argument_count(); ++i)
        if (slots[expr.argument(i).id()] < 0) stack.push_back(expr.argument(i));
    if (stack.size() != before) continue;
    if (slots[expr.id()] < 0) add(expr, slots, find);
    stack.pop_back();
  }
  root_slot_ = slots[root.id()];
}

Operation operation_of(Expr expr, FindFunction find) {
  Operation out{.code = expr.code(),
                .dtype = expr.dtype(),
                .argument_dtype = expr.dtype(),
                .argument_count = int(expr.argument_count()),
                .payload = expr.payload()};
  if (out.code == Code::lookup) {
    for (std::size_t i = 1; i < expr.argument_count(); ++i) out.table.push_back(expr.argument(i).payload());
    out.argument_count = 1;
  }
  const bool reads_memory = out.code == Code::load || out.code == Code::index || out.code == Code::dim;
  if (reads_memory || out.code == Code::var || out.argument_count > 5)
    throw InternalError(cat("program: ", code_name(out.code), " can't be interpreted"));
  const bool is_rare = out.code == Code::rare_call;  // its first argument is the condition
  if (out.argument_count) out.argument_dtype = expr.argument(is_rare ? 1 : 0).dtype();
  if (out.code == Code::call || is_rare) {
    void* address = find ? find(expr.pool().function_name(out.payload)) : nullptr;
    if (!address) throw InternalError(cat("program: no function ", expr.pool().function_name(out.payload)));
    out.payload = std::int64_t(reinterpret_cast<std::intptr_t>(address));
  }
  return out;
}

std::int64_t evaluate(const Operation& operation, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d,
                      std::int64_t e) {
  const auto address = [&] { return reinterpret_cast<void*>(std::intptr_t(operation.payload)); };
  switch (operation.code) {
    case Code::constant: return operation.payload;
    case Code::select: return a ? b : c;
    case Code::lookup: return operation.table[std::uint64_t(a) & (operation.table.size() - 1)];
    case Code::rare_call:
      return !a ? b : visit_dtype(operation.argument_dtype, [&]<class T>() {
        return bits_of(
            call<T>(address(), operation.argument_count - 2, value_of<T>(c), value_of<T>(d), value_of<T>(e), T()));
      });
    case Code::bitcast:
      return visit_dtype(operation.dtype, [&]<class T>() {
        if constexpr (std::is_same_v<T, float>)
          return std::int64_t(std::uint32_t(a));
        else if constexpr (std::is_same_v<T, double> || is_half<T>)
          return a;
        else
          return bits_of(T(a));
      });
    default: break;
  }
  return visit_dtype(operation.argument_dtype, [&]<class T>() -> std::int64_t {
    const Code code = operation.code;
    if constexpr (is_half<T>)
      refuse(code, operation.argument_dtype);  // converted to float32 and back by integer arithmetic
    else {
      const T x = value_of<T>(a);
      if (code == Code::cast) return visit_dtype(operation.dtype, [&]<class To>() { return bits_of(convert<To>(x)); });
      const T y = value_of<T>(b), z = value_of<T>(c);
      if (is_comparison(code)) return compare(code, x, y);
      if (code == Code::call) return bits_of(call<T>(address(), operation.argument_count, x, y, z, value_of<T>(d)));
      if constexpr (std::is_same_v<T, bool>)
        return bool_operation(code, x, y);
      else if constexpr (std::is_floating_point_v<T>)
        return bits_of(float_operation(code, x, y, z));
      else
        return bits_of(integer_operation(code, x, y, z));
    }
  });
}

void Interpreter::add(Expr expr, std::vector<int>& slots, FindFunction find) {
  Step step{.operation = operation_of(expr, find), .arguments = {0, 0, 0, 0, 0}, .out = slot_count_};
  for (int i = 0; i < step.operation.argument_count; ++i) step.arguments[i] = slots[expr.argument(std::size_t(i)).id()];
  slots[expr.id()] = slot_count_++;
  if (step.operation.code == Code::constant)
    constants_.emplace_back(step.out, step.operation.payload);
  else
    steps_.push_back(std::move(step));
}

std::int64_t Interpreter::bits(std::span<const std::int64_t> values) const {
  std::vector<std::int64_t> slots(std::size_t(slot_count_), 0);
  for (auto& [slot, value] : constants_) slots[std::size_t(slot)] = value;
  for (std::size_t i = 0; i < values.size(); ++i) slots[std::size_t(variable_slots_[i])] = values[i];
  const auto at = [&](int slot) { return slots[std::size_t(slot)]; };  // slot 0 where there is no such argument
  for (auto& step : steps_) {
    const auto& [a, b, c, d, e] = step.arguments;
    slots[std::size_t(step.out)] = evaluate(step.operation, at(a), at(b), at(c), at(d), at(e));
  }
  return slots[std::size_t(root_slot_)];
}

double Interpreter::operator()(std::span<const double> values) const {
  std::vector<std::int64_t> payloads;
  for (std::size_t i = 0; i < values.size(); ++i) payloads.push_back(to_bits(values[i], variable_dtypes_[i]));
  return from_bits(bits(payloads), dtype_);
}

}  // namespace bitale::program
