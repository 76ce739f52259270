// Constant sparse matrices of elements by their rows and columns, of which those at one position are added.
#pragma once

#include <bitale/bitale.hpp>
#include <bitale/sparse/functions.hpp>
#include <cstdint>
#include <vector>

class Triplets {
 public:
  Triplets(std::int64_t rows, std::int64_t columns) : elements_(rows, columns) {}

  void add(std::int64_t row, std::int64_t column, double value) {
    elements_.add(row, column);
    values_.push_back(value);
  }
  bitale::sparse::Matrix matrix() const {
    const auto compressed = bitale::sparse::compress(elements_, bitale::sparse::Format::csr);
    std::vector<double> data;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const auto stored = std::size_t(compressed.stored[k]);
      if (stored >= data.size()) data.resize(stored + 1);
      data[stored] += values_[k];
    }
    return {compressed.pattern, bitale::constant(bitale::Array(data))};
  }

 private:
  bitale::sparse::Elements elements_;
  std::vector<double> values_;
};

// The identity times a number.
inline bitale::sparse::Matrix scaled_identity(std::int64_t n, double value = 1) {
  Triplets out(n, n);
  for (std::int64_t k = 0; k < n; ++k) out.add(k, k, value);
  return out.matrix();
}

// The neighbours of a grid of side x side points: the Laplacian, with the number of neighbours on the diagonal, or with
// 4 at all points, as if the grid went on with zeros.
inline bitale::sparse::Matrix grid_laplacian(std::int64_t side, bool continued) {
  Triplets out(side * side, side * side);
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j) {
      const std::int64_t here = i * side + j;
      double neighbours = 0;
      const auto meet = [&](std::int64_t k, std::int64_t l) {
        if (k < 0 || l < 0 || k >= side || l >= side) return;
        out.add(here, k * side + l, -1);
        ++neighbours;
      };
      meet(i - 1, j), meet(i + 1, j), meet(i, j - 1), meet(i, j + 1);
      out.add(here, here, continued ? 4 : neighbours);
    }
  return out.matrix();
}
