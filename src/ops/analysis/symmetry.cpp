#include "ops/analysis/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ops/analysis/known_number.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale {

namespace {

using Sign = Exchanged;
Sign operator-(Sign s) { return Sign(-int(s)); }
Sign operator*(Sign a, Sign b) { return Sign(int(a) * int(b)); }

class ExchangeSearch {
 public:
  // Twice what the kernels of tests/python/tensor/linalg/test_assumptions.py need: 3 levels and 8 steps (30 November
  // 2026).
  static constexpr int max_levels = 6, max_steps = 16;

  // The sign s with which u, with its axes p and q exchanged, is s v.
  Sign sign(const Variable& u, const Variable& v, int p, int q, int level = 0) {
    if (u.ndim() != v.ndim() || level > max_levels || ++steps_ > max_steps) return Sign::unknown;
    if (u.same_as(v) && u.tensor().broadcasts(p) && u.tensor().broadcasts(q)) return Sign::same;
    const Op *f = u.owner_op(), *g = v.owner_op();
    if (f && g && f->elementwise() && g->elementwise()) {
      const ScalarOp& scalar = *scalar_op_of(u);
      return &scalar == scalar_op_of(v) && u.dtype() == v.dtype()
                 ? of_elements(scalar, u.owner(), v.owner(), p, q, level)
                 : Sign::unknown;
    }
    const auto *first = dynamic_cast<const DimShuffle*>(f), *second = dynamic_cast<const DimShuffle*>(g);
    if (first || second) return of_axes(u, first, v, second, p, q, level);
    return f && g ? of_reductions(u, v, p, q, level) : Sign::unknown;
  }

  Sign of_node(const Apply& node, std::span<const Sign> operands) {
    const int n = node.output().ndim();
    return of_elements(*scalar_op_of(node.output()), node, node, n - 2, n - 1, 0, operands);
  }

 private:
  Sign of_axes(const Variable& u, const DimShuffle* first, const Variable& v, const DimShuffle* second, int p, int q,
               int level) {
    const Variable x = first ? u.owner().input(0) : u, y = second ? v.owner().input(0) : v;
    const auto from = [](const DimShuffle* shuffle, int axis) {
      return shuffle ? shuffle->new_order[std::size_t(axis)] : axis;
    };
    bool exchanges = true, keeps = true;  // from the axes of x to those of y
    for (int axis = 0; axis < u.ndim(); ++axis) {
      exchanges &= from(first, axis == p ? q : axis == q ? p : axis) == from(second, axis);
      keeps &= from(first, axis) == from(second, axis);
    }
    if (exchanges && x.same_as(y)) return Sign::same;
    const int a = from(first, p), b = from(first, q);
    return first && second && keeps && a >= 0 && b >= 0 ? sign(x, y, a, b, level + 1) : Sign::unknown;
  }

  // `known`: of the operands of u and themselves, where v is u; if it is empty, they are searched.
  Sign of_elements(const ScalarOp& scalar, const Apply& u, const Apply& v, int p, int q, int level,
                   std::span<const Sign> known = {}) {
    if (u.inputs().size() != v.inputs().size()) return Sign::unknown;
    const auto between = [&](int i, int j) {
      return i == j && !known.empty() ? known[std::size_t(i)] : sign(u.input(i), v.input(j), p, q, level + 1);
    };
    if (scalar.name == "sub") {
      if (const Sign s = between(0, 0); s != Sign::unknown && s == between(1, 1)) return s;
      // Unsigned differences wrap around: 3 - 5 is not the negative of 5 - 3 once it is a float.
      if (kind(u.output().dtype()) == DTypeKind::UInt) return Sign::unknown;
      const Sign s = between(0, 1);
      return s == between(1, 0) ? -s : Sign::unknown;
    }
    // Each operand of u becomes an operand of v; those of commutative functions in any order.
    std::vector<Sign> signs;
    std::vector<bool> used(v.inputs().size());
    for (int i = 0; i < int(u.inputs().size()); ++i) {
      Sign found = Sign::unknown;
      for (int step = 0; step < int(used.size()) && found == Sign::unknown; ++step) {
        const int j = (i + step) % int(used.size());  // the same operand first
        if (used[std::size_t(j)] || (step > 0 && !scalar.has(commutative))) continue;
        found = between(i, j);
        if (found != Sign::unknown) used[std::size_t(j)] = true;
      }
      if (found == Sign::unknown) return found;
      signs.push_back(found);
    }
    return of_signs(scalar, u, signs);
  }

  // The sign of the function's value when its operands change sign so.
  static Sign of_signs(const ScalarOp& scalar, const Apply& node, const std::vector<Sign>& signs) {
    if (std::ranges::find(signs, Sign::negated) == signs.end()) return Sign::same;
    if (signs.size() == 1) return scalar.has(even) ? Sign::same : scalar.has(odd) ? Sign::negated : Sign::unknown;
    if (scalar.name == "add")
      return std::ranges::find(signs, Sign::same) == signs.end() ? Sign::negated : Sign::unknown;
    if (scalar.name == "mul" || scalar.name == "true_div") {
      Sign out = Sign::same;
      for (const Sign s : signs) out = out * s;
      return out;
    }
    if (scalar.name == "pow" && signs[1] == Sign::same) {
      const auto exponent = known_number(node.input(1));
      if (exponent && std::isfinite(*exponent) && *exponent == std::floor(*exponent))
        return std::fmod(*exponent, 2) == 0 ? Sign::same : Sign::negated;
    }
    return Sign::unknown;
  }

  Sign of_reductions(const Variable& u, const Variable& v, int p, int q, int level) {
    const auto *first = dynamic_cast<const CAReduce*>(u.owner_op()),
               *second = dynamic_cast<const CAReduce*>(v.owner_op());
    if (!first || !second || &first->kind != &second->kind || first->axes != second->axes || u.dtype() != v.dtype())
      return Sign::unknown;
    const Variable x = u.owner().input(0), y = v.owner().input(0);
    std::vector<int> kept;
    for (int axis = 0; axis < x.ndim(); ++axis)
      if (!first->reduces(axis)) kept.push_back(axis);
    const Sign s = sign(x, y, kept[std::size_t(p)], kept[std::size_t(q)], level + 1);
    return s == Sign::same || first->kind.combiner == program::Combiner::add ? s : Sign::unknown;
  }

  int steps_ = 0;
};

bool may_be_square(const Variable& matrix) {
  const Dims& shape = matrix.static_shape();
  if (shape.size() < 2) return false;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  return rows == columns || rows == unknown_length || columns == unknown_length;
}

}  // namespace

Variable without_scaling(Variable v, bool of_columns) {
  const auto scales = [&](const Variable& factor) { return factor.tensor().broadcasts(of_columns ? 0 : 1); };
  for (int level = 0; level < ExchangeSearch::max_levels && v.has_owner(); ++level) {
    const ScalarOp* scalar = scalar_op_of(v);
    if (!scalar || (scalar->name != "mul" && scalar->name != "true_div")) break;
    const Apply node = v.owner();
    std::optional<Variable> whole;
    for (int i = 0; i < int(node.inputs().size()); ++i) {
      if (scales(node.input(i)) && (i > 0 || scalar->name == "mul")) continue;
      if (whole) return v;
      whole = node.input(i);
    }
    if (!whole) break;
    v = *whole;
  }
  return v;
}

Exchanged exchanged_matrix(const Variable& matrix) {
  const int n = matrix.ndim();
  return may_be_square(matrix) ? ExchangeSearch().sign(matrix, matrix, n - 2, n - 1) : Exchanged::unknown;
}

Exchanged exchanged_elements(const Apply& node, std::span<const Exchanged> operands) {
  return may_be_square(node.output()) ? ExchangeSearch().of_node(node, operands) : Exchanged::unknown;
}

}  // namespace bitale
