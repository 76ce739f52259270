#include "lowering/lengths.hpp"

#include <algorithm>

namespace bitale::lowering {

using program::Code;

void Lengths::equate(Expr a, Expr b) {
  if (b.is_constant()) std::swap(a, b);
  if (a.is_constant()) fix(b, a.payload());
  if (!b.is_constant()) equal_[b.id()] = a;  // two different constants are not equated: the check reports them
}

// Follows equalities to the length that became known first. Where fixing a length closes a cycle, the expression of the
// cycle that was created first is the representative.
Expr Lengths::canonical(Expr length) const {
  std::vector<Expr> passed;
  for (;;) {
    const auto it = equal_.find(length.id());
    const Expr next = it == equal_.end() ? fixed(length) : it->second;
    if (next == length) return length;
    passed.push_back(length);
    if (const auto seen = std::find(passed.begin(), passed.end(), next); seen != passed.end())
      return *std::min_element(seen, passed.end(), [](const Expr& a, const Expr& b) { return a.id() < b.id(); });
    length = next;
  }
}

std::vector<Expr> Lengths::canonical(std::span<const Expr> lengths) const {
  std::vector<Expr> out;
  for (auto& length : lengths) out.push_back(canonical(length));
  return out;
}

// Records the input length that makes `length` equal to `value`: it is `length` itself, or the length of which `length`
// is what remains after a start.
void Lengths::fix(Expr length, std::int64_t value) {
  while (length.code() == Code::sub && length.argument(1).code() == Code::min && value > 0) {
    const Expr start = length.argument(1);  // not clamped to the length, since value > 0
    const std::size_t side = start.argument(1) == length.argument(0) ? 0 : 1;
    if (!start.argument(side).is_constant() || !(start.argument(1 - side) == length.argument(0))) break;
    length = length.argument(0);
    value += start.argument(side).payload();
  }
  if (length.code() == Code::dim) numbers_.try_emplace(length.id(), length.pool().integer(value));
}

}  // namespace bitale::lowering
