#include "sparse/ordering.hpp"

#include <algorithm>
#include <utility>

namespace bitale::sparse {

namespace {

// Rows by their degrees: doubly linked lists, one for each degree.
class DegreeLists {
 public:
  explicit DegreeLists(std::size_t size)
      : degree_(size, -1), first_(size + 1, -1), next_(size, -1), previous_(size, -1) {}

  std::int64_t degree(std::int64_t row) const { return degree_[std::size_t(row)]; }
  void insert(std::int64_t row, std::int64_t degree) {
    degree_[std::size_t(row)] = degree;
    std::int64_t& first = first_[std::size_t(degree)];
    next_[std::size_t(row)] = first;
    previous_[std::size_t(row)] = -1;
    if (first >= 0) previous_[std::size_t(first)] = row;
    first = row;
    least_ = std::min(least_, degree);
  }
  void remove(std::int64_t row) {
    const std::int64_t before = previous_[std::size_t(row)], behind = next_[std::size_t(row)];
    (before >= 0 ? next_[std::size_t(before)] : first_[std::size_t(degree(row))]) = behind;
    if (behind >= 0) previous_[std::size_t(behind)] = before;
  }
  std::int64_t take_least() {
    while (first_[std::size_t(least_)] < 0) ++least_;
    const std::int64_t row = first_[std::size_t(least_)];
    remove(row);
    return row;
  }

 private:
  std::vector<std::int64_t> degree_, first_, next_, previous_;
  std::int64_t least_ = 0;
};

// The matrix during elimination. An eliminated row is an element: a clique of the rows that it made neighbours of each
// other. A row that is left has neighbours from the matrix, and elements that it belongs to. Rows for which these are
// the same are merged, and eliminated together; their number is the row's weight, 0 for one that has been merged into
// another.
class QuotientGraph {
 public:
  explicit QuotientGraph(const Neighbours& neighbours)
      : rows_(neighbours),
        elements_(neighbours.size()),
        members_(neighbours.size()),
        merged_(neighbours.size()),
        weight_(neighbours.size(), 1),
        size_(neighbours.size(), 0),
        mark_(neighbours.size(), -1),
        absorbed_by_(neighbours.size(), -1),
        outside_(neighbours.size()),
        counted_(neighbours.size(), -1),
        left_(neighbours.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) left_.insert(std::int64_t(i), std::int64_t(rows_[i].size()));
  }

  void eliminate_next(std::vector<std::int64_t>& order) {
    const std::int64_t pivot = left_.take_least();
    form_element(pivot);
    count_outside(pivot);
    degrees_.clear();
    for (const std::int64_t i : members_[std::size_t(pivot)]) update(i, pivot);
    merge_members(pivot);
    for (const std::int64_t e : elements_[std::size_t(pivot)])
      std::vector<std::int64_t>().swap(members_[std::size_t(e)]);
    append(pivot, order);
  }

 private:
  // The neighbours of the pivot, marked by it: its own, and the members of its elements, which it absorbs.
  void form_element(std::int64_t pivot) {
    auto& members = members_[std::size_t(pivot)];
    mark_[std::size_t(pivot)] = pivot;
    const auto take = [&](const std::vector<std::int64_t>& list) {
      for (const std::int64_t i : list) {
        if (weight_[std::size_t(i)] == 0 || std::exchange(mark_[std::size_t(i)], pivot) == pivot) continue;
        members.push_back(i);
        size_[std::size_t(pivot)] += weight_[std::size_t(i)];
      }
    };
    take(rows_[std::size_t(pivot)]);
    for (const std::int64_t e : elements_[std::size_t(pivot)]) {
      take(members_[std::size_t(e)]);
      absorbed_by_[std::size_t(e)] = pivot;
    }
    rows_[std::size_t(pivot)].clear();
  }

  // Of each element that shares members with the new one: the weight of its members outside of that.
  void count_outside(std::int64_t pivot) {
    for (const std::int64_t i : members_[std::size_t(pivot)])
      for (const std::int64_t e : elements_[std::size_t(i)]) {
        if (std::exchange(counted_[std::size_t(e)], pivot) != pivot) outside_[std::size_t(e)] = size_[std::size_t(e)];
        outside_[std::size_t(e)] -= weight_[std::size_t(i)];
      }
  }

  // The row leaves what the new element covers. Its degree is bounded by the sum of what is outside of that, and by
  // what it was before and the new element's members.
  void update(std::int64_t i, std::int64_t pivot) {
    auto &rows = rows_[std::size_t(i)], &elements = elements_[std::size_t(i)];
    std::erase_if(rows, [&](std::int64_t k) { return mark_[std::size_t(k)] == pivot || weight_[std::size_t(k)] == 0; });
    std::erase_if(elements, [&](std::int64_t e) {
      return absorbed_by_[std::size_t(e)] == pivot || outside_[std::size_t(e)] == 0;
    });
    const std::int64_t others = size_[std::size_t(pivot)] - weight_[std::size_t(i)];
    std::int64_t degree = others;
    for (const std::int64_t k : rows) degree += weight_[std::size_t(k)];
    for (const std::int64_t e : elements) degree += outside_[std::size_t(e)];
    degrees_.push_back(std::min({degree, left_.degree(i) + others, std::int64_t(rows_.size()) - 1}));
    elements.push_back(pivot);
    std::sort(elements.begin(), elements.end());
    std::sort(rows.begin(), rows.end());
  }

  // Merges members with the same neighbours and elements, which their hashes bring together, and lists the others anew.
  void merge_members(std::int64_t pivot) {
    auto& members = members_[std::size_t(pivot)];
    by_hash_.clear();
    for (std::size_t k = 0; k < members.size(); ++k) {
      const auto i = std::size_t(members[k]);
      std::uint64_t hash = rows_[i].size();
      for (const auto* list : {&rows_[i], &elements_[i]})
        for (const std::int64_t each : *list) hash = hash * 1000003 + std::uint64_t(each);
      by_hash_.emplace_back(hash, k);
    }
    std::sort(by_hash_.begin(), by_hash_.end());
    for (std::size_t first = 0; first < by_hash_.size(); ++first) {
      const auto [hash, k] = by_hash_[first];
      const std::int64_t i = members[k];
      if (weight_[std::size_t(i)] == 0) continue;
      for (std::size_t later = first + 1; later < by_hash_.size() && by_hash_[later].first == hash; ++later) {
        const std::int64_t j = members[by_hash_[later].second];
        if (weight_[std::size_t(j)] == 0 || rows_[std::size_t(i)] != rows_[std::size_t(j)] ||
            elements_[std::size_t(i)] != elements_[std::size_t(j)])
          continue;
        degrees_[k] -= weight_[std::size_t(j)];
        weight_[std::size_t(i)] += std::exchange(weight_[std::size_t(j)], 0);
        merged_[std::size_t(i)].push_back(j);
        left_.remove(j);
      }
    }
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (weight_[std::size_t(members[k])] == 0) continue;
      left_.remove(members[k]);
      left_.insert(members[k], std::max<std::int64_t>(degrees_[k], 0));
    }
    std::erase_if(members, [&](std::int64_t i) { return weight_[std::size_t(i)] == 0; });
  }

  // The row, and those that were merged into it, directly or through others.
  void append(std::int64_t row, std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> open{row};
    while (!open.empty()) {
      const std::int64_t next = open.back();
      open.pop_back();
      order.push_back(next);
      open.insert(open.end(), merged_[std::size_t(next)].begin(), merged_[std::size_t(next)].end());
    }
  }

  Neighbours rows_, elements_, members_, merged_;
  std::vector<std::int64_t> weight_, size_, mark_, absorbed_by_, outside_, counted_;
  std::vector<std::int64_t> degrees_;                           // of the new element's members
  std::vector<std::pair<std::uint64_t, std::size_t>> by_hash_;  // their hashes and positions
  DegreeLists left_;
};

}  // namespace

std::vector<std::int64_t> minimum_degree(const Neighbours& neighbours) {
  QuotientGraph graph(neighbours);
  std::vector<std::int64_t> order;
  order.reserve(neighbours.size());
  while (order.size() < neighbours.size()) graph.eliminate_next(order);
  return order;
}

// A column has the rows of the matrix, and those of the columns whose first row below the diagonal it is.
FactorColumns factor_columns(const Neighbours& neighbours) {
  const std::size_t n = neighbours.size();
  Neighbours below(n), children(n);
  std::vector<std::int64_t> mark(n, -1);
  FactorColumns out{{0}, {}};
  for (std::size_t j = 0; j < n; ++j) {
    auto& rows = below[j];
    const auto take = [&](const std::vector<std::int64_t>& list) {
      for (const std::int64_t i : list)
        if (i > std::int64_t(j) && std::exchange(mark[std::size_t(i)], std::int64_t(j)) != std::int64_t(j))
          rows.push_back(i);
    };
    take(neighbours[j]);
    for (const std::int64_t k : children[j]) take(below[std::size_t(k)]);
    std::sort(rows.begin(), rows.end());
    if (!rows.empty()) children[std::size_t(rows[0])].push_back(std::int64_t(j));
    out.rows.push_back(std::int64_t(j));
    out.rows.insert(out.rows.end(), rows.begin(), rows.end());
    out.bounds.push_back(std::int64_t(out.rows.size()));
    for (const std::int64_t k : children[j]) std::vector<std::int64_t>().swap(below[std::size_t(k)]);
  }
  return out;
}

}  // namespace bitale::sparse
