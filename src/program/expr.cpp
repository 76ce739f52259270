#include "bitale/program/expr.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/interpret.hpp"

namespace bitale::program {

namespace {

struct CodeInfo {
  std::string_view name;
  int arity;
  std::string_view text;
};
constexpr CodeInfo code_table[] = {
#define X(name, arity, text) {#name, arity, text},
    BITALE_PROGRAM_CODES(X)
#undef X
};

std::uint32_t hash_of(const ExprNode& node, std::span<const Expr> arguments) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = (std::uint64_t(node.code) << 8 | std::uint64_t(node.dtype)) * factor;
  hash = (hash ^ hash >> 29 ^ std::uint64_t(node.payload)) * factor;
  for (auto& argument : arguments) hash = (hash ^ hash >> 29 ^ argument.id()) * factor;
  return std::uint32_t(hash >> 32);
}

// An integer as a value of its dtype: wraps as hardware does.
std::int64_t wrapped(std::int64_t value, DType dtype) {
  if (dtype == DType::Bool) return value != 0;
  return visit_dtype(dtype, [&]<class T>() { return std::int64_t(T(value)); });
}

bool is_integer_code_dtype(DType dtype) { return is_discrete(dtype); }

void check_same(Code code, Expr a, Expr b) {
  if (a.dtype() == b.dtype()) return;
  throw InternalError(
      cat("program: ", code_name(code), " of ", dtype_short_name(a.dtype()), " and ", dtype_short_name(b.dtype())));
}

Expr binary(Code code, Expr a, Expr b, DType out) {
  check_same(code, a, b);
  const Expr arguments[] = {a, b};
  return a.pool().make(code, out, arguments);
}
Expr binary(Code code, Expr a, Expr b) { return binary(code, a, b, a.dtype()); }
Expr unary(Code code, Expr a) { return a.pool().make(code, a.dtype(), {&a, 1}); }

// The result of an operation on two integer constants, given as payloads: T is int64, or uint64 for unsigned dtypes,
// whose payloads have the order of the values only as such. None where it is not folded.
template <class T>
std::optional<std::int64_t> fold_integers(Code code, T a, T b) {
  const auto ua = std::uint64_t(a), ub = std::uint64_t(b);
  const bool overflows = std::is_signed_v<T> && b == T(-1);
  switch (code) {
    case Code::add: return std::int64_t(ua + ub);
    case Code::sub: return std::int64_t(ua - ub);
    case Code::mul: return std::int64_t(ua * ub);
    case Code::min: return std::int64_t(a < b ? a : b);
    case Code::max: return std::int64_t(a > b ? a : b);
    case Code::bit_and: return std::int64_t(ua & ub);
    case Code::bit_or: return std::int64_t(ua | ub);
    case Code::bit_xor: return std::int64_t(ua ^ ub);
    case Code::div: return b == 0 ? 0 : std::int64_t(overflows ? T(-ua) : T(a / b));
    case Code::rem: return b == 0 || overflows ? 0 : std::int64_t(a % b);
    case Code::eq: return a == b;
    case Code::ne: return a != b;
    case Code::lt: return a < b;
    case Code::le: return a <= b;
    case Code::gt: return a > b;
    case Code::ge: return a >= b;
    default: return std::nullopt;
  }
}

std::optional<Expr> fold_constants(Code code, Expr a, Expr b, DType out) {
  const bool is_signed = a.dtype() == DType::Bool || is_signed_int(a.dtype());
  const auto folded = is_signed ? fold_integers(code, a.payload(), b.payload())
                                : fold_integers(code, std::uint64_t(a.payload()), std::uint64_t(b.payload()));
  return folded ? std::optional(a.pool().integer(*folded, out)) : std::nullopt;
}

std::optional<Expr> fold_unary(Code code, Expr a) {
  if (!a.is_constant() || !is_discrete(a.dtype())) return {};
  const std::int64_t value = a.payload();
  const auto negative = std::int64_t(-std::uint64_t(value));
  const bool is_bool = a.dtype() == DType::Bool;
  switch (code) {
    case Code::neg: return is_bool ? std::nullopt : std::optional(a.pool().integer(negative, a.dtype()));
    case Code::abs: return is_signed_int(a.dtype()) && value < 0 ? a.pool().integer(negative, a.dtype()) : a;
    case Code::bit_not: return is_bool ? a.pool().boolean(!value) : a.pool().integer(~value, a.dtype());
    default: return {};
  }
}

// Whether two integers are the same expression up to the order of operands, as products of lengths may be. Compilers of
// exported code warn of comparisons of such a number with itself.
bool is_same_value(Expr a, Expr b, int depth = 4) {
  if (a == b) return true;
  if (depth == 0 || a.code() != b.code() || a.dtype() != b.dtype()) return false;
  const Code code = a.code();
  if (code != Code::add && code != Code::mul && code != Code::min && code != Code::max) return false;
  const auto match = [&](int first) {
    return is_same_value(a.argument(0), b.argument(first), depth - 1) &&
           is_same_value(a.argument(1), b.argument(1 - first), depth - 1);
  };
  return match(0) || match(1);
}

std::optional<Expr> fold_binary(Code code, Expr a, Expr b, DType out) {
  if (!is_discrete(a.dtype())) return {};
  if (a.is_constant() && b.is_constant()) return fold_constants(code, a, b, out);
  if (a.dtype() != DType::Bool && !is_signed_int(a.dtype())) return {};
  switch (code) {
    case Code::add:
    case Code::bit_or:
    case Code::bit_xor:
      if (a.is_constant(0)) return b;
      if (b.is_constant(0)) return a;
      if (code == Code::bit_or && out == DType::Bool && (a.is_constant() || b.is_constant()))
        return a.pool().boolean(true);
      break;
    case Code::sub:
      if (b.is_constant(0)) return a;
      if (a == b) return a.pool().integer(0, out);
      if (a.code() == Code::add && a.argument(1) == b) return a.argument(0);
      if (a.code() == Code::add && a.argument(0) == b) return a.argument(1);
      break;
    case Code::mul:
      if (a.is_constant(1) || b.is_constant(0)) return b;
      if (b.is_constant(1) || a.is_constant(0)) return a;
      break;
    case Code::div:
      if (b.is_constant(1)) return a;
      if (b.is_constant(0)) return b;  // as in the interpreter
      break;
    case Code::rem:
      if (b.is_constant(0) || b.is_constant(1)) return a.pool().integer(0, out);
      break;
    case Code::min:
    case Code::max:
      if (a == b) return a;
      break;
    case Code::bit_and:
      if (a == b) return a;
      if (a.dtype() == DType::Bool && a.is_constant(1)) return b;
      if (a.dtype() == DType::Bool && b.is_constant(1)) return a;
      break;
    case Code::eq:
    case Code::le:
    case Code::ge:
      if (is_same_value(a, b)) return a.pool().boolean(true);
      break;
    case Code::ne:
    case Code::lt:
    case Code::gt:
      if (is_same_value(a, b)) return a.pool().boolean(false);
      break;
    default: break;
  }
  return {};
}

}  // namespace

std::string_view code_name(Code code) { return code_table[int(code)].name; }
std::string_view code_text(Code code) { return code_table[int(code)].text; }

bool Expr::is_constant(std::int64_t value) const {
  return code() == Code::constant && is_integer_code_dtype(dtype()) && payload() == value;
}

Expr ExprPool::make(Code code, DType dtype, std::span<const Expr> arguments, std::int64_t payload) {
  if (arguments.size() == 1)
    if (auto folded = fold_unary(code, arguments[0])) return *folded;
  if (arguments.size() == 2)
    if (auto folded = fold_binary(code, arguments[0], arguments[1], dtype)) return *folded;
  const ExprNode wanted{code, dtype, std::uint32_t(arguments_.size()), std::uint32_t(arguments.size()), payload};
  const std::uint32_t hash = hash_of(wanted, arguments);
  const auto id = std::uint32_t(nodes_.size());
  const auto [known, is_new] = table_.insert({hash, id + 1}, [&](const Known& entry) {
    return entry.hash() == hash && is(entry.id_plus_one - 1, wanted, arguments);
  });
  if (!is_new) return Expr(this, known.id_plus_one - 1);
  nodes_.push_back(wanted);
  for (auto& argument : arguments) arguments_.push_back(argument.id());
  return Expr(this, id);
}

bool ExprPool::is(std::uint32_t id, const ExprNode& wanted, std::span<const Expr> arguments) const {
  const ExprNode& node = nodes_[id];
  if (node.code != wanted.code || node.dtype != wanted.dtype || node.payload != wanted.payload ||
      node.argument_count != wanted.argument_count)
    return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments_[node.first_argument + i] != arguments[i].id()) return false;
  return true;
}

Expr ExprPool::integer(std::int64_t value, DType dtype) {
  return make(Code::constant, dtype, {}, wrapped(value, dtype));
}

Expr ExprPool::number(double value, DType dtype) {
  return is_float(dtype) ? make(Code::constant, dtype, {}, to_bits(value, dtype)) : integer(std::int64_t(value), dtype);
}

void ExprPool::annotate_call(Expr value, std::string_view function, std::span<const Expr> arguments) {
  for (auto& argument : arguments)
    if (argument.id() >= value.id()) return;  // arguments are older than the value, so that printing terminates
  source_calls_.try_emplace(value.id(), SourceCall{function, {arguments.begin(), arguments.end()}});
}

const ExprPool::SourceCall* ExprPool::source_call(Expr value) const {
  auto found = source_calls_.find(value.id());
  return found == source_calls_.end() ? nullptr : &found->second;
}

std::int64_t ExprPool::function_id(std::string_view function) {
  std::size_t id = 0;
  while (id < functions_.size() && functions_[id] != function) ++id;
  if (id == functions_.size()) functions_.emplace_back(function);
  return std::int64_t(id);
}

Expr ExprPool::call(std::string_view function, DType dtype, std::span<const Expr> arguments) {
  return make(Code::call, dtype, arguments, function_id(function));
}

Expr ExprPool::rare_call(std::string_view function, Expr condition, Expr otherwise, std::span<const Expr> arguments) {
  std::vector<Expr> all{condition, otherwise};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return make(Code::rare_call, otherwise.dtype(), all, function_id(function));
}

Expr operator+(Expr a, Expr b) { return binary(Code::add, a, b); }
Expr operator-(Expr a, Expr b) { return binary(Code::sub, a, b); }
Expr operator*(Expr a, Expr b) { return binary(Code::mul, a, b); }
Expr operator/(Expr a, Expr b) { return binary(Code::div, a, b); }
Expr rem(Expr a, Expr b) { return binary(Code::rem, a, b); }
Expr min(Expr a, Expr b) { return binary(Code::min, a, b); }
Expr max(Expr a, Expr b) { return binary(Code::max, a, b); }
Expr copysign(Expr a, Expr b) { return binary(Code::copysign, a, b); }
Expr operator<(Expr a, Expr b) { return binary(Code::lt, a, b, DType::Bool); }
Expr operator<=(Expr a, Expr b) { return binary(Code::le, a, b, DType::Bool); }
Expr operator>(Expr a, Expr b) { return binary(Code::gt, a, b, DType::Bool); }
Expr operator>=(Expr a, Expr b) { return binary(Code::ge, a, b, DType::Bool); }
Expr equal(Expr a, Expr b) { return binary(Code::eq, a, b, DType::Bool); }
Expr not_equal(Expr a, Expr b) { return binary(Code::ne, a, b, DType::Bool); }
Expr operator&(Expr a, Expr b) { return binary(Code::bit_and, a, b); }
Expr operator|(Expr a, Expr b) { return binary(Code::bit_or, a, b); }
Expr operator^(Expr a, Expr b) { return binary(Code::bit_xor, a, b); }
Expr operator<<(Expr a, Expr b) { return binary(Code::shl, a, b); }
Expr operator>>(Expr a, Expr b) { return binary(Code::shr, a, b); }
Expr operator-(Expr a) { return unary(Code::neg, a); }
Expr operator~(Expr a) { return unary(Code::bit_not, a); }
Expr abs(Expr a) { return unary(Code::abs, a); }
Expr sqrt(Expr a) { return unary(Code::sqrt, a); }
Expr floor(Expr a) { return unary(Code::floor, a); }
Expr ceil(Expr a) { return unary(Code::ceil, a); }
Expr trunc(Expr a) { return unary(Code::trunc, a); }
Expr rint(Expr a) { return unary(Code::rint, a); }

Expr fma(Expr a, Expr b, Expr c) {
  check_same(Code::fma, a, b);
  check_same(Code::fma, a, c);
  const Expr arguments[] = {a, b, c};
  return a.pool().make(Code::fma, a.dtype(), arguments);
}

namespace {
bool may_contract(Expr product) {
  return product.code() == Code::mul && is_float(product.dtype()) && !product.pool().forbids_contraction(product);
}
}  // namespace

Expr add_contracted(Expr a, Expr b) {
  if (may_contract(a)) return fma(a.argument(0), a.argument(1), b);
  if (may_contract(b)) return fma(b.argument(0), b.argument(1), a);
  return a + b;
}

Expr sub_contracted(Expr a, Expr b) {
  if (may_contract(a)) return fma(a.argument(0), a.argument(1), -b);
  if (may_contract(b)) return fma(-b.argument(0), b.argument(1), a);
  return a - b;
}

Expr is_nan(Expr a) { return is_float(a.dtype()) ? not_equal(a, a) : a.pool().boolean(false); }

Expr select(Expr condition, Expr if_true, Expr if_false) {
  check_same(Code::select, if_true, if_false);
  if (condition.is_constant()) return condition.payload() ? if_true : if_false;
  if (if_true == if_false) return if_true;
  const Expr arguments[] = {condition, if_true, if_false};
  return condition.pool().make(Code::select, if_true.dtype(), arguments);
}
Expr select(Expr condition, Expr if_true, double if_false) {
  return select(condition, if_true, if_true.pool().number(if_false, if_true.dtype()));
}
Expr select(Expr condition, double if_true, Expr if_false) {
  return select(condition, if_false.pool().number(if_true, if_false.dtype()), if_false);
}

Expr lookup(Expr index, std::span<const double> table, DType dtype) {
  const bool fits = index.dtype() == (itemsize(dtype) == 8 ? DType::UInt64 : DType::UInt32);
  if (!fits || !std::has_single_bit(table.size())) throw InternalError("program: a table that can't be looked up");
  std::vector<Expr> arguments{index};
  for (double element : table) arguments.push_back(index.pool().number(element, dtype));
  return index.pool().make(Code::lookup, dtype, arguments);
}

namespace {

// float16 is a storage format. It is converted by arithmetic of 32 bits, as in class Half, so that emitters and
// interpreters of expressions treat it as 16 bits and nothing more.
Expr from_half(Expr a) {
  ExprPool& pool = a.pool();
  if (a.is_constant()) return pool.number(Half::from_bits(std::uint16_t(a.payload())), DType::Float32);
  const Expr bits = cast(bitcast(a, DType::UInt16), DType::UInt32);
  const Expr sign = (bits & 0x8000) << 16, rest = (bits & 0x7fff) << 13;
  const Expr scaled = bitcast(rest, DType::Float32) * std::ldexp(1.0, 112);
  const Expr magnitude = select(rest >= (0x7c00 << 13), rest | 0x7f800000, bitcast(scaled, DType::UInt32));
  return bitcast(magnitude | sign, DType::Float32);
}

Expr to_half(Expr a) {
  const Expr all = bitcast(a, DType::UInt32);
  const Expr sign = all & 0x80000000, magnitude = all & 0x7fffffff;
  const Expr small = bitcast(bitcast(magnitude, DType::Float32) + 0.5, DType::UInt32) - 0x3f000000;
  const Expr usual = (magnitude + (magnitude >> 13 & 1) - (0x38000000 - 0xfff)) >> 13;
  const Expr huge =
      select(magnitude > 0x7f800000, a.pool().integer(0x7e00, DType::UInt32), a.pool().integer(0x7c00, DType::UInt32));
  const Expr rest = select(magnitude >= 0x47800000, huge, select(magnitude < 0x38800000, small, usual));
  return bitcast(cast(rest | sign >> 16, DType::UInt16), DType::Float16);
}

// The float32 that equals the value or, if there is none, the one of its two neighbours whose last bit is set.
Expr rounded_to_odd(Expr a) {
  const Expr nearest = cast(a, DType::Float32), back = cast(nearest, DType::Float64);
  const Expr bits = bitcast(nearest, DType::UInt32);
  const Expr odd = (bits - cast(abs(back) > abs(a), DType::UInt32)) | 1;
  return bitcast(select(equal(back, a) | not_equal(a, a), bits, odd), DType::Float32);
}

}  // namespace

Expr cast(Expr a, DType dtype) {
  if (a.dtype() == dtype) return a;
  ExprPool& pool = a.pool();
  if (a.dtype() == DType::Float16) return cast(from_half(a), dtype);
  if (dtype == DType::Float16) {
    if (a.is_constant() && a.dtype() == DType::Float64) return pool.number(std::bit_cast<double>(a.payload()), dtype);
    if (a.is_constant() && a.dtype() == DType::Float32)
      return pool.number(std::bit_cast<float>(std::uint32_t(a.payload())), dtype);
    return to_half(a.dtype() == DType::Float64 ? rounded_to_odd(a) : cast(a, DType::Float32));
  }
  if (a.is_constant() && is_discrete(a.dtype())) {
    if (is_discrete(dtype)) return pool.integer(a.payload(), dtype);
    if (a.dtype() != DType::UInt64) return pool.number(double(a.payload()), dtype);
  }
  if (a.is_constant() && a.dtype() == DType::Float64 && dtype == DType::Float32)
    return pool.number(std::bit_cast<double>(a.payload()), dtype);
  if (a.is_constant() && a.dtype() == DType::Float32 && dtype == DType::Float64)
    return pool.number(double(std::bit_cast<float>(std::uint32_t(a.payload()))), dtype);
  return pool.make(Code::cast, dtype, {&a, 1});
}

Expr bitcast(Expr a, DType dtype) {
  if (a.dtype() == dtype) return a;
  if (itemsize(a.dtype()) != itemsize(dtype)) throw InternalError("program: bitcast between different sizes");
  return a.pool().make(Code::bitcast, dtype, {&a, 1});
}

Expr polynomial(Expr x, std::initializer_list<double> coefficients) {
  const std::span<const double> c(coefficients.begin(), coefficients.size());
  Expr sum = x.pool().number(c.back(), x.dtype());
  for (std::size_t i = c.size() - 1; i-- > 0;) sum = fma(sum, x, x.pool().number(c[i], x.dtype()));
  return sum;
}

namespace {
std::string name_for(std::string_view function, DType dtype) {
  return dtype == DType::Float32 ? std::string(function) + "f" : std::string(function);
}
}  // namespace

Expr math_call(std::string_view function, std::initializer_list<Expr> arguments) {
  const Expr& first = *arguments.begin();
  return first.pool().call(name_for(function, first.dtype()), first.dtype(), {arguments.begin(), arguments.size()});
}

Expr rare_math_call(std::string_view function, Expr condition, Expr otherwise, std::initializer_list<Expr> arguments) {
  return otherwise.pool().rare_call(name_for(function, otherwise.dtype()), condition, otherwise,
                                    {arguments.begin(), arguments.size()});
}

Expr combine(Combiner combiner, Expr a, Expr b) {
  switch (combiner) {
    case Combiner::add: return a + b;
    case Combiner::mul: return a * b;
    case Combiner::min: return is_float(a.dtype()) ? select(is_nan(a), a, select(b >= a, a, b)) : min(a, b);
    case Combiner::max: return is_float(a.dtype()) ? select(is_nan(a), a, select(b <= a, a, b)) : max(a, b);
    case Combiner::bit_and: return a & b;
    case Combiner::bit_or: return a | b;
  }
  throw InternalError("program: unknown combiner");
}

Expr more_extreme(Combiner combiner, Expr a, Expr b) {
  const bool real = is_float(a.dtype());
  const Expr beaten = combiner == Combiner::max ? a <= b : a >= b;
  return real ? ~beaten & equal(b, b) : ~beaten;
}

Expr identity(Combiner combiner, ExprPool& pool, DType dtype) {
  const bool low = combiner == Combiner::max;
  switch (combiner) {
    case Combiner::add:
    case Combiner::bit_or: return pool.number(0, dtype);
    case Combiner::mul: return pool.number(1, dtype);
    case Combiner::bit_and: return dtype == DType::Bool ? pool.boolean(true) : pool.integer(-1, dtype);
    case Combiner::min:
    case Combiner::max:
      if (is_float(dtype)) return pool.number(low ? -INFINITY : INFINITY, dtype);
      if (dtype == DType::Bool) return pool.boolean(!low);
      return visit_dtype(dtype, [&]<class T>() {
        return pool.integer(std::int64_t(low ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()), dtype);
      });
  }
  throw InternalError("program: unknown combiner");
}

std::string_view combiner_name(Combiner combiner) {
  constexpr std::string_view names[] = {"sum", "prod", "min", "max", "all", "any"};
  return names[int(combiner)];
}

namespace {

std::string constant_text(Expr expr) {
  const std::int64_t bits = expr.payload();
  switch (expr.dtype()) {
    case DType::Float64: return number_text(std::bit_cast<double>(bits));
    case DType::Bool: return bits ? "true" : "false";
    default: return is_float(expr.dtype()) ? number_text(float(from_bits(bits, expr.dtype()))) : std::to_string(bits);
  }
}

std::string named(std::span<const std::string> names, std::int64_t id, std::string_view prefix) {
  if (id >= 0 && std::size_t(id) < names.size() && !names[std::size_t(id)].empty()) return names[std::size_t(id)];
  return cat(prefix, id);
}

// The text of a node, from the texts of its arguments.
std::string node_text(Expr expr, std::span<const std::string> arguments, const ExprNames& names) {
  switch (expr.code()) {
    case Code::constant: return constant_text(expr);
    case Code::index: return named(names.indices, expr.payload(), "i");
    case Code::var: return cat("v", expr.payload());
    case Code::dim:
      return cat("len(", named(names.buffers, expr.payload() >> 8, "b"), ", ", expr.payload() & 0xff, ")");
    case Code::load: {
      const std::string buffer = named(names.buffers, expr.payload(), "b");
      return arguments.empty() ? buffer : cat(buffer, "[", join(arguments, ", "), "]");
    }
    case Code::call: return cat(expr.pool().function_name(expr.payload()), "(", join(arguments, ", "), ")");
    case Code::rare_call: {
      const auto rest = arguments.subspan(2);
      return cat("select(", arguments[0], ", ", expr.pool().function_name(expr.payload()), "(", join(rest, ", "), "), ",
                 arguments[1], ")");
    }
    case Code::cast: return cat(dtype_short_name(expr.dtype()), "(", arguments[0], ")");
    case Code::bitcast: return cat("bitcast_", dtype_short_name(expr.dtype()), "(", arguments[0], ")");
    case Code::neg:
    case Code::bit_not: return cat(code_text(expr.code()), arguments[0]);
    default: break;
  }
  const std::string_view text = code_text(expr.code());
  const bool infix = arguments.size() == 2 && !(text[0] >= 'a' && text[0] <= 'z');
  if (infix) return cat("(", arguments[0], " ", text, " ", arguments[1], ")");
  return cat(text, "(", join(arguments, ", "), ")");
}

}  // namespace

std::string to_string(Expr root, const ExprNames& names) {
  std::unordered_map<std::uint32_t, std::string> texts;
  std::vector<Expr> stack{root};
  constexpr std::size_t longest = 400;  // a shared sub-expression can make the text exponentially long
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (texts.count(expr.id())) {
      stack.pop_back();
      continue;
    }
    const std::size_t before = stack.size();
    const ExprPool::SourceCall* meaning = expr.pool().source_call(expr);
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < (meaning ? meaning->arguments.size() : expr.argument_count()); ++i) {
      const Expr argument = meaning ? meaning->arguments[i] : expr.argument(i);
      if (auto found = texts.find(argument.id()); found != texts.end())
        arguments.push_back(found->second);
      else
        stack.push_back(argument);
    }
    if (stack.size() != before) continue;
    std::string text =
        meaning ? cat(meaning->function, "(", join(arguments, ", "), ")") : node_text(expr, arguments, names);
    if (text.size() > longest) {
      text.resize(longest);
      text += "…";
    }
    texts[expr.id()] = std::move(text);
    stack.pop_back();
  }
  return texts[root.id()];
}

std::vector<Expr> arguments_of(Expr expr) {
  std::vector<Expr> out;
  for (std::size_t i = 0; i < expr.argument_count(); ++i) out.push_back(expr.argument(i));
  return out;
}

}  // namespace bitale::program
