#include "ops/analysis/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ops/analysis/known_number.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/shapes/dimshuffle.hpp"

namespace bitale {

namespace {

constexpr int max_levels = 12, max_steps = 200;

// What an exchange of axes makes of a tensor: nothing that is known, another tensor, or the negative of that.
enum class Sign : std::int8_t { unknown = 0, plus = 1, minus = -1 };
Sign operator-(Sign s) { return Sign(-int(s)); }
Sign operator*(Sign a, Sign b) { return Sign(int(a) * int(b)); }

// A matrix without the factors that scale its columns (or its rows), or all elements.
Variable without_scaling(Variable v, bool of_columns) {
  const auto scales = [&](const Variable& factor) { return factor.tensor().broadcasts(of_columns ? 0 : 1); };
  for (int level = 0; level < max_levels && v.has_owner(); ++level) {
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

// A variable as its source with the axes in some order.
struct Arranged {
  Variable source;
  std::vector<int> order;
};
Arranged arranged(const Variable& v) {
  if (const auto* shuffle = v.has_owner() ? dynamic_cast<const DimShuffle*>(v.owner_op()) : nullptr)
    return {v.owner().input(0), shuffle->new_order};
  Arranged out{v, {}};
  for (int axis = 0; axis < v.ndim(); ++axis) out.order.push_back(axis);
  return out;
}

class ExchangeSearch {
 public:
  // The sign s with which u, with its axes p and q exchanged, is s v.
  Sign sign(const Variable& u, const Variable& v, int p, int q, int level = 0) {
    if (u.ndim() != v.ndim() || level > max_levels || ++steps_ > max_steps) return Sign::unknown;
    if (u.same_as(v) && u.tensor().broadcasts(p) && u.tensor().broadcasts(q)) return Sign::plus;
    if (!u.has_owner() || !v.has_owner()) return of_axes(u, v, p, q, level);
    const ScalarOp *of_u = scalar_op_of(u), *of_v = scalar_op_of(v);
    if (of_u && of_u == of_v && u.dtype() == v.dtype()) return of_elements(*of_u, u.owner(), v.owner(), p, q, level);
    if (const auto* first = dynamic_cast<const CAReduce*>(u.owner_op()),
        *second = dynamic_cast<const CAReduce*>(v.owner_op());
        first && second)
      return of_reduction(*first, *second, u, v, p, q, level);
    if (dynamic_cast<const Dot*>(u.owner_op()) && dynamic_cast<const Dot*>(v.owner_op()))
      return of_product(u.owner(), v.owner(), level);
    return of_axes(u, v, p, q, level);
  }

 private:
  Sign of_axes(const Variable& u, const Variable& v, int p, int q, int level) {
    Arranged first = arranged(u);
    const Arranged second = arranged(v);
    const int a = first.order[std::size_t(p)], b = first.order[std::size_t(q)];
    const bool same_order = first.order == second.order;
    std::swap(first.order[std::size_t(p)], first.order[std::size_t(q)]);
    if (first.source.same_as(second.source) && first.order == second.order) return Sign::plus;
    const bool is_view = !first.source.same_as(u) && !second.source.same_as(v);
    return is_view && same_order && a >= 0 && b >= 0 ? sign(first.source, second.source, a, b, level + 1)
                                                     : Sign::unknown;
  }

  Sign of_elements(const ScalarOp& scalar, const Apply& u, const Apply& v, int p, int q, int level) {
    if (u.inputs().size() != v.inputs().size()) return Sign::unknown;
    const auto between = [&](int i, int j) { return sign(u.input(i), v.input(j), p, q, level + 1); };
    if (scalar.name == "sub") {
      if (const Sign s = between(0, 0); s != Sign::unknown && s == between(1, 1)) return s;
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
    if (std::ranges::find(signs, Sign::minus) == signs.end()) return Sign::plus;
    if (signs.size() == 1) return scalar.has(even) ? Sign::plus : scalar.has(odd) ? Sign::minus : Sign::unknown;
    if (scalar.name == "add") return std::ranges::find(signs, Sign::plus) == signs.end() ? Sign::minus : Sign::unknown;
    if (scalar.name == "mul" || scalar.name == "true_div") {
      Sign out = Sign::plus;
      for (const Sign s : signs) out = out * s;
      return out;
    }
    if (scalar.name == "pow" && signs[1] == Sign::plus) {
      const auto exponent = known_number(node.input(1));
      if (exponent && *exponent == 2 * std::floor(*exponent / 2)) return Sign::plus;
    }
    return Sign::unknown;
  }

  Sign of_reduction(const CAReduce& first, const CAReduce& second, const Variable& u, const Variable& v, int p, int q,
                    int level) {
    const Variable &x = u.owner().input(0), &y = v.owner().input(0);
    if (&first.kind != &second.kind || first.axes != second.axes || u.dtype() != v.dtype() || x.ndim() != y.ndim())
      return Sign::unknown;
    std::vector<int> kept;
    for (int axis = 0; axis < x.ndim(); ++axis)
      if (!first.reduces(axis)) kept.push_back(axis);
    const Sign s = sign(x, y, kept[std::size_t(p)], kept[std::size_t(q)], level + 1);
    return s == Sign::plus || first.kind.combiner == program::Combiner::add ? s : Sign::unknown;
  }

  // (a b)^T = b^T a^T, and a d a^T is symmetric for a diagonal d.
  Sign of_product(const Apply& u, const Apply& v, int level) {
    for (const Apply* node : {&u, &v})
      for (auto& input : node->inputs())
        if (input.ndim() != 2) return Sign::unknown;
    const auto transposes = [&](const Variable& a, const Variable& b, const Variable& c, const Variable& d) {
      const Sign s = sign(b, c, 0, 1, level + 1);
      return s == Sign::unknown ? s : s * sign(a, d, 0, 1, level + 1);
    };
    const Sign s = transposes(u.input(0), u.input(1), v.input(0), v.input(1));
    if (s != Sign::unknown || !u.output().same_as(v.output())) return s;
    const Variable a = without_scaling(u.input(0), true), b = without_scaling(u.input(1), false);
    return transposes(a, b, a, b);
  }

  int steps_ = 0;
};

}  // namespace

bool is_seen_to_be_symmetric(const Variable& matrix) {
  const int n = matrix.ndim();
  return n >= 2 && ExchangeSearch().sign(matrix, matrix, n - 2, n - 1) == Sign::plus;
}

}  // namespace bitale
