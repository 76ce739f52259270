// Outer-loop vectorisation of batches. Where the steps of a scan treat all elements of a batch alike, in loops over the
// batch around short loops of known lengths, these become one innermost loop of straight code whose iterations can run
// as lanes: loops over the batch are fused, loops inside them are unrolled, and values that are local to an iteration
// are kept in variables. Buffers that have the batch as an outer axis are laid out with the batch last, so that lanes
// are adjacent in memory. The rows of small matrices are treated as such a batch where their elements, as scalars,
// would take long to compile and would not fit into registers.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "lowering/contractions.hpp"
#include "lowering/costs.hpp"
#include "lowering/fuse_loops.hpp"
#include "lowering/passes.hpp"
#include "lowering/straight_code.hpp"
#include "lowering/straight_loop.hpp"
#include "program/accesses.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::Loop;
using program::Role;
using program::Step;
using program::Steps;

using namespace costs::scans;

// What the lanes are: elements of a batch, or rows of small matrices, all of which fit into one vector.
enum class Over { batch, rows };

bool is_over(Over what, Expr extent) {
  if (what == Over::batch) return !extent.is_constant() || extent.payload() >= costs::shortest_long;
  return extent.is_constant() && extent.payload() >= min_rows && extent.payload() <= max_rows;
}

bool is_serial_loop(const Loop& loop) {
  return std::any_of(loop.carries.begin(), loop.carries.end(), [](auto& carry) { return carry.is_state(); });
}
// The total size of the steps in a loop over the batch.
std::optional<std::int64_t> body_size(const Loop& loop, Over what) {
  return is_over(what, loop.extent) ? straight_body_size(loop) : std::nullopt;
}

class Batches {
 public:
  Batches(Program& program, Declarations& declare, const Lengths& lengths)
      : program_(program), pool_(*program.pool), declare_(declare), lengths_(lengths) {}

  void run() {
    make_lanes_in_steps(program_.steps);
    if (made_.empty()) return;
    choose_layouts();
    make_lanes_beside(program_.steps);
    lay_out();
  }

 private:
  // ---- loops ----

  void make_lanes_in_steps(Steps& steps) {
    Steps out;
    for (auto& step : steps) {
      program::for_each_body(step, [&](Steps& body) { make_lanes_in_steps(body); });
      auto* loop = program::as_loop(step);
      if (loop && is_serial_loop(*loop)) {
        if (batch_gains(loop->body))
          loop->body = in_lanes(std::move(loop->body), Over::batch);
        else if (rows_gain(loop->body))
          loop->body = in_lanes(std::move(loop->body), Over::rows);
        copy_inputs(*loop, out);
      }
      out.push_back(std::move(step));
    }
    steps = std::move(out);
  }

  static bool batch_gains(const Steps& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
      const auto* batch = program::as_loop(step);
      return batch && body_size(*batch, Over::batch) && (holds_loops(*batch) || reads_along_rows(*batch));
    });
  }
  // Rows of few expressions become scalars instead: values carried from one iteration to the next then stay in
  // registers.
  static bool rows_gain(const Steps& steps) {
    std::int64_t scalars = 0;
    for (auto& step : steps)
      if (const auto* rows = program::as_loop(step); rows && holds_loops(*rows))
        scalars += body_size(*rows, Over::rows).value_or(0) * rows->extent.payload();
    return scalars >= worth_rows;
  }

  // Whether the loop accesses a buffer in which the batch is an axis other than the last.
  static bool reads_along_rows(const Loop& loop) {
    const program::Accesses accesses(loop.body);
    return std::ranges::any_of(accesses.buffers(), [&](auto& each) {
      return std::ranges::any_of(each.second.list, [&](const program::ElementAccess& access) {
        const auto axis = access.axis_of(loop.index);
        return axis && *axis + 1 != access.at.size();
      });
    });
  }

  Steps in_lanes(Steps steps, Over what) {
    FusedLoops group = fuse_loops(
        steps, [&](const Loop& loop) { return body_size(loop, what).has_value(); }, declare_, program_);
    if (!group.fused || !body_size(*group.fused, what) || !make_lanes(*group.fused)) return steps;
    Steps out = std::move(group.before);
    out.push_back({std::move(*group.fused)});
    // The steps after it may have loops over the batch that could not be fused into it.
    Steps rest = group.is_whole ? std::move(group.after) : in_lanes(std::move(group.after), what);
    std::move(rest.begin(), rest.end(), std::back_inserter(out));
    return out;
  }

  bool make_lanes(Loop& loop) {
    if (!make_straight(program_, declare_, loop)) return false;
    made_.insert(loop.index.payload());
    return true;
  }

  // ---- inputs ----

  // Small inputs and constants that lanes read at constant indices, with the batch along an axis other than the last,
  // are copied before the loop, with the batch last.
  void copy_inputs(Loop& loop, Steps& before) {
    std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> copies;  // by buffer and axis of the batch
    for (auto& step : loop.body) {
      auto* lanes = program::as_loop(step);
      if (!lanes || !made_.contains(lanes->index.payload())) continue;
      program::move_elements(lanes->body, [&](std::int64_t buffer, std::vector<Expr>& at) {
        const auto batch = std::find(at.begin(), at.end(), lanes->index);
        if (batch == at.end() || batch + 1 == at.end() || !is_small_input(buffer)) return buffer;
        const auto axis = std::size_t(batch - at.begin());
        for (std::size_t k = 0; k < at.size(); ++k)
          if (k != axis && !at[k].is_constant()) return buffer;
        const auto [known, is_new] = copies.try_emplace({buffer, axis}, 0);
        if (is_new) known->second = copy_before(buffer, axis, before);
        put_last(at, axis);
        return known->second;
      });
    }
  }
  bool is_small_input(std::int64_t b) const {
    const program::Buffer& buffer = program_.buffers[std::size_t(b)];
    if (buffer.role != Role::input && buffer.role != Role::constant) return false;
    std::int64_t count = 1;
    for (auto& length : lengths_.canonical(buffer.shape)) {
      if (!length.is_constant() || length.payload() < 1 || length.payload() > max_copied) return false;
      count *= length.payload();
      if (count > max_copied) return false;
    }
    return true;
  }
  std::int64_t copy_before(std::int64_t buffer, std::size_t axis, Steps& before) {
    std::vector<Expr> shape = lengths_.canonical(program_.buffers[std::size_t(buffer)].shape);
    const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
    std::vector<Expr> from = declare_.indices_of(shape), to = from;
    put_last(to, axis);
    put_last(shape, axis);
    program::Buffer copy;
    copy.name = "lanes";
    copy.dtype = dtype;
    copy.shape = shape;
    const std::int64_t out = declare_.buffer(std::move(copy));
    before.push_back(in_loops(to, shape, {program::Store{out, to, pool_.load(buffer, dtype, from)}}));
    return out;
  }

  // ---- layouts ----

  // Finds the buffers in which the batch is an axis other than the last. Where accesses have lanes along different
  // axes, the axis with the highest count is chosen, and stores count twice as much as loads.
  void choose_layouts() {
    std::set<std::int64_t> refused, read;
    std::map<std::int64_t, std::map<std::size_t, int>> along;
    program::visit_steps(program_.steps, [&](const Step& step) {
      const auto* loop = program::as_loop(step);
      if (!loop || !made_.contains(loop->index.payload()) || holds_loops(*loop)) return;
      const program::Accesses accesses(loop->body);
      for (auto& [buffer, accessed] : accesses.buffers())
        for (auto& access : accessed.list) {
          if (access.is_load) read.insert(buffer);
          if (const auto axis = access.axis_of(loop->index)) along[buffer][*axis] += access.is_load ? 1 : 2;
        }
    });
    refuse_handed(refused);
    for (auto& [buffer, counts] : along) {
      std::size_t axis = program_.buffers[std::size_t(buffer)].shape.size() - 1;
      for (auto& [other, count] : counts)
        if (const auto known = counts.find(axis); known == counts.end() || count > known->second) axis = other;
      if (axis + 1 == program_.buffers[std::size_t(buffer)].shape.size()) continue;
      const Role role = program_.buffers[std::size_t(buffer)].role;
      // A result that is also a state is kept in another buffer until the loop is done.
      if (!refused.contains(buffer) && (role == Role::temporary || (role == Role::output && read.contains(buffer))))
        last_[buffer] = axis;
    }
  }
  // Memory that is passed to functions or to the host keeps its layout, and so do buffers whose dimensions are queried.
  void refuse_handed(std::set<std::int64_t>& refused) const {
    const program::Accesses accesses(program_.steps);
    refused.insert(accesses.lengths.begin(), accesses.lengths.end());
    for (auto& [buffer, accessed] : accesses.buffers())
      if (std::ranges::any_of(accessed.list, &program::ElementAccess::is_handed)) refused.insert(buffer);
    program::ExprWalk walk;
    for (auto& buffer : program_.buffers)
      for (auto& length : buffer.shape)
        walk(length, [&](Expr expr) {
          if (expr.code() == Code::dim) refused.insert(expr.payload() >> 8);
        });
  }

  // Also turns other loops over the batch into lanes if they access buffers that get a new layout.
  void make_lanes_beside(Steps& steps) {
    Steps out;
    for (auto& step : steps) {
      auto* loop = program::as_loop(step);
      const bool touches =
          loop && is_over(Over::batch, loop->extent) && holds_loops(*loop) && touches_along_batch(*loop);
      const auto size = touches ? body_size(*loop, Over::batch) : std::nullopt;
      if (size && *size <= max_outside_steps && make_lanes(*loop)) {
        // The loop is converted.
      } else if (touches && sums_along(*loop)) {
        exchange(std::move(*loop), out);
        continue;
      } else {
        program::for_each_body(step, [&](Steps& body) { make_lanes_beside(body); });
      }
      out.push_back(std::move(step));
    }
    steps = std::move(out);
  }
  // Whether each iteration of the loop is a long reduction loop, followed by simple steps that use its result.
  static bool sums_along(const Loop& loop) {
    const auto* inner = program::as_loop(loop.body[0]);
    if (!loop.carries.empty() || loop.until.defined() || !inner || !only_reduces(*inner) ||
        program::contains(inner->extent, loop.index))
      return false;
    for (std::size_t k = 1; k < loop.body.size(); ++k)
      if (!program::is_simple(loop.body[k])) return false;
    std::set<std::int64_t> carried;
    for (auto& carry : inner->carries) carried.insert(carry.var.payload());
    bool good = true;
    for (auto& step : inner->body) {
      const auto size = straight_size(step);
      good &= size && *size <= max_outside_steps;
    }
    program::visit_steps(inner->body, [&](const Step& step) {
      const auto* update = program::as_update(step);
      const auto* within = program::as_loop(step);
      good &= (update && carried.contains(update->var.payload()) && !update->position_var.defined()) ||
              (within && within->carries.empty());
    });
    return good;
  }
  // Loop interchange: the long loop becomes the outer one, and the sums are kept in memory, one for each element of the
  // batch.
  void exchange(Loop loop, Steps& out) {
    Loop inner = std::move(*program::as_loop(loop.body[0]));
    std::map<std::int64_t, std::int64_t> sums;  // per carried variable: its buffer
    program::Substitution totals;
    Loop starts{loop.index, loop.extent, {}, {}, false}, ends = starts, terms = starts;
    for (auto& carry : std::exchange(inner.carries, {})) {
      const DType dtype = carry.var.dtype();
      program::Buffer memory;
      memory.name = "sum";
      memory.dtype = dtype;
      memory.shape = {loop.extent};
      const auto sum = declare_.buffer(std::move(memory));
      sums[carry.var.payload()] = sum;
      totals[carry.var.id()] = pool_.load(sum, dtype, std::vector<Expr>{loop.index});
      starts.body.push_back({program::Store{sum, {loop.index}, program::identity(carry.combiner, pool_, dtype)}});
    }
    const auto in_memory = [&](auto& self, Steps& steps) -> void {
      for (auto& step : steps) {
        if (auto* update = program::as_update(step))
          step =
              Step{program::Accumulate{sums.at(update->var.payload()), {loop.index}, update->combiner, update->value}};
        program::for_each_body(step, [&](Steps& body) { self(self, body); });
      }
    };
    in_memory(in_memory, inner.body);
    terms.body = std::exchange(inner.body, {});
    make_lanes(terms);
    inner.body.push_back({std::move(terms)});
    for (std::size_t k = 1; k < loop.body.size(); ++k) {
      program::for_each_expr(loop.body[k], [&](Expr& expr) { expr = program::substitute(expr, totals); });
      ends.body.push_back(std::move(loop.body[k]));
    }
    out.push_back({std::move(starts)});
    out.push_back({std::move(inner)});
    out.push_back({std::move(ends)});
  }
  bool touches_along_batch(const Loop& loop) const {
    const program::Accesses accesses(loop.body);
    return std::ranges::any_of(last_, [&](auto& each) {
      auto& [buffer, axis] = each;
      return std::ranges::any_of(accesses.of(buffer).list, [&](const program::ElementAccess& access) {
        return access.is_element() && access.at[axis] == loop.index;
      });
    });
  }

  static void put_last(std::vector<Expr>& at, std::size_t axis) {
    if (at.empty()) return;
    const auto batch = at.begin() + std::ptrdiff_t(axis);
    std::rotate(batch, batch + 1, at.end());
  }

  // Temporaries keep their numbers; results become copies of temporaries.
  void lay_out() {
    std::map<std::int64_t, std::int64_t> there;
    for (auto& [buffer, axis] : last_) {
      program::Buffer other = program_.buffers[std::size_t(buffer)];
      put_last(other.shape, axis);
      there[buffer] = buffer;
      if (other.role == Role::temporary) {
        program_.buffers[std::size_t(buffer)].shape = std::move(other.shape);
        continue;
      }
      other.role = Role::temporary;
      other.slot = -1;
      there[buffer] = declare_.buffer(std::move(other));
    }
    program::move_elements(program_.steps, [&](std::int64_t buffer, std::vector<Expr>& at) {
      const auto found = there.find(buffer);
      if (found == there.end()) return buffer;
      put_last(at, last_.at(buffer));
      return found->second;
    });
    for (auto& [buffer, to] : there)
      if (to != buffer) copy(buffer, to, last_.at(buffer));
  }
  void copy(std::int64_t result, std::int64_t from, std::size_t axis) {
    const std::vector<Expr> shape = program_.buffers[std::size_t(result)].shape;
    std::vector<Expr> to = declare_.indices_of(shape), at = to;
    put_last(at, axis);
    program_.steps.push_back(in_loops(
        to, shape, {program::Store{result, to, pool_.load(from, program_.buffers[std::size_t(result)].dtype, at)}}));
  }
  static Step in_loops(const std::vector<Expr>& indices, const std::vector<Expr>& shape, Step step) {
    for (std::size_t k = shape.size(); k-- > 0;)
      if (!shape[k].is_constant(1)) step = Step{Loop{indices[k], shape[k], {}, {std::move(step)}, false}};
    return step;
  }

  Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  const Lengths& lengths_;
  std::set<std::int64_t> made_;               // indices of loops of straight code
  std::map<std::int64_t, std::size_t> last_;  // buffers with a new layout: the axis that becomes the last
};

}  // namespace

void batch_lanes(Program& program, Declarations& declare, const Lengths& lengths) {
  Batches(program, declare, lengths).run();
}

bool suits_lanes(const program::Steps& steps) {
  bool has_products = false, has_batch = false;
  program::visit_steps(steps, [&](const Step& step) {
    has_products |= is_product(step);
    if (const auto* loop = program::as_loop(step)) has_batch |= body_size(*loop, Over::batch).has_value();
  });
  return has_batch && !has_products;
}

}  // namespace bitale::lowering
