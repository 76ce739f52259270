// Expr: a typed scalar expression of the loop-level IR. Expressions are hash-consed nodes of an ExprPool: equal
// expressions are the same node, so common sub-expressions are shared by construction. Building folds integer
// arithmetic and trivial selects; floating-point arithmetic is kept as written.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bitale/core/dtype.hpp"
#include "bitale/core/flat_table.hpp"
#include "bitale/core/small_vector.hpp"

namespace bitale::program {

// name, number of arguments (-1: any), how it prints: infix text or function name
// clang-format off
#define BITALE_PROGRAM_CODES(X)                                                                                        \
  X(constant, 0, "")                                                                                                   \
  X(index, 0, "")      /* loop variable `payload` */                                                                   \
  X(dim, 0, "")        /* length of axis (payload & 0xff) of buffer (payload >> 8) */                                  \
  X(var, 0, "")        /* scalar variable `payload`: a loop's carried value, or a named value */                       \
  X(load, -1, "")      /* element of buffer `payload` at the argument indices */                                       \
  X(call, -1, "")      /* pure runtime function `payload` of scalars */                                                \
  X(rare_call, -1, "") /* condition, otherwise, scalars: the call where the condition holds, seldom; else otherwise */ \
  X(add, 2, "+") X(sub, 2, "-") X(mul, 2, "*") X(div, 2, "/") /* C's division: integers truncate */                    \
  X(rem, 2, "rem")     /* C's remainder, sign of the dividend */                                                       \
  X(fma, 3, "fma") X(neg, 1, "-") X(abs, 1, "abs") X(sqrt, 1, "sqrt")                                                  \
  X(floor, 1, "floor") X(ceil, 1, "ceil") X(trunc, 1, "trunc") X(rint, 1, "rint") X(copysign, 2, "copysign")           \
  X(min, 2, "min") X(max, 2, "max")          /* a < b ? a : b and a > b ? a : b */                                     \
  X(bit_and, 2, "&") X(bit_or, 2, "|") X(bit_xor, 2, "^") X(bit_not, 1, "~") X(shl, 2, "<<") X(shr, 2, ">>")           \
  X(eq, 2, "==") X(ne, 2, "!=") X(lt, 2, "<") X(le, 2, "<=") X(gt, 2, ">") X(ge, 2, ">=") /* ordered; ne unordered */  \
  X(lookup, -1, "lookup")  /* unsigned i, constants: the constant at i modulo their number, a power of two */           \
  X(select, 3, "select") X(cast, 1, "cast")  /* C's; what does not fit an int32 or int64 is its minimum, int8 and int16 are an int32's low bits */ \
  X(bitcast, 1, "bitcast")
// clang-format on

enum class Code : std::uint8_t {
#define BITALE_PROGRAM_CODE(name, arity, text) name,
  BITALE_PROGRAM_CODES(BITALE_PROGRAM_CODE)
#undef BITALE_PROGRAM_CODE
};
std::string_view code_name(Code code);
std::string_view code_text(Code code);

class ExprPool;

struct ExprNode {
  Code code;
  DType dtype;
  std::uint32_t first_argument = 0;
  std::uint32_t argument_count = 0;
  std::int64_t payload = 0;  // constants: the value's bits (floats), or the integer
};

// A handle; valid as long as its pool.
class Expr {
 public:
  Expr() = default;
  Expr(ExprPool* pool, std::uint32_t id) : pool_(pool), id_(id) {}
  ExprPool& pool() const { return *pool_; }
  std::uint32_t id() const { return id_; }
  const ExprNode& node() const;
  Code code() const { return node().code; }
  DType dtype() const { return node().dtype; }
  std::int64_t payload() const { return node().payload; }
  std::size_t argument_count() const { return node().argument_count; }
  Expr argument(std::size_t i) const;
  bool is_constant() const { return code() == Code::constant; }
  bool is_constant(std::int64_t value) const;  // an integer constant of that value
  bool defined() const { return pool_ != nullptr; }
  friend bool operator==(const Expr& a, const Expr& b) { return a.id_ == b.id_ && a.pool_ == b.pool_; }

 private:
  ExprPool* pool_ = nullptr;
  std::uint32_t id_ = 0;
};

class ExprPool {
 public:
  ExprPool() = default;
  ExprPool(const ExprPool&) = delete;
  ExprPool& operator=(const ExprPool&) = delete;

  Expr make(Code code, DType dtype, std::span<const Expr> arguments, std::int64_t payload = 0);
  Expr integer(std::int64_t value, DType dtype = DType::Int64);
  Expr number(double value, DType dtype);  // rounded to the dtype; integers and bool too
  Expr boolean(bool value) { return integer(value, DType::Bool); }
  Expr index(std::int64_t id) { return make(Code::index, DType::Int64, {}, id); }
  Expr var(std::int64_t id, DType dtype) { return make(Code::var, dtype, {}, id); }
  Expr dim(std::int64_t buffer, int axis) { return make(Code::dim, DType::Int64, {}, buffer << 8 | axis); }
  Expr load(std::int64_t buffer, DType dtype, std::span<const Expr> at) { return make(Code::load, dtype, at, buffer); }
  // A pure runtime function of scalars (double(double), or float versions), named as in runtime/functions.hpp.
  Expr call(std::string_view function, DType dtype, std::span<const Expr> arguments);
  Expr rare_call(std::string_view function, Expr condition, Expr otherwise, std::span<const Expr> arguments);
  const std::string& function_name(std::int64_t id) const { return functions_[std::size_t(id)]; }

  // Declares that the rounded value of `expr` is used as such: it must not be contracted with a sum.
  void forbid_contraction(Expr expr) { rounded_.insert(expr.id()); }
  bool forbids_contraction(Expr expr) const { return rounded_.count(expr.id()) != 0; }

  // For readers only: `value` is the expansion of `function` of these arguments. Printed text shows the function.
  void annotate_call(Expr value, std::string_view function, std::span<const Expr> arguments);
  struct SourceCall {
    std::string_view function;  // its text is never freed
    std::vector<Expr> arguments;
  };
  const SourceCall* source_call(Expr value) const;

  const ExprNode& node(std::uint32_t id) const { return nodes_[id]; }
  Expr argument(const ExprNode& node, std::size_t i) { return Expr(this, arguments_[node.first_argument + i]); }
  std::size_t size() const { return nodes_.size(); }

 private:
  std::int64_t function_id(std::string_view function);
  bool is(std::uint32_t id, const ExprNode& wanted, std::span<const Expr> arguments) const;

  std::vector<ExprNode> nodes_;
  std::vector<std::uint32_t> arguments_;
  struct Known {
    std::uint32_t hash_ = 0;  // stored, so that different nodes are seldom compared
    std::uint32_t id_plus_one = 0;
    std::uint32_t hash() const { return hash_; }
    bool is_free() const { return id_plus_one == 0; }
  };
  FlatTable<Known> table_;
  std::vector<std::string> functions_;
  std::unordered_set<std::uint32_t> rounded_;
  std::unordered_map<std::uint32_t, SourceCall> source_calls_;
};

inline const ExprNode& Expr::node() const { return pool_->node(id_); }
inline Expr Expr::argument(std::size_t i) const { return pool_->argument(node(), i); }

// Operators work on equal dtypes; a number takes the dtype of the other side. Comparisons give bool.
#define BITALE_EXPR_BINARY(function)                            \
  Expr function(Expr a, Expr b);                                \
  template <class T>                                            \
  requires std::is_arithmetic_v<T> Expr function(Expr a, T b) { \
    return function(a, a.pool().number(double(b), a.dtype()));  \
  }                                                             \
  template <class T>                                            \
  requires std::is_arithmetic_v<T> Expr function(T a, Expr b) { \
    return function(b.pool().number(double(a), b.dtype()), b);  \
  }
BITALE_EXPR_BINARY(operator+)
BITALE_EXPR_BINARY(operator-)
BITALE_EXPR_BINARY(operator*)
BITALE_EXPR_BINARY(operator/)
BITALE_EXPR_BINARY(rem)
BITALE_EXPR_BINARY(min)
BITALE_EXPR_BINARY(max)
BITALE_EXPR_BINARY(copysign)
BITALE_EXPR_BINARY(operator<)
BITALE_EXPR_BINARY(operator<=)
BITALE_EXPR_BINARY(operator>)
BITALE_EXPR_BINARY(operator>=)
BITALE_EXPR_BINARY(equal)
BITALE_EXPR_BINARY(not_equal)
BITALE_EXPR_BINARY(operator&)
BITALE_EXPR_BINARY(operator|)
BITALE_EXPR_BINARY(operator^)
BITALE_EXPR_BINARY(operator<<)
BITALE_EXPR_BINARY(operator>>)
#undef BITALE_EXPR_BINARY
Expr operator-(Expr a);
Expr operator~(Expr a);  // bitwise; logical not of a bool
Expr abs(Expr a);
Expr sqrt(Expr a);
Expr floor(Expr a);
Expr ceil(Expr a);
Expr trunc(Expr a);
Expr rint(Expr a);  // to nearest, ties to even
Expr fma(Expr a, Expr b, Expr c);
Expr is_nan(Expr a);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr select(Expr condition, Expr if_true, double if_false);
Expr select(Expr condition, double if_true, Expr if_false);
// The element of a small table at `index`, an unsigned integer as wide as the dtype, modulo the table's length: a power
// of two. Processors with wide vectors permute registers for it when the length is 16.
Expr lookup(Expr index, std::span<const double> table, DType dtype);
Expr cast(Expr a, DType dtype);
Expr bitcast(Expr a, DType dtype);
// a + b and a - b, with one rounding where a or b is a product that is not used otherwise
// (`ExprPool::forbid_contraction`). A value that is rounded in one place must be rounded everywhere: max(x*y) is
// compared with x*y.
Expr add_contracted(Expr a, Expr b);
Expr sub_contracted(Expr a, Expr b);
// Polynomial c[0] + c[1] x + ... by Horner's rule with fused multiply-adds.
Expr polynomial(Expr x, std::initializer_list<double> coefficients);

// A call of a libm-like function named for float64 ("erf"); the float32 version ("erff") is chosen by dtype.
Expr math_call(std::string_view function, std::initializer_list<Expr> arguments);
// The same where the condition holds, and `otherwise` elsewhere: for the few arguments at which an expansion would be
// long and slow. Costs one branch while no lane needs the call.
Expr rare_math_call(std::string_view function, Expr condition, Expr otherwise, std::initializer_list<Expr> arguments);

std::vector<Expr> arguments_of(Expr expr);

// A set of expressions of one pool. The oldest ones, which are all that most functions have, are stored as bits.
class ExprSet {
 public:
  bool insert(Expr expr) {  // whether it is new
    const std::uint32_t id = expr.id();
    if (id >= first_as_entry) return others_.insert({id}, [&](Number entry) { return entry.id == id; }).second;
    std::uint64_t& word = bits_[id / 64];
    const std::uint64_t bit = std::uint64_t(1) << id % 64;
    const bool is_new = !(word & bit);
    word |= bit;
    return is_new;
  }

 private:
  static constexpr std::uint32_t first_as_entry = 1024;

  struct Number {
    std::uint32_t id = 0;  // never 0, as in a free entry, because the oldest are bits
    std::uint32_t hash() const { return hash_of_number(id); }
    bool is_free() const { return id == 0; }
  };

  std::array<std::uint64_t, first_as_entry / 64> bits_{};
  FlatTable<Number> others_;
};

// Visits every distinct sub-expression once, over all calls with one ExprWalk. A visitor that returns bool decides
// whether the arguments are visited.
class ExprWalk {
 public:
  template <class Visit>
  void operator()(Expr root, Visit&& visit) {
    stack_.push_back(root.id());
    while (!stack_.empty()) {
      const Expr expr(&root.pool(), stack_.back());
      stack_.resize(stack_.size() - 1);
      if (!seen_.insert(expr)) continue;
      if constexpr (std::is_same_v<decltype(visit(expr)), bool>) {
        if (!visit(expr)) continue;
      } else {
        visit(expr);
      }
      for (std::size_t i = 0; i < expr.argument_count(); ++i) stack_.push_back(expr.argument(i).id());
    }
  }

 private:
  ExprSet seen_;
  SmallVector<std::uint32_t, 32> stack_;
};

// How reductions and scatters combine.
enum class Combiner : std::uint8_t { add, mul, min, max, bit_and, bit_or };
Expr combine(Combiner combiner, Expr a, Expr b);  // min and max propagate nan, as numpy.minimum does
Expr identity(Combiner combiner, ExprPool& pool, DType dtype);
// For min and max: whether a replaces an earlier b, because it is strictly more extreme or the first nan.
Expr more_extreme(Combiner combiner, Expr a, Expr b);
std::string_view combiner_name(Combiner combiner);

// Text of an expression; names of buffers and indices are given by the caller ("b3", "i0" when empty).
struct ExprNames {
  std::span<const std::string> buffers = {};
  std::span<const std::string> indices = {};
};
std::string to_string(Expr expr, const ExprNames& names = {});

}  // namespace bitale::program
