// Tiling: a loop that reads one array along rows and another along columns goes through both in square tiles, so that
// each cache line it brings in is used whole before it is dropped.
#include <algorithm>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::Loop;
using program::Step;
using program::Steps;

constexpr std::int64_t tile = 32;  // 32 x 32 doubles, 8 KiB: several fit the first-level cache

class Tiler {
 public:
  explicit Tiler(Plan& plan) : plan_(plan), pool_(*plan.program.pool) {}

  void run(Steps& steps) {
    for (auto& step : steps)
      if (auto* loop = std::get_if<Loop>(&step.what))
        if (!tile_loop(*loop)) run(loop->body);
  }

 private:
  // An element whose neighbours along `inner` are a row apart, and those along `outer` side by side.
  static bool is_transposed(Expr load, Expr outer, Expr inner) {
    const std::size_t n = load.argument_count();
    if (n < 2 || !(load.argument(n - 1) == outer)) return false;
    for (std::size_t k = 0; k + 1 < n; ++k)
      if (load.argument(k) == inner) return true;
    return false;
  }

  bool tile_loop(Loop& outer) {
    if (outer.body.size() != 1 || !outer.carries.empty()) return false;
    auto* inner = std::get_if<Loop>(&outer.body[0].what);
    if (!inner || !inner->carries.empty()) return false;
    if (is_short(outer.extent) || is_short(inner->extent)) return false;
    bool transposed = false, stores_only = true, rectangular = true;
    program::ExprWalk()(inner->extent, [&](Expr expr) { rectangular &= !(expr == outer.index); });
    program::ExprWalk walk;
    for (auto& step : inner->body) {
      stores_only &= std::holds_alternative<program::Store>(step.what);
      for_each_expr(step, [&](Expr& root) {
        walk(root, [&](Expr expr) {
          transposed |= expr.code() == Code::load && is_transposed(expr, outer.index, inner->index);
        });
      });
    }
    if (!transposed || !stores_only || !rectangular) return false;

    const Expr n = outer.extent, m = inner->extent;
    const auto count = [&](Expr extent) { return (extent + (tile - 1)) / tile; };
    const Expr across = plan_.new_index("it", count(n)), along = plan_.new_index("jt", count(m));
    const Expr rows = min(pool_.integer(tile), n - across * tile), columns = min(pool_.integer(tile), m - along * tile);
    const Expr i = plan_.new_index("i", rows), j = plan_.new_index("j", columns);
    const Stored moved{{outer.index.id(), across * tile + i}, {inner->index.id(), along * tile + j}};
    Steps body = std::move(inner->body);
    for (auto& step : body) for_each_expr(step, [&](Expr& root) { root = substitute(root, moved); });
    Step innermost{Loop{j, columns, {}, std::move(body), false}};
    Step tile_rows{Loop{i, rows, {}, {std::move(innermost)}, false}};
    Step tiles{Loop{along, count(m), {}, {std::move(tile_rows)}, false}};
    outer = Loop{across, count(n), {}, {std::move(tiles)}, false};
    return true;
  }

  static bool is_short(Expr extent) { return extent.is_constant() && extent.payload() <= tile; }

  Plan& plan_;
  ExprPool& pool_;
};

}  // namespace

void tile_loops(Plan& plan) { Tiler(plan).run(plan.program.steps); }

}  // namespace bitale::lowering
