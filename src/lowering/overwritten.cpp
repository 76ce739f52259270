// Overwritten initial values: a buffer that begins as a copy and is then stored to, piece by piece, until none of the
// copy is left, needs no initial copy. The gradient of a vector that is read in parts is such a buffer.
#include <algorithm>
#include <map>

#include "lowering/computation.hpp"
#include "lowering/costs.hpp"
#include "program/accesses.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

namespace {

// The computation as a plain store; null if it combines with previous contents, or does something else.
const Stored* plain_store(const Computation& computation) {
  const auto* stored = computation.as<Stored>();
  return stored && !stored->combiner ? stored : nullptr;
}

// The number of elements that are stored to, all of them different; 0 if it is not known.
std::int64_t count_of(const Stored& stored) {
  std::int64_t count = 1;
  std::size_t used = 0;
  for (std::size_t k = 0; k < stored.domain.size(); ++k) {
    if (!stored.domain[k].is_constant() || stored.domain[k].payload() <= 0) return 0;
    if (stored.domain[k].is_constant(1)) continue;
    const auto along = [&](Expr at) { return program::stride(at, stored.indices[k]) == 1; };
    if (std::count_if(stored.at.begin(), stored.at.end(), along) != 1) return 0;
    if (__builtin_mul_overflow(count, stored.domain[k].payload(), &count)) return 0;
    ++used;
  }
  const auto is_constant = [](Expr at) { return at.is_constant(); };
  return std::size_t(std::count_if(stored.at.begin(), stored.at.end(), is_constant)) + used == stored.at.size() ? count
                                                                                                                : 0;
}

std::int64_t count_of(const program::Buffer& buffer) {
  std::int64_t count = 1;
  for (auto& length : buffer.shape)
    if (!length.is_constant() || __builtin_mul_overflow(count, length.payload(), &count)) return 0;
  return count;
}

bool reads(const Stored& stored, std::int64_t buffer) {
  const auto is_read = [&](Expr root) {
    return program::any_within(
        root, [&](Expr expr) { return expr.code() == program::Code::load && expr.payload() == buffer; });
  };
  return is_read(stored.value) || std::ranges::any_of(stored.at, is_read);
}

}  // namespace

bool have_disjoint_stores(const Declarations& declared, const Computation& a, const Computation& b) {
  const Stored *one = plain_store(a), *other = plain_store(b);
  if (!one || !other || one->buffer != other->buffer) return false;
  for (std::size_t k = 0; k < one->at.size(); ++k) {
    const auto first = declared.range_of(one->at[k]), second = declared.range_of(other->at[k]);
    if (first && second && (first->second < second->first || second->second < first->first)) return true;
  }
  return false;
}

void drop_overwritten(const Program& program, const Declarations& declared, Computations& computations) {
  std::vector<std::vector<Computation*>> writers(program.buffers.size());
  for (auto& computation : computations.list)
    for_each_result(
        computation, [&](std::int64_t buffer) { writers[std::size_t(buffer)].push_back(&computation); }, [](Expr) {});
  for (std::size_t b = 0; b < writers.size(); ++b) {
    const auto& pieces = writers[b];
    if (pieces.size() < 2 || pieces.size() > costs::nest::max_pieces) continue;
    const std::int64_t all = count_of(program.buffers[b]);
    std::int64_t count = 0;
    bool good = all > 0;
    for (std::size_t i = 0; i < pieces.size() && good; ++i) {
      const Stored* stored = plain_store(*pieces[i]);
      good = stored && !reads(*stored, std::int64_t(b)) && count_of(*stored) > 0;
      if (i == 0 || !good) continue;
      count += count_of(*stored);
      for (std::size_t k = 1; k < i && good; ++k) good = have_disjoint_stores(declared, *pieces[i], *pieces[k]);
    }
    if (good && count == all) pieces[0]->is_overwritten = true;
  }
}

}  // namespace bitale::lowering
