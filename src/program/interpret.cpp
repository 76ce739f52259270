#include "program/interpret.hpp"

#include <bit>
#include <type_traits>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/kernels/kernels.hpp"

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

}  // namespace

std::int64_t to_bits(double value, DType dtype) {
  if (dtype == DType::Float16) return bits_of(Half(value));  // there are no kernels of it
  return evaluate(
      {.code = Code::cast, .dtype = dtype, .argument_dtype = DType::Float64, .argument_count = 1, .payload = 0},
      bits_of(value), 0, 0, 0);
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

namespace {

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

// The bits of an element in memory as a payload: integers are extended as their sign demands.
std::int64_t payload_of(std::int64_t bits, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() { return bits_of(value_of<T>(bits)); });
}

}  // namespace

std::int64_t evaluate(const Operation& operation, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d,
                      std::int64_t e) {
  const auto address = [&] { return reinterpret_cast<void*>(std::intptr_t(operation.payload)); };
  const auto called = [&](int count, std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t w) {
    return visit_dtype(operation.argument_dtype, [&]<class T>() {
      return bits_of(call<T>(address(), count, value_of<T>(x), value_of<T>(y), value_of<T>(z), value_of<T>(w)));
    });
  };
  const bool is_bool = operation.dtype == DType::Bool || operation.argument_dtype == DType::Bool;
  switch (operation.code) {
    case Code::constant: return operation.payload;
    case Code::lookup: return operation.table[std::uint64_t(a) & (operation.table.size() - 1)];
    case Code::call: return called(operation.argument_count, a, b, c, d);
    case Code::rare_call: return a ? called(operation.argument_count - 2, c, d, e, 0) : b;
    case Code::bitcast:
      if (!is_bool) return payload_of(a, operation.dtype);
      break;
    default: break;
  }
  const Code code = operation.code == Code::bitcast ? Code::cast : operation.code;
  const int all = (1 << operation.argument_count) - 1;
  const auto kernel = kernels::of_this_processor().operation(code, operation.dtype, operation.argument_dtype, all);
  if (!kernel)
    throw InternalError(
        cat("program: ", code_name(code), " of ", dtype_short_name(operation.argument_dtype), " can't be interpreted"));
  std::int64_t out = 0;
  kernel(1, &out, &a, &b, &c);
  return payload_of(out, operation.dtype);
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
