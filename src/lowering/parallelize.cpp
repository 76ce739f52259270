// Parallel loops: finds the top-level loops that may run in chunks on several threads. A loop may if no iteration reads
// or overwrites what another one writes, and if its carried variables can be combined from parts without a change in
// any bit:
//   - rows that each iteration writes anew become private to each worker;
//   - a sum of floats that rows are added to sequentially becomes a column of addends and a loop that adds them in the
//     same order (innermost loops add in a tree whose branches are chunks: codegen ensures that);
//   - a loop that accumulates rows into a row is split into bands of columns; if it also does other things, it is split
//     into two loops, and so is one that adds what is long to compute at indices from memory;
//   - the loop with which blocks of rows begin is taken out of them, as a loop over all rows;
//   - functions called in a loop write to consecutive blocks of memory, one for each iteration, or to scratch that is
//     private to the worker; whether all of them succeed is a truth value that iterations combine.
// Scatters, prefix scans and everything else that must run in order are left unchanged. In which order sums are added
// was decided before: the parts of a loop keep the order that it had (Loop::lane_order).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/strips.hpp"
#include "program/accesses.hpp"
#include "program/index_runs.hpp"
#include "program/lane_order.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

namespace {

using program::Accesses;
using program::CarryKind;
using program::Code;
using program::Combiner;
using program::contains;
using program::is_fixed;
using program::Loop;
using program::OneOf;
using program::Step;
using program::Steps;

using namespace costs::threads;

// Whether the loop, inner loops included, consists of steps that may run in chunks.
bool only_simple_steps(const Loop& loop) {
  return !loop.until.defined() && std::ranges::all_of(loop.body, [](const Step& step) {
    return program::match(
        step, [](const Loop& inner) { return only_simple_steps(inner); },
        [](const OneOf<program::Store, program::Accumulate, program::Let, program::Update, program::Call> auto&) {
          return true;
        },
        [](const OneOf<program::Allocate, program::Fill, program::Check, program::HostCall, program::Next,
                       program::If> auto&) { return false; });
  });
}

class Parallelizer {
 public:
  Parallelizer(Program& program, Declarations& declare) : program_(program), pool_(*program.pool), declare_(declare) {}

  void run() {
    for (std::size_t at = 0; at < program_.steps.size(); ++at) note_uses(program_.steps[at], at);
    Steps steps;
    for (std::size_t at = 0; at < program_.steps.size(); ++at) {
      Step& step = program_.steps[at];
      Steps after;
      if (auto* loop = program::as_loop(step)) {
        if (auto first = take_out_first(*loop, at)) steps.push_back(std::move(*first));
        parallelize(*loop, at, after);
      }
      steps.push_back(std::move(step));
      for (auto& each : after) steps.push_back(std::move(each));
    }
    program_.steps = std::move(steps);
  }

 private:
  // ---- uses outside a loop ----
  struct Use {
    std::size_t first, last;  // top-level steps
  };
  static void note_use(std::unordered_map<std::int64_t, Use>& uses, std::int64_t which, std::size_t at) {
    uses.try_emplace(which, Use{at, at}).first->second.last = at;
  }
  void note_uses(const Step& step, std::size_t at) {
    const Accesses accesses(step);
    for (auto& [buffer, accessed] : accesses.buffers()) note_use(buffers_, buffer, at);
    for (const std::int64_t var : accesses.used) note_use(variables_, var, at);
  }
  bool is_private(std::int64_t buffer, std::size_t at) const {
    const Use& use = buffers_.at(buffer);
    return program_.buffers[std::size_t(buffer)].role == program::Role::temporary && use.first == at && use.last == at;
  }

  // ---- one loop ----
  void parallelize(Loop& loop, std::size_t at, Steps& after) {
    if (std::any_of(loop.body.begin(), loop.body.end(), calls_function)) return parallelize_calls(loop, at, after);
    const Accesses footprint(loop);
    if (!only_simple_steps(loop) || is_used_after(loop, footprint, at)) return;
    const bool innermost = std::all_of(loop.body.begin(), loop.body.end(), program::is_simple);
    if (innermost && loop.extent.is_constant() && loop.extent.payload() <= too_short) return;
    if (can_run_in_chunks(loop, footprint, at)) return mark(loop, footprint, after);
    if (parallelize_columns(loop, footprint)) return;
    // The accumulation over rows, or at indices from memory, may be the only obstacle.
    Loop rest = loop;
    choose_orders(program_, rest);
    const std::size_t buffers = program_.buffers.size();
    Steps accumulating = innermost ? take_out_scatters(rest, footprint) : take_out_accumulates(rest, footprint);
    if (accumulating.empty()) return program_.buffers.resize(buffers);
    const Accesses of_rest(rest);
    if (!can_run_in_chunks(rest, of_rest, at)) return program_.buffers.resize(buffers);
    loop = std::move(rest);
    mark(loop, of_rest, after);
    for (auto& step : accumulating) {
      auto& nest = *program::as_loop(step);
      parallelize_columns(nest, Accesses(nest));
      after.push_back(std::move(step));
    }
  }

  bool is_used_after(const Loop& loop, const Accesses& footprint, std::size_t at) const {
    return std::any_of(footprint.defined.begin(), footprint.defined.end(), [&](std::int64_t var) {
      const auto use = variables_.find(var);
      return use != variables_.end() && use->second.last > at && !is_carried(loop, var);
    });
  }

  // ---- calls of functions ----
  static bool calls_function(const Step& step) { return program::as_call(step) != nullptr; }

  void parallelize_calls(Loop& loop, std::size_t at, Steps& after) {
    Loop combined = loop;
    Steps checks = combine_checks(combined);
    const Accesses footprint(combined);
    if (!only_simple_steps(combined) || is_used_after(combined, footprint, at) ||
        !can_run_in_chunks(combined, footprint, at))
      return;
    loop = std::move(combined);
    mark(loop, footprint, after);
    for (auto& check : checks) after.push_back(std::move(check));
  }

  // Turns the checks of each iteration into a truth value that the loop carries, and that is checked after the loop.
  Steps combine_checks(Loop& loop) {
    Steps checks;
    for (auto& step : loop.body) {
      auto* check = program::as_check(step);
      if (!check) continue;
      const Expr all = declare_.var(DType::Bool);
      loop.carries.push_back({all, CarryKind::reduce, Combiner::bit_and});
      checks.push_back({program::Check{all, check->check}});
      step.what = program::Update{all, Combiner::bit_and, check->condition};
    }
    return checks;
  }

  // Buffers that the iterations of a loop write without each having its own part: each worker needs its own copy.
  static std::vector<std::int64_t> conflicting_writes(const Loop& loop, const Accesses& footprint) {
    std::vector<std::int64_t> out;
    for (auto& [buffer, accessed] : footprint.buffers())
      if (accessed.writes && !footprint.independent(buffer, loop.index)) out.push_back(buffer);
    return out;
  }

  bool can_run_in_chunks(const Loop& loop, const Accesses& footprint, std::size_t at) const {
    const auto buffers = conflicting_writes(loop, footprint);
    return can_split_carries(loop) && std::all_of(buffers.begin(), buffers.end(), [&](auto buffer) {
             return is_private(buffer, at) && footprint.private_to(buffer, loop.index);
           });
  }

  void mark(Loop& loop, const Accesses& footprint, Steps& after) {
    for (auto buffer : conflicting_writes(loop, footprint)) program_.buffers[std::size_t(buffer)].per_worker = true;
    loop.parallel_cost = work_of(loop.body, loop.vector);
    if (!loop.vector) defer_sums(loop, after);
  }

  static bool is_carried(const Loop& loop, std::int64_t var) {
    return std::any_of(loop.carries.begin(), loop.carries.end(),
                       [&](auto& carry) { return carry.var.payload() == var; });
  }

  static bool is_float_sum(const program::Carry& carry) {
    return carry.combiner == Combiner::add && is_float(carry.var.dtype());
  }

  // Whether the carried variables have exactly the same values when they are combined from parts.
  static bool can_split_carries(const Loop& loop) {
    bool possible = true;
    for (auto& carry : loop.carries) {
      possible &= carry.kind != CarryKind::prefix && !carry.is_state() &&
                  !(carry.combiner == Combiner::mul && is_float(carry.var.dtype()));
      if (carry.kind == CarryKind::arg_reduce) possible &= loop.vector;
      if (is_float_sum(carry) && !loop.vector) possible &= can_defer(loop, carry.var);
    }
    return possible;
  }

  // ---- sums over rows ----
  // Whether each addend is computed in the body itself, or by one vector loop in it whose sum is added as a whole.
  static bool can_defer(const Loop& loop, Expr sum) {
    for (auto& step : loop.body) {
      auto* inner = program::as_loop(step);
      if (!inner) continue;
      for (auto& deep : inner->body) {
        if (program::as_loop(deep) != nullptr && updates(deep, sum)) return false;
        if (!inner->vector && updates(deep, sum)) return false;
      }
    }
    return true;
  }
  static bool updates(const Step& step, Expr var) {
    bool found = false;
    program::for_each_definition(step, [&](Expr defined, program::Definition kind) {
      found |= kind == program::Definition::combined && defined == var;
    });
    program::for_each_body(step, [&](const Steps& body) {
      found |= std::any_of(body.begin(), body.end(), [&](auto& each) { return updates(each, var); });
    });
    return found;
  }

  // A temporary: the step that stores `value` in it at `at`, and the load by which another step reads it.
  struct StoredTemporary {
    Step store;
    Expr read;
  };
  StoredTemporary store_temporary(std::vector<Expr> shape, std::vector<Expr> at, Expr value) {
    const auto buffer = std::int64_t(program_.buffers.size());
    program::Buffer made;
    made.name = cat("addends", buffer);
    made.dtype = value.dtype();
    made.shape = std::move(shape);
    program_.buffers.push_back(std::move(made));
    const Expr read = pool_.load(buffer, value.dtype(), at);
    return {{program::Store{buffer, std::move(at), value}}, read};
  }

  void defer_sums(Loop& loop, Steps& after) {
    Loop adding{loop.index, loop.extent, {}, {}, false};
    for (auto& carry : loop.carries)
      if (is_float_sum(carry)) adding.carries.push_back(carry);
    if (adding.carries.empty()) return;
    std::erase_if(loop.carries, is_float_sum);
    Steps body;
    // Stores `value` in a column and returns the load that reads it there.
    const auto in_column = [&](Expr value) {
      StoredTemporary made = store_temporary({loop.extent}, {loop.index}, value);
      body.push_back(std::move(made.store));
      return made.read;
    };
    for (auto& step : loop.body) {
      auto* update = program::as_update(step);
      if (update && is_carried(adding, update->var.payload())) {
        // A product is added with a single rounding: its factors are stored.
        const bool is_product = update->value.code() == Code::mul;
        const Expr value = is_product ? pool_.make(Code::mul, update->value.dtype(),
                                                   std::vector<Expr>{in_column(update->value.argument(0)),
                                                                     in_column(update->value.argument(1))})
                                      : in_column(update->value);
        adding.body.push_back({program::Update{update->var, update->combiner, value}});
        continue;
      }
      std::vector<std::pair<Expr, Expr>> sums;  // sums of an inner loop, and what they are added to
      if (auto* inner = program::as_loop(step)) {
        for (auto& carry : adding.carries) {
          if (!updates(step, carry.var)) continue;
          const Expr sum = declare_.var(carry.var.dtype());
          inner->carries.push_back({sum});
          for (auto& deep : inner->body)
            if (auto* add = program::as_update(deep); add && add->var == carry.var) add->var = sum;
          sums.emplace_back(sum, carry.var);
        }
      }
      body.push_back(std::move(step));
      for (auto& [sum, total] : sums) adding.body.push_back({program::Update{total, Combiner::add, in_column(sum)}});
    }
    loop.body = std::move(body);
    after.push_back({std::move(adding)});
  }

  // ---- blocks of rows ----
  // Blocks of rows that begin with a loop over the rows of a block: the loop over all rows, taken out of them, if it
  // may run in chunks. What it hands to the rest is stored for all rows.
  std::optional<Step> take_out_first(Loop& blocks, std::size_t at) {
    const auto* first_loop = blocks.body.size() > 1 ? program::as_loop(blocks.body[0]) : nullptr;
    if (!first_loop || first_loop->until.defined() || !first_loop->carries.empty() || blocks.until.defined()) return {};
    const auto rows = rows_of_blocks(blocks, first_loop->extent);
    if (!rows) return {};
    Loop first = *first_loop, rest = blocks;
    rest.body.erase(rest.body.begin());
    const Accesses of_all(blocks), of_first(first), of_rest(rest);
    const auto is_made_there = [&](std::int64_t var) { return of_rest.defined.contains(var); };
    if (!only_simple_steps(first) || std::ranges::any_of(of_first.used, is_made_there)) return {};
    const Expr row = first.index, in_whole = rows->start + row;
    std::unordered_set<std::int64_t> narrow;  // the buffers that it writes and that have the rows of a block
    for (auto& [buffer, accessed] : of_first.buffers()) {
      const auto all_at = [&](const Accesses& accesses, Expr index) { return accesses.own_axes(buffer, index) & 1; };
      if (accessed.writes) {
        if (all_at(of_first, in_whole) && all_at(of_rest, in_whole)) continue;
        if (!of_rest.touches(buffer) && is_private(buffer, at) && of_first.private_to(buffer, first.index) &&
            of_all.private_to(buffer, blocks.index))
          continue;
        const auto& shape = program_.buffers[std::size_t(buffer)].shape;
        if (!all_at(of_first, row) || !(shape[0] == rows->in_block) || !is_private(buffer, at) ||
            !of_all.private_to(buffer, blocks.index))
          return {};
        narrow.insert(buffer);
      } else if (of_rest.writes(buffer)) {
        return {};
      }
    }
    if (narrow.empty() || !only_in_rows(first, blocks.index, in_whole, narrow)) return {};

    const Expr all = declare_.index("i", rows->count);
    choose_orders(program_, first);
    choose_orders(program_, rest);
    program::substitute(first.body, {{in_whole.id(), all}, {row.id(), all}});
    first.index = all;
    first.extent = rows->count;
    const Accesses moved(first);
    if (!can_run_in_chunks(first, moved, at)) return {};
    for (const std::int64_t buffer : narrow) {
      program_.buffers[std::size_t(buffer)].shape[0] = rows->count;
      buffers_.at(buffer).last = at + 1;  // no worker has it for itself
    }
    move_rows(rest.body, *rows, blocks.index, narrow);
    blocks = std::move(rest);
    Steps after;  // of sums, of which there are none
    mark(first, moved, after);
    return Step{std::move(first)};
  }

  struct RowsOfBlocks {
    Expr count, in_block, start;  // of all rows; of a block's, and where it starts
  };
  // None where the loop does not go through blocks of rows, of which one has min(in_block, count - start).
  std::optional<RowsOfBlocks> rows_of_blocks(const Loop& blocks, Expr extent) const {
    if (extent.code() != Code::min) return {};
    for (std::size_t k = 0; k < 2; ++k) {
      const Expr in_block = extent.argument(k), left = extent.argument(1 - k), start = blocks.index * in_block;
      if (!is_fixed(in_block) || left.code() != Code::sub || !(left.argument(1) == start)) continue;
      const Expr count = left.argument(0);
      if (is_fixed(count) && blocks.extent == (count + (in_block - 1)) / in_block)
        return RowsOfBlocks{count, in_block, start};
    }
    return {};
  }

  // Whether the loop uses the number of the block, and its own index, for the number of a row only.
  static bool only_in_rows(const Loop& loop, Expr block, Expr in_whole,
                           const std::unordered_set<std::int64_t>& narrow) {
    std::vector<Expr> roots;
    program::visit_steps(loop.body, [&](const Step& step) {
      const Expr* own = nullptr;  // where the loop's index may be: the first of such a buffer
      program::for_each_access(step, [&](const program::Access& access) {
        if (access.at && narrow.contains(access.buffer)) own = access.at->data();
      });
      program::for_each_expr(step, [&](const Expr& root) {
        if (&root != own) roots.push_back(root);
      });
    });
    bool all = true;
    program::ExprWalk walk;
    for (std::size_t k = 0; k < roots.size(); ++k)
      walk(roots[k], [&](Expr expr) {
        all &= !(expr == block) && !(expr == loop.index);
        if (expr == in_whole) return false;
        if (expr.code() != Code::load || !narrow.contains(expr.payload())) return true;
        const auto at = program::arguments_of(expr);
        roots.insert(roots.end(), at.begin() + 1, at.end());
        return false;
      });
    return all;
  }

  // Element [i, ...] of a block becomes [start + i, ...] of the whole.
  void move_rows(Steps& steps, const RowsOfBlocks& rows, Expr block, const std::unordered_set<std::int64_t>& narrow) {
    program::move_elements(steps, [&](std::int64_t buffer, std::vector<Expr>& at) {
      if (!at.empty() && narrow.contains(buffer)) at[0] = rows.start + at[0];
      return buffer;
    });
    program::visit_steps(steps, [&](Step& step) {
      auto* call = program::as_call(step);
      if (!call) return;
      for (auto& argument : call->arguments) {
        auto* memory = std::get_if<program::BufferArgument>(&argument);
        if (!memory || !narrow.contains(memory->buffer)) continue;
        Expr elements = rows.in_block;
        const auto& shape = program_.buffers[std::size_t(memory->buffer)].shape;
        for (std::size_t axis = 1; axis < shape.size(); ++axis) elements = elements * shape[axis];
        const Expr offset = block * elements;
        memory->offset = memory->offset.defined() ? memory->offset + offset : offset;
      }
    });
  }

  // ---- accumulating rows into a row ----
  // Moves row[j] += ... out of `for i: ..., for j: row[j] += ..., ...`, into nests that come after it. The addend is
  // recomputed there if that is possible and cheap, or stored if there is much else to compute.
  Steps take_out_accumulates(Loop& loop, const Accesses& footprint) {
    Steps out, body;
    const std::int64_t all = plain_operations(loop.body);
    for (auto& step : loop.body) {
      auto* inner = program::as_loop(step);
      if (!inner || !is_fixed(inner->extent)) {
        body.push_back(std::move(step));
        continue;
      }
      Steps kept;
      for (auto& deep : inner->body) {
        auto* accumulate = program::as_add(deep);
        const std::int64_t own = program::operations(deep);
        const bool again = accumulate && worth_repeating * own <= all && is_known_outside(accumulate->value, footprint);
        if (!accumulate || !adds_to_a_row(*accumulate, *inner, loop, footprint) || (!again && all < worth_storing)) {
          kept.push_back(std::move(deep));
          continue;
        }
        Expr value = accumulate->value;
        if (!again) {
          StoredTemporary made = store_temporary({loop.extent, inner->extent}, {loop.index, inner->index}, value);
          kept.push_back(std::move(made.store));
          value = made.read;
        }
        Loop row{inner->index, inner->extent, {}, {}, inner->vector};
        row.body.push_back({program::Accumulate{accumulate->buffer, accumulate->at, accumulate->combiner, value}});
        Loop nest{loop.index, loop.extent, {}, {}, false};
        nest.body.push_back({std::move(row)});
        out.push_back({std::move(nest)});
      }
      inner->body = std::move(kept);
      if (!inner->body.empty()) body.push_back(std::move(step));
    }
    loop.body = std::move(body);
    return out;
  }

  // Moves b[index[i]] += ... out of an innermost loop that computes much else, into loops that come after it.
  Steps take_out_scatters(Loop& loop, const Accesses& footprint) {
    Steps out;
    if (plain_operations(loop.body) < worth_storing) return out;
    for (auto& step : loop.body) {
      auto* accumulate = program::as_add(step);
      if (!accumulate || footprint.of(accumulate->buffer).list.size() != 1) continue;
      StoredTemporary made = store_temporary({loop.extent}, {loop.index}, accumulate->value);
      Loop adding{loop.index, loop.extent, {}, {}, loop.vector};
      adding.lane_order = loop.lane_order;
      accumulate->value = made.read;
      adding.body.push_back(std::exchange(step, std::move(made.store)));
      out.push_back({std::move(adding)});
    }
    return out;
  }

  // Whether this is the only access to its buffer, at an index that depends on the inner loop's index alone.
  static bool adds_to_a_row(const program::Accumulate& step, const Loop& inner, const Loop& outer,
                            const Accesses& footprint) {
    return footprint.of(step.buffer).list.size() == 1 && footprint.independent(step.buffer, inner.index) &&
           std::all_of(step.at.begin(), step.at.end(),
                       [&](Expr at) { return at == inner.index || (is_fixed(at) && !contains(at, outer.index)); });
  }
  static bool is_known_outside(Expr value, const Accesses& footprint) {
    return !program::any_within(value, [&](Expr expr) {
      return (expr.code() == Code::load && footprint.writes(expr.payload())) ||
             (expr.code() == Code::var && footprint.defined.contains(expr.payload()));
    });
  }
  static std::int64_t plain_operations(const Steps& steps) {
    std::int64_t total = 0;
    for (auto& step : steps) {
      auto* loop = program::as_loop(step);
      if (!loop) total += program::operations(step);
      program::for_each_body(step, [&](const Steps& body) { total += plain_operations(body); });
    }
    return total;
  }

  // Splits for i: for j: row[j] += ... into bands of j, each of which goes through all i.
  bool parallelize_columns(Loop& loop, const Accesses& footprint) {
    if (!loop.carries.empty() || loop.body.empty()) return false;
    auto* first = program::as_loop(loop.body[0]);
    if (!first || !is_fixed(first->extent)) return false;
    if (first->extent.is_constant() && first->extent.payload() <= band) return false;
    for (auto& step : loop.body) {
      auto* inner = program::as_loop(step);
      if (!inner || !inner->carries.empty() || !(inner->index == first->index) || !(inner->extent == first->extent))
        return false;
    }
    for (auto& [buffer, accessed] : footprint.buffers())
      if (accessed.writes && !footprint.independent(buffer, first->index)) return false;

    const Strips bands(declare_, "band", first->extent, pool_.integer(band));
    const Expr j = declare_.index("j", bands.size);
    const program::Substitution moved{{first->index.id(), bands.start + j}};
    for (auto& step : loop.body) {
      auto& inner = *program::as_loop(step);
      program::substitute(inner.body, moved);
      inner.index = j;
      inner.extent = bands.size;
    }
    Loop all{bands.index, bands.count, {}, {}, false};
    all.body.push_back({std::move(loop)});
    all.parallel_cost = work_of(all.body, false);
    loop = std::move(all);
    return true;
  }

  // ---- estimates of the work ----
  Expr work_of(Steps& body, bool in_lanes) {
    Expr total = pool_.integer(1);
    program::ExprWalk walk;
    for (auto& step : body) {
      std::int64_t calls = 0;
      program::for_each_expr(step,
                             [&](Expr& root) { walk(root, [&](Expr expr) { calls += expr.code() == Code::call; }); });
      total = total + (program::operations(step) * (in_lanes ? 1 : scalar_weight) + calls * call_weight);
      if (auto* call = program::as_call(step)) total = total + flops_of(*call);
      if (auto* loop = program::as_loop(step))
        total = total + known_bound(loop->extent) * work_of(loop->body, loop->vector);
    }
    return total;
  }
  Expr flops_of(const program::Call& call) {
    const runtime::RuntimeFunction* row = runtime::find_function(call.function);
    if (!row || row->flops.of.empty()) return pool_.integer(call_weight);
    Expr flops = pool_.integer(row->flops.factor);
    for (auto& name : row->flops.of)
      flops = flops * known_bound(std::get<Expr>(call.arguments[row->argument_index(name)]));
    return row->flops.divisor > 1 ? flops / pool_.integer(row->flops.divisor) : flops;
  }
  // A length, or one that it does not exceed, that is known before any loop: rows are counted in blocks and tiles.
  Expr known_bound(Expr length) {
    if (is_fixed(length)) return length;
    if (length.code() == Code::min)
      for (std::size_t i = 0; i < 2; ++i)
        if (is_fixed(length.argument(i))) return length.argument(i);
    return pool_.integer(unknown_extent);
  }

  Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  std::unordered_map<std::int64_t, Use> buffers_, variables_;
};

}  // namespace

void parallelize_loops(Program& program, Declarations& declare) { Parallelizer(program, declare).run(); }

}  // namespace bitale::lowering
