#include "program/hoisted_load.hpp"

#include <algorithm>
#include <ranges>

namespace bitale::program {

std::vector<Bound> bounds_of_hoisted_load(const Program& program, std::int64_t buffer, std::span<const Expr> at) {
  const Buffer& of = program.buffers[std::size_t(buffer)];
  const auto is_zero = [](Expr index) { return index.is_constant(0); };
  const bool is_flat = at.size() > 1 && std::ranges::all_of(at.first(at.size() - 1), is_zero);
  const bool may_have_layout = of.role == Role::input && at.size() > 1 && is_zero(at[0]);
  std::vector<Bound> out;
  for (std::size_t k = 0; k < at.size(); ++k) {
    if (at[k].code() == Code::index || (may_have_layout && !is_zero(at[k]))) continue;
    Expr length = of.shape[k];
    if (is_flat && k + 1 == at.size())
      for (auto& leading : of.shape | std::views::take(k)) length = length * leading;
    const bool is_certain =
        at[k].is_constant() && length.is_constant() && at[k].payload() >= 0 && at[k].payload() < length.payload();
    if (!is_certain) out.push_back({at[k], length});
  }
  return out;
}

}  // namespace bitale::program
