// Sparse LU factors by dense matrices: the fronts of a symmetric pattern (supernodes.hpp) that has that of the matrix.
// A front is the sum of the matrix's elements and of the updates of its children. Its own columns are eliminated, with
// pivots among its own rows, and what is left of the others is an update of its parent.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/row_matrices.hpp"
#include "runtime/sparse_lu.hpp"
#include "runtime/supernodes.hpp"

namespace bitale::runtime {

namespace {

constexpr std::int64_t pivots_at_once = 32;  // columns that are eliminated together

// The own rows [width, height] of a front, the own columns of the rows below, [below, width], and the rest of these,
// [below, below].
template <class T>
struct Front {
  explicit Front(const Supernode& node)
      : width(node.width),
        height(node.height),
        below(node.height - node.width),
        upper(std::size_t(width * height), T(0)),
        lower(std::size_t(below * width), T(0)),
        update(std::size_t(below * below), T(0)) {}
  // The elements of a row, from where those of the columns below begin in another place.
  T* row(std::int64_t i) { return i < width ? upper.data() + i * height : lower.data() + (i - width) * width; }
  T* rest_of_row(std::int64_t i) { return i < width ? row(i) + width : update.data() + (i - width) * below; }

  std::int64_t width, height, below;
  std::vector<T> upper, lower, update;
};

// Adds the update of a child, a matrix [count, count], to the front of its parent.
template <class T>
void add_update(const std::int64_t* relative_rows, std::int64_t count, const T* from, Front<T>& parent) {
  const std::int64_t* const end = relative_rows + count;
  const std::int64_t own = std::lower_bound(relative_rows, end, parent.width) - relative_rows;
  for (std::int64_t i = 0; i < count; ++i, from += count) {
    T *to = parent.row(relative_rows[i]), *rest = parent.rest_of_row(relative_rows[i]) - parent.width;
    for (std::int64_t j = 0; j < own; ++j) to[relative_rows[j]] += from[j];
    for (std::int64_t j = own; j < count; ++j) rest[relative_rows[j]] += from[j];
  }
}

// Eliminates the own columns begin to end, after those before; `rows` are the numbers of the own rows. False where no
// own row has a pivot of the required share of its column's largest element.
template <class T>
bool eliminate_block(Front<T>& front, std::int64_t begin, std::int64_t end, std::int64_t* rows) {
  for (std::int64_t t = begin; t < end; ++t) {
    T largest = 0, own = 0;
    std::int64_t pivot = t;
    bool is_number = true;
    for (std::int64_t i = t; i < front.height; ++i) {
      const T size = std::abs(front.row(i)[t]);
      is_number &= !std::isnan(size);
      largest = std::max(largest, size);
      if (i < front.width && size > own) own = size, pivot = i;
    }
    if (!is_number || !(own > 0) || own < T(min_pivot_share) * largest) return false;
    if (std::abs(front.row(t)[t]) >= T(min_pivot_share) * largest) pivot = t;
    if (pivot != t) {
      std::swap_ranges(front.row(t), front.row(t) + front.height, front.row(pivot));
      std::swap(rows[t], rows[pivot]);
    }
    const T* const row = front.row(t);
    for (std::int64_t i = t + 1; i < front.height; ++i) {
      T* const other = front.row(i);
      other[t] /= row[t];
      if (other[t] != 0) dense::subtract(row + t + 1, other[t], end - t - 1, other + t + 1);
    }
  }
  return true;
}

template <class T>
bool eliminate(Front<T>& front, std::int64_t* rows) {
  const std::int64_t width = front.width, height = front.height, below = front.below;
  for (std::int64_t begin = 0; begin < width; begin += pivots_at_once) {
    const std::int64_t end = std::min(begin + pivots_at_once, width);
    if (!eliminate_block(front, begin, end, rows)) return false;
    T* const right = front.upper.data() + begin * height + end;
    dense::divide_by_unit_lower(end - begin, height - end, front.row(begin) + begin, height, right, height);
    dense::subtract_plain_product(width - end, height - end, end - begin, front.upper.data() + end * height + begin,
                                  height, right, height, front.upper.data() + end * height + end, height);
    dense::subtract_plain_product(below, width - end, end - begin, front.lower.data() + begin, width, right, height,
                                  front.lower.data() + end, width);
  }
  dense::subtract_plain_product(below, below, width, front.lower.data(), width, front.upper.data() + width, height,
                                front.update.data(), below);
  return true;
}

// The elements of a matrix by the steps at which they are in the front, with rows and columns in the order of
// elimination.
template <class T>
class ElementsByStep {
 public:
  struct Element {
    std::int64_t row, column;
    T value;
  };
  ElementsByStep(const SparseColumns& a, const T* values, const std::int64_t* order)
      : bounds_(std::size_t(a.size) + 1, 0), elements_(std::size_t(a.bounds[a.size])) {
    std::vector<std::int64_t> step(std::size_t(a.size), 0);
    for (std::int64_t k = 0; k < a.size; ++k) step[std::size_t(order[k])] = k;
    const auto for_elements = [&](auto&& visit) {
      for (std::int64_t k = 0; k < a.size; ++k)
        for (std::int64_t p = a.bounds[order[k]]; p < a.bounds[order[k] + 1]; ++p) {
          const std::int64_t row = step[std::size_t(a.rows[p])];
          visit(std::size_t(std::min(row, k)), Element{row, k, values[p]});
        }
    };
    for_elements([&](std::size_t first, const Element&) { ++bounds_[first + 1]; });
    for (std::size_t k = 0; k + 1 < bounds_.size(); ++k) bounds_[k + 1] += bounds_[k];
    std::vector<std::int64_t> to(bounds_.begin(), bounds_.end() - 1);
    for_elements([&](std::size_t first, const Element& each) { elements_[std::size_t(to[first]++)] = each; });
  }
  // Those of the steps begin to end.
  const Element* at(std::int64_t step) const { return elements_.data() + bounds_[std::size_t(step)]; }

 private:
  std::vector<std::int64_t> bounds_;
  std::vector<Element> elements_;
};

// The factors, which are filled one front after the other. The rows of L are numbers before exchanges until all of
// these are known.
template <class T>
class Store {
 public:
  Store(const FactorPattern& pattern, const Fronts& fronts, LuFactors<T>& out)
      : pattern_(pattern), out_(out), next_(std::size_t(pattern.size), 0) {
    for (const Supernode& node : fronts.nodes)
      for (std::int64_t q = 0; q < node.height; ++q) next_[row(node, q)] += std::min(q, node.width);
    out.bounds.assign(1, 0);
    for (std::int64_t j = 0; j < pattern.size; ++j) {
      const std::int64_t begin = out.bounds.back(), diagonal = begin + std::exchange(next_[std::size_t(j)], begin);
      out.bounds.push_back(diagonal);
      out.bounds.push_back(diagonal + pattern.bounds[j + 1] - pattern.bounds[j]);
    }
    out.rows.resize(std::size_t(out.bounds.back()));
    out.values.resize(std::size_t(out.bounds.back()));
  }

  void add(const Supernode& node, Front<T>& front, const std::int64_t* own_rows) {
    for (std::int64_t q = 0; q < node.height; ++q) {
      std::int64_t& to = next_[row(node, q)];
      for (std::int64_t t = 0; t < std::min(q, node.width); ++t, ++to) {
        out_.rows[std::size_t(to)] = node.first + t;
        out_.values[std::size_t(to)] = front.row(t)[q];
      }
    }
    for (std::int64_t t = 0; t < node.width; ++t) {
      auto to = std::size_t(out_.bounds[std::size_t(2 * (node.first + t) + 1)]);
      for (std::int64_t q = t; q < node.height; ++q, ++to) {
        out_.rows[to] = q < node.width ? own_rows[q] : std::int64_t(row(node, q));
        out_.values[to] = front.row(q)[t];
      }
    }
  }

  // `rows`: the number before exchanges of each row in the order of elimination.
  void rename_rows(const std::vector<std::int64_t>& rows) {
    std::vector<std::int64_t> step(rows.size(), 0);
    for (std::size_t k = 0; k < rows.size(); ++k) step[std::size_t(rows[k])] = std::int64_t(k);
    for (std::size_t k = 0; k < rows.size(); ++k)
      for (auto p = std::size_t(out_.bounds[2 * k + 1]); p < std::size_t(out_.bounds[2 * k + 2]); ++p)
        out_.rows[p] = step[std::size_t(out_.rows[p])];
  }

 private:
  std::size_t row(const Supernode& node, std::int64_t q) const {
    return std::size_t(pattern_.rows[pattern_.bounds[node.first] + q]);
  }

  const FactorPattern pattern_;
  LuFactors<T>& out_;
  std::vector<std::int64_t> next_;  // where the next element of U is put, for each column
};

}  // namespace

template <class T>
bool sparse_lu_by_fronts(const SparseColumns& a, const T* values, const std::int64_t* order,
                         const FactorPattern& pattern, LuFactors<T>& out) {
  const Fronts fronts = fronts_of(pattern);
  const auto& nodes = fronts.nodes;
  if (nodes.empty() || pattern.size != a.size) return false;
  const ElementsByStep<T> elements(a, values, order);
  std::vector<std::int64_t> rows(std::size_t(a.size), 0), place(std::size_t(a.size), 0);
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = std::int64_t(k);
  std::vector<std::vector<std::size_t>> children(nodes.size());
  std::vector<std::vector<T>> updates(nodes.size());
  Store<T> store(pattern, fronts, out);
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const Supernode& node = nodes[s];
    const std::int64_t* const rows_of_front = pattern.rows + pattern.bounds[node.first];
    for (std::int64_t q = 0; q < node.height; ++q) place[std::size_t(rows_of_front[q])] = q;
    Front<T> front(node);
    for (auto each = elements.at(node.first); each != elements.at(node.first + node.width); ++each) {
      const std::int64_t last = std::max(each->row, each->column), at = place[std::size_t(last)];
      if (at >= node.height || rows_of_front[at] != last) return false;  // not in the pattern
      front.row(place[std::size_t(each->row)])[place[std::size_t(each->column)]] += each->value;
    }
    for (const std::size_t child : children[s]) {
      add_update(fronts.relative_rows_of(child), nodes[child].height - nodes[child].width, updates[child].data(),
                 front);
      std::vector<T>().swap(updates[child]);
    }
    std::int64_t* const own_rows = rows.data() + node.first;
    if (!eliminate(front, own_rows)) return false;
    store.add(node, front, own_rows);
    updates[s] = std::move(front.update);
    if (node.parent >= 0) children[std::size_t(node.parent)].push_back(s);
  }
  store.rename_rows(rows);
  for (auto& row : rows) row = order[row];
  out.row_order = std::move(rows);
  return true;
}

#define BITALE_INSTANTIATE(T)                                                                                     \
  template bool sparse_lu_by_fronts<T>(const SparseColumns&, const T*, const std::int64_t*, const FactorPattern&, \
                                       LuFactors<T>&);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime
