#include "bitale/graph/structure.hpp"

#include <array>

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

struct FactName {
  std::string_view key, argument;
};
constexpr std::array<FactName, fact_count> fact_names{{{"diag", "diagonal"},
                                                       {"tril", "lower_triangular"},
                                                       {"triu", "upper_triangular"},
                                                       {"sym", "symmetric"},
                                                       {"pd", "positive_definite"},
                                                       {"orth", "orthogonal"},
                                                       {"sel", "selection"},
                                                       {"perm", "permutation"},
                                                       {"uniq", "unique_indices"},
                                                       {"posdiag", "positive_diagonal"},
                                                       {"unitdiag", "unit_diagonal"},
                                                       {"psd", "positive_semidefinite"},
                                                       {"square", "square"},
                                                       {"tridiag", "tridiagonal"},
                                                       {"unit", "unit_magnitude"},
                                                       {"skew", "skew_symmetric"}}};

constexpr std::uint16_t mask(std::initializer_list<Fact> facts) {
  unsigned out = 0;
  for (Fact fact : facts) out |= 1u << unsigned(fact);
  return std::uint16_t(out);
}

// All of `from` together imply `fact`.
struct Implication {
  std::uint16_t from;
  Fact fact;
};
using enum Fact;
constexpr Implication implications[] = {
    {mask({Diagonal}), LowerTriangular},
    {mask({Diagonal}), UpperTriangular},
    {mask({Diagonal}), Symmetric},
    {mask({Diagonal}), Tridiagonal},
    {mask({LowerTriangular, UpperTriangular, Square}), Diagonal},
    {mask({LowerTriangular, Symmetric}), Diagonal},
    {mask({UpperTriangular, Symmetric}), Diagonal},
    {mask({LowerTriangular, Orthogonal}), Diagonal},
    {mask({UpperTriangular, Orthogonal}), Diagonal},
    {mask({Diagonal, PositiveDiagonal}), PositiveDefinite},
    {mask({Diagonal, UnitDiagonal}), Orthogonal},
    {mask({Diagonal, Orthogonal, PositiveDiagonal}), UnitDiagonal},
    {mask({PositiveDefinite}), PositiveSemidefinite},
    {mask({PositiveSemidefinite}), Symmetric},
    {mask({Symmetric}), Square},
    {mask({SkewSymmetric}), Square},
    {mask({Orthogonal}), Square},
    {mask({PositiveDefinite}), PositiveDiagonal},
    {mask({PositiveDefinite, Orthogonal}), Diagonal},
    {mask({Permutation}), Selection},
    {mask({Permutation}), Orthogonal},
    {mask({UnitDiagonal}), PositiveDiagonal},
};

}  // namespace

std::string_view short_name(Fact fact) { return fact_names[std::size_t(fact)].key; }
std::string_view long_name(Fact fact) { return fact_names[std::size_t(fact)].argument; }

Structure::Structure(std::initializer_list<Fact> holding) : holds_(mask(holding)) { close(); }

// Applies each implication and its contrapositive: if the conclusion does not hold and all premises but one do, that
// one does not hold.
void Structure::close() {
  for (bool changed = true; changed;) {
    changed = false;
    const auto set = [&](std::uint16_t& facts, unsigned more) {
      changed |= (facts & more) != more;
      facts = std::uint16_t(facts | more);
    };
    for (auto& [from, fact] : implications) {
      if ((holds_ & from) == from) set(holds_, bit(fact));
      const unsigned open = from & ~unsigned(holds_);
      if ((fails_ & bit(fact)) && open && (open & (open - 1)) == 0) set(fails_, open);
    }
  }
}

void Structure::add(Fact fact) {
  holds_ = std::uint16_t(holds_ | bit(fact));
  close();
}

void Structure::exclude(Fact fact) {
  fails_ = std::uint16_t(fails_ | bit(fact));
  close();
}

void Structure::add(const Structure& other) {
  holds_ = std::uint16_t(holds_ | other.holds_);
  fails_ = std::uint16_t(fails_ | other.fails_);
  close();
}

Structure Structure::transposed() const {
  Structure out;
  const auto exchanged = [](std::uint16_t facts) {
    const unsigned lower = mask({LowerTriangular}), upper = mask({UpperTriangular});
    unsigned out = facts & ~(lower | upper | unsigned(mask({Selection, UniqueIndices})));
    if (facts & lower) out |= upper;
    if (facts & upper) out |= lower;
    return std::uint16_t(out);
  };
  out.holds_ = exchanged(holds_);
  out.fails_ = exchanged(fails_);
  out.close();
  return out;
}

Structure Structure::common(const Structure& other) const {
  Structure out;
  out.holds_ = std::uint16_t(holds_ & other.holds_);
  out.fails_ = std::uint16_t(fails_ & other.fails_);
  return out;
}

std::vector<std::string> Structure::contradictions() const {
  std::vector<std::string> out;
  for (int k = 0; k < fact_count; ++k)
    if (is(Fact(k)) && is_not(Fact(k))) out.push_back(std::string(long_name(Fact(k))));
  return out;
}

std::string Structure::str() const {
  std::vector<std::string> parts;
  for (int k = 0; k < fact_count; ++k) {
    const Fact fact = Fact(k);
    if (is(fact)) parts.push_back(std::string(short_name(fact)));
    if (is_not(fact)) parts.push_back(cat("!", short_name(fact)));
  }
  return join(parts, ",");
}

Structure Structure::parse(std::string_view text) {
  Structure out;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    std::string_view name = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    const bool holding = !name.starts_with('!');
    if (!holding) name.remove_prefix(1);
    int k = 0;
    while (k < fact_count && fact_names[std::size_t(k)].key != name) ++k;
    if (k == fact_count) throw ValueError(cat("\"", name, "\" is not a known fact about matrices"));
    holding ? out.add(Fact(k)) : out.exclude(Fact(k));
  }
  return out;
}

}  // namespace bitale
