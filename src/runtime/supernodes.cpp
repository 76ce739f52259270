#include "runtime/supernodes.hpp"

namespace bitale::runtime {

Fronts fronts_of(const FactorPattern& pattern) {
  const std::int64_t n = pattern.size;
  const std::int64_t *const bounds = pattern.bounds, *const rows = pattern.rows;
  Fronts out;
  std::vector<std::int64_t> node_of(std::size_t(n), 0);
  for (std::int64_t j = 0; j < n; ++j) {
    if (j > 0 && continues_supernode(pattern, j))
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
      for (const std::int64_t* at = begin_of_parent; row != end; ++row, ++at) {
        if (at != end_of_parent && *at < *row) at = std::lower_bound(at, end_of_parent, *row);
        if (at == end_of_parent || *at != *row) return {};
        out.relative_rows.push_back(at - begin_of_parent);
      }
    }
    const auto begin = std::size_t(out.bounds.back()), count = out.relative_rows.size();
    out.run_ends.resize(count);
    for (std::size_t k = count; k-- > begin;) {
      const bool is_followed = k + 1 < count && out.relative_rows[k + 1] == out.relative_rows[k] + 1;
      out.run_ends[k] = is_followed ? out.run_ends[k + 1] : std::int64_t(k + 1 - begin);
    }
    out.bounds.push_back(std::int64_t(count));
  }
  return out;
}

}  // namespace bitale::runtime
