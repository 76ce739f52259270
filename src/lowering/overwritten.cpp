// Overwritten starts: a buffer that begins as a copy of something and is then stored to, piece by piece, until nothing
// of the beginning is left, needs no beginning. So it is with the gradient of a vector that is read in parts.
#include <algorithm>
#include <map>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

constexpr std::size_t most_pieces = 32;

bool is_store(const Computation& root) { return root.kind == Computation::Kind::store && !root.combiner; }

// An index of the root, or that at a constant distance.
bool counts_with(Expr place, Expr index) {
  if (place == index) return true;
  return place.code() == program::Code::add && ((place.argument(0).is_constant() && place.argument(1) == index) ||
                                                (place.argument(1).is_constant() && place.argument(0) == index));
}

// The elements that a root stores to, all of them different; 0 when that is not known.
std::int64_t elements(const Computation& root) {
  std::int64_t count = 1;
  std::size_t used = 0;
  for (std::size_t k = 0; k < root.domain.size(); ++k) {
    if (!root.domain[k].is_constant() || root.domain[k].payload() <= 0) return 0;
    if (root.domain[k].is_constant(1)) continue;
    const auto along = [&](Expr place) { return counts_with(place, root.indices[k]); };
    if (std::count_if(root.at.begin(), root.at.end(), along) != 1) return 0;
    if (__builtin_mul_overflow(count, root.domain[k].payload(), &count)) return 0;
    ++used;
  }
  const auto is_constant = [](Expr place) { return place.is_constant(); };
  return std::size_t(std::count_if(root.at.begin(), root.at.end(), is_constant)) + used == root.at.size() ? count : 0;
}

std::int64_t elements(const program::Buffer& buffer) {
  std::int64_t count = 1;
  for (auto& length : buffer.shape)
    if (!length.is_constant() || __builtin_mul_overflow(count, length.payload(), &count)) return 0;
  return count;
}

bool reads(const Computation& root, std::int64_t buffer) {
  bool found = false;
  program::ExprWalk walk;
  const auto look_at = [&](Expr expr) {
    walk(expr, [&](Expr each) { found |= each.code() == program::Code::load && each.payload() == buffer; });
  };
  look_at(root.value);
  for (auto& place : root.at) look_at(place);
  return found;
}

}  // namespace

bool are_apart(const Plan& plan, const Computation& a, const Computation& b) {
  if (!is_store(a) || !is_store(b) || a.buffer != b.buffer) return false;
  for (std::size_t k = 0; k < a.at.size(); ++k) {
    const auto one = plan.declare.range_of(a.at[k]), other = plan.declare.range_of(b.at[k]);
    if (one && other && (one->second < other->first || other->second < one->first)) return true;
  }
  return false;
}

void drop_overwritten(Plan& plan) {
  std::vector<std::vector<std::size_t>> writers(plan.program.buffers.size());
  for (std::size_t id = 0; id < plan.computations.size(); ++id) {
    const Computation& root = plan.computations[id];
    if (root.buffer >= 0) writers[std::size_t(root.buffer)].push_back(id);
    for (auto buffer : root.writes) writers[std::size_t(buffer)].push_back(id);
  }
  for (std::size_t b = 0; b < writers.size(); ++b) {
    const auto& ids = writers[b];
    if (ids.size() < 2 || ids.size() > most_pieces) continue;
    const std::int64_t all = elements(plan.program.buffers[b]);
    std::int64_t stored = 0;
    bool good = all > 0;
    for (std::size_t i = 0; i < ids.size() && good; ++i) {
      const Computation& root = plan.computations[ids[i]];
      good = is_store(root) && !reads(root, std::int64_t(b)) && elements(root) > 0;
      if (i == 0) continue;
      stored += elements(root);
      for (std::size_t k = 1; k < i && good; ++k) good = are_apart(plan, root, plan.computations[ids[k]]);
    }
    if (good && stored == all) plan.computations[ids[0]].is_overwritten = true;
  }
}

}  // namespace bitale::lowering
