#include "program/checked_index.hpp"

namespace bitale::program {

namespace {

// The operand of a conversion from int64 to uint64, which a constant has undergone already, or nothing.
Expr signed_operand(Expr expr) {
  if (expr.is_constant() && expr.payload() >= 0) return expr.pool().integer(expr.payload());
  const bool converts =
      expr.code() == Code::cast && expr.dtype() == DType::UInt64 && expr.argument(0).dtype() == DType::Int64;
  return converts ? expr.argument(0) : Expr();
}

}  // namespace

Expr wrapped_index(Expr index, Expr length) { return select(index < 0, index + length, index); }

// 0 <= wrapped < length, in one comparison.
Expr is_in_range(Expr index, Expr length) {
  return cast(wrapped_index(index, length), DType::UInt64) < cast(length, DType::UInt64);
}

Expr checked_index(Expr index, Expr length, bool wraps) {
  return select(is_in_range(index, length), wraps ? wrapped_index(index, length) : index, index.pool().integer(0));
}

std::optional<CheckedIndex> as_checked_index(Expr position) {
  if (position.code() != Code::select || !position.argument(2).is_constant(0)) return {};
  const Expr in_range = position.argument(0), wrapped = position.argument(1);
  if (in_range.code() != Code::lt || !(signed_operand(in_range.argument(0)) == wrapped)) return {};
  const Expr length = signed_operand(in_range.argument(1));
  if (!length.defined()) return {};
  const bool wraps = wrapped.code() == Code::select && wrapped.argument(0).code() == Code::lt &&
                     wrapped.argument(0).argument(1).is_constant(0);
  const Expr index = wraps ? wrapped.argument(2) : wrapped;
  if (wraps && !(wrapped.argument(0).argument(0) == index && wrapped.argument(1) == index + length)) return {};
  return CheckedIndex{position, in_range, wrapped, index, length};
}

}  // namespace bitale::program
