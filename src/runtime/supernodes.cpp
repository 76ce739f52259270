#include "runtime/supernodes.hpp"

namespace bitale::runtime {

namespace {

// Column j - 1 has the rows of column j, and one more above them.
bool have_same_rows(const FactorPattern& pattern, std::int64_t j) {
  const std::int64_t *before = pattern.rows + pattern.bounds[j - 1] + 1, *own = pattern.rows + pattern.bounds[j];
  const std::int64_t height = pattern.bounds[j + 1] - pattern.bounds[j];
  return pattern.rows + pattern.bounds[j] - before == height && std::equal(own, own + height, before);
}

}  // namespace

Fronts fronts_of(const FactorPattern& pattern) {
  const auto [n, bounds, rows] = pattern;
  Fronts out;
  std::vector<std::int64_t> node_of(std::size_t(n), 0);
  for (std::int64_t j = 0; j < n; ++j) {
    if (j > 0 && have_same_rows(pattern, j))
      ++out.nodes.back().width;
    else
      out.nodes.push_back({j, 1, bounds[j + 1] - bounds[j], -1});
    node_of[std::size_t(j)] = std::int64_t(out.nodes.size()) - 1;
  }
  out.bounds.push_back(0);
  for (auto& node : out.nodes) {
    const std::int64_t *row = rows + bounds[node.first] + node.width, *end = rows + bounds[node.first] + node.height;
    if (row != end) {
      node.parent = node_of[std::size_t(*row)];
      const Supernode& parent = out.nodes[std::size_t(node.parent)];
      const std::int64_t* const begin_of_parent = rows + bounds[parent.first];
      const std::int64_t* const end_of_parent = begin_of_parent + parent.height;
      for (const std::int64_t* at = begin_of_parent; row != end; ++row) {
        at = std::lower_bound(at, end_of_parent, *row);
        if (at == end_of_parent || *at != *row) return {};
        out.relative_rows.push_back(at - begin_of_parent);
      }
    }
    out.bounds.push_back(std::int64_t(out.relative_rows.size()));
  }
  return out;
}

}  // namespace bitale::runtime
