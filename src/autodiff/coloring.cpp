#include "autodiff/coloring.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace bitale {

namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

Lists transposed(const Lists& lists, std::int64_t count) {
  Lists out;
  out.resize(std::size_t(count));
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (std::int64_t j : lists[i]) out[std::size_t(j)].push_back(std::int64_t(i));
  return out;
}

// Greedy coloring of the intersection graph, starting with the elements that have the most entries. `lines` lists the
// lines of each element: two elements that share a line (of those that count) get different colors.
Coloring greedy(const Lists& lines, std::int64_t line_count, const std::vector<bool>& line_counts) {
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  auto entries = [&](std::size_t i) {
    return std::count_if(lines[i].begin(), lines[i].end(), [&](auto k) { return line_counts[std::size_t(k)]; });
  };
  std::vector<std::int64_t> degrees(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) degrees[i] = entries(i);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return degrees[a] > degrees[b]; });

  Coloring out{std::vector<std::int64_t>(lines.size(), -1), 0};
  Lists colors_of_line;
  colors_of_line.resize(std::size_t(line_count));
  std::vector<std::size_t> taken_by;  // the last element that found the color in one of its lines
  for (std::size_t i : order) {
    if (degrees[i] == 0) continue;
    for (std::int64_t line : lines[i])
      if (line_counts[std::size_t(line)])
        for (std::int64_t used : colors_of_line[std::size_t(line)]) taken_by[std::size_t(used)] = i + 1;
    std::int64_t free = 0;
    while (free < out.count && taken_by[std::size_t(free)] == i + 1) ++free;
    if (free == out.count) {
      ++out.count;
      taken_by.push_back(0);
    }
    out.group[i] = free;
    for (std::int64_t line : lines[i])
      if (line_counts[std::size_t(line)]) colors_of_line[std::size_t(line)].push_back(free);
  }
  return out;
}

}  // namespace

MatrixColoring color_rows(const SparsityPattern& pattern) {
  const std::vector<bool> all_columns(std::size_t(pattern.columns), true);
  return {std::vector<bool>(pattern.columns_of_row.size(), true),
          greedy(pattern.columns_of_row, pattern.columns, all_columns),
          {std::vector<std::int64_t>(std::size_t(pattern.columns), -1), 0}};
}

MatrixColoring color(const SparsityPattern& pattern) {
  const std::size_t rows = pattern.columns_of_row.size();
  const Lists rows_of_column = transposed(pattern.columns_of_row, pattern.columns);
  std::vector<std::size_t> densest(rows);
  std::iota(densest.begin(), densest.end(), std::size_t(0));
  std::stable_sort(densest.begin(), densest.end(),
                   [&](auto a, auto b) { return pattern.columns_of_row[a].size() > pattern.columns_of_row[b].size(); });
  const std::vector<bool> all_columns(std::size_t(pattern.columns), true);

  std::optional<MatrixColoring> best;
  const auto entries = [&](std::size_t row) { return std::int64_t(pattern.columns_of_row[row].size()); };
  const auto attempt = [&](std::size_t from_the_left) {
    // A row from the left takes a color, and those from the right take at least one for each entry.
    const std::int64_t least = std::int64_t(from_the_left > 0 && entries(densest[0]) > 0) +
                               (from_the_left < rows ? entries(densest[from_the_left]) : 0);
    if (best && best->rows.count + best->columns.count <= least) return;
    MatrixColoring tried;
    tried.from_the_left.assign(rows, false);
    Lists left(rows);
    for (std::size_t i = 0; i < from_the_left; ++i) {
      tried.from_the_left[densest[i]] = true;
      left[densest[i]] = pattern.columns_of_row[densest[i]];
    }
    std::vector<bool> from_the_right(tried.from_the_left);
    from_the_right.flip();
    tried.rows = greedy(left, pattern.columns, all_columns);
    tried.columns = greedy(rows_of_column, pattern.rows, from_the_right);
    if (!best || tried.rows.count + tried.columns.count < best->rows.count + best->columns.count)
      best = std::move(tried);
  };
  attempt(0);
  for (std::size_t left = 1; left < rows; left *= 2) attempt(left);
  attempt(rows);
  return *best;
}

}  // namespace bitale
