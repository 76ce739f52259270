// The rows of U to the right of the diagonal, of factors that are stored in columns: where their elements are, and in
// which columns, which ascend.
#pragma once

#include <vector>

#include "runtime/sparse_lu.hpp"

namespace bitale::runtime {

class UpperRows {
 public:
  struct Element {
    std::int64_t column, position;
  };
  explicit UpperRows(const LuPattern& pattern) : begin_(std::size_t(pattern.size) + 1, 0) {
    const auto [n, bounds, rows] = pattern;
    for (std::int64_t m = 0; m < n; ++m)
      for (std::int64_t p = bounds[2 * m]; p < bounds[2 * m + 1]; ++p) ++begin_[std::size_t(rows[p]) + 1];
    for (std::size_t k = 0; k < std::size_t(n); ++k) begin_[k + 1] += begin_[k];
    elements_.resize(std::size_t(begin_.back()));
    std::vector<std::int64_t> to(begin_.begin(), begin_.end() - 1);
    for (std::int64_t m = 0; m < n; ++m)
      for (std::int64_t p = bounds[2 * m]; p < bounds[2 * m + 1]; ++p)
        elements_[std::size_t(to[std::size_t(rows[p])]++)] = {m, p};
  }
  const Element* begin(std::int64_t row) const { return elements_.data() + begin_[std::size_t(row)]; }
  const Element* end(std::int64_t row) const { return elements_.data() + begin_[std::size_t(row) + 1]; }
  std::int64_t count(std::int64_t row) const { return end(row) - begin(row); }

 private:
  std::vector<std::int64_t> begin_;
  std::vector<Element> elements_;
};

}  // namespace bitale::runtime
