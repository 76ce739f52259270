// Tiling: a loop that reads one array along rows and another along columns visits both in tiles, so that each cache
// line is used completely before it is evicted. What it reads along columns is first copied, transposed, into a buffer
// of a tile's size, which remains in the first-level cache, and the loop itself then reads all its arrays along rows.
// The copy says what it is (Loop::transposes), and both say how far ahead the next tile is (Loop::prefetch_distance).
#include <algorithm>

#include "bitale/core/text.hpp"
#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/strips.hpp"
#include "program/accesses.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::contains;
using program::Loop;
using program::Step;
using program::Steps;

using namespace costs::tiles;

class Tiler {
 public:
  Tiler(Program& program, Declarations& declare) : pool_(*program.pool), declare_(declare) {}

  void run(Steps& steps) {
    for (auto& step : steps) {
      auto* loop = program::as_loop(step);
      if (!loop || !tile_loop(*loop)) program::for_each_body(step, [&](Steps& body) { run(body); });
    }
  }

 private:
  // Whether `at` is the index plus something constant in the loops.
  static bool counts(Expr at, Expr index, Expr other) {
    return program::stride(at, index) == 1 && !contains(at, other);
  }

  // Whether the neighbours of an element along `inner` are a row apart, and those along `outer` are adjacent.
  static bool is_transposed(Expr load, Expr outer, Expr inner) {
    const std::size_t n = load.argument_count();
    if (n < 2 || !counts(load.argument(n - 1), outer, inner)) return false;
    int along = 0;
    for (std::size_t k = 0; k + 1 < n; ++k) {
      const Expr at = load.argument(k);
      if (counts(at, inner, outer))
        ++along;
      else if (contains(at, inner) || contains(at, outer))
        return false;
    }
    return along == 1;
  }

  bool tile_loop(Loop& outer) {
    if (outer.body.size() != 1 || !outer.carries.empty()) return false;
    auto* inner = program::as_loop(outer.body[0]);
    if (!inner || !inner->carries.empty() || inner->until.defined() || outer.until.defined()) return false;
    if (is_short(outer.extent, height) || is_short(inner->extent, width / 2)) return false;
    if (contains(inner->extent, outer.index)) return false;
    std::vector<Expr> transposed;
    program::ExprWalk walk;
    for (auto& step : inner->body) {
      const auto* store = program::as_store(step);
      if (!store) return false;
      program::for_each_load(step, walk, [&](Expr load) {
        if (is_transposed(load, outer.index, inner->index)) transposed.push_back(load);
      });
    }
    for (auto& step : inner->body)
      std::erase_if(transposed, [&](Expr load) { return load.payload() == program::as_store(step)->buffer; });
    if (transposed.empty()) return false;

    const Strips across(declare_, "it", outer.extent, pool_.integer(height));
    const Strips along(declare_, "jt", inner->extent, pool_.integer(width));
    const Expr rows = across.size, columns = along.size;
    const auto moved = [&](Expr i, Expr j) {
      return program::Substitution{{outer.index.id(), across.start + i}, {inner->index.id(), along.start + j}};
    };
    Steps tile_steps;
    program::Substitution brought;
    const Expr i = declare_.index("i", rows), j = declare_.index("j", columns);
    for (auto& load : transposed) {
      const std::int64_t buffer = add_tile(load.dtype());
      const Expr ti = declare_.index("i", rows), tj = declare_.index("j", columns);
      const Expr at[] = {ti, tj}, read_at[] = {i, j};
      Step copy{program::Store{buffer, {at[0], at[1]}, program::substitute(load, moved(ti, tj))}};
      tile_steps.push_back(nest(ti, rows, tj, columns, {std::move(copy)}, true));
      brought[load.id()] = pool_.load(buffer, load.dtype(), read_at);
    }
    Steps body = std::move(inner->body);
    program::substitute(body, brought);
    program::substitute(body, moved(i, j));
    tile_steps.push_back(nest(i, rows, j, columns, std::move(body), false));
    Step tiles{Loop{along.index, along.count, {}, std::move(tile_steps), false}};
    outer = Loop{across.index, across.count, {}, {std::move(tiles)}, false};
    return true;
  }

  // The next tile is `width` further along j.
  static Step nest(Expr i, Expr rows, Expr j, Expr columns, Steps body, bool transposes) {
    Step innermost{Loop{j, columns, {}, std::move(body), false, width}};
    return {Loop{i, rows, {}, {std::move(innermost)}, false, 0, transposes}};
  }

  std::int64_t add_tile(DType dtype) {
    program::Buffer buffer;
    buffer.name = cat("tile", ++tiles_);
    buffer.dtype = dtype;
    buffer.shape = {pool_.integer(height), pool_.integer(width)};
    return declare_.buffer(std::move(buffer));
  }

  static bool is_short(Expr extent, std::int64_t tile) { return extent.is_constant() && extent.payload() <= tile; }

  program::ExprPool& pool_;
  Declarations& declare_;
  int tiles_ = 0;
};

}  // namespace

void tile_loops(Program& program, Declarations& declare) { Tiler(program, declare).run(program.steps); }

}  // namespace bitale::lowering
