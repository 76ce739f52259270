// Products in blocks of rows. A large product of matrices whose readers go through its rows is computed a block of rows
// at a time, and its readers (loops over its rows, further products with it as their left factor, and sums over rows of
// its outer products with others) run over that block before the next one is computed. So min(x @ c.T, axis=1),
// softmax(q @ k.T) @ v and its gradient never store the product as a whole; a block stays in the cache. The same for a
// large matrix that a loop computes and only products and loops read by rows. The members of such a group must meet row
// by row: what one writes, the others use in the same row only. Steps between them move before the group, or behind it.
#include <algorithm>
#include <set>

#include "bitale/core/text.hpp"
#include "lowering/contractions.hpp"
#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/strips.hpp"
#include "program/accesses.hpp"
#include "program/rewrite.hpp"

namespace bitale::lowering {

namespace {

using program::Accesses;
using program::BufferArgument;
using program::Call;
using program::Code;
using program::Loop;
using program::Step;
using program::Steps;

using namespace costs::blocks;

using Numbers = std::set<std::int64_t>;

class Blocker {
 public:
  Blocker(Program& program, Declarations& declare, const Lengths& lengths)
      : program_(program), pool_(*program.pool), declare_(declare), lengths_(lengths) {}

  void run() {
    Steps& steps = program_.steps;
    if (std::none_of(steps.begin(), steps.end(), [&](auto& step) { return row_product(step, pool_); })) return;
    note_effects();
    for (std::size_t at = 0; at < steps.size(); ++at)
      if (block(at)) note_effects();
  }

 private:
  // ---- products ----

  // Whether its result may be larger than the caches.
  bool is_large(const RowProduct& product) const {
    const Expr inner = product.inner;
    return may_be_large(product.rows, product.bytes_of_row) &&
           (product.is_stack || !inner.is_constant() || inner.payload() <= longest_inner);
  }
  bool may_be_large(Expr rows, Expr bytes_of_row) const {
    const Expr bytes = rows * bytes_of_row;
    return !bytes.is_constant() || bytes.payload() >= smallest;
  }

  // ---- a group ----

  struct Group {
    Expr rows, row_length, bytes_of_row;  // of the large matrix, whose rows are matrices in a stack of products
    bool is_stack = false, is_vector = false, by_product = false;  // whether a product computes it
    std::vector<Expr> limits;                                      // what must hold for blocks to be worth it
    std::vector<std::size_t> members;                              // steps that run block by block
    std::set<std::size_t> sums;                                    // members that are sums over rows
    bool has_product = false;
    Numbers by_row;              // buffers that members write, all by rows
    Accesses effects, of_later;  // of members, and of the steps that run behind the group
    std::vector<std::size_t> earlier, later;
  };

  // The number of rows in a block: all where the matrix is small, or its products take much longer than storing it.
  Expr rows_in_block(const Group& group) const {
    const Expr one = pool_.integer(1), all = max(group.rows, one);
    const Expr fitting = pool_.integer(costs::blocks::bytes) / max(group.bytes_of_row, one);
    Expr rows = max(fitting, one), is_worth_it = group.rows * group.bytes_of_row >= smallest;
    if (!group.is_stack) {
      rows = max(fitting / unit * unit, pool_.integer(fewest_rows));
      for (const Expr limit : group.limits) is_worth_it = is_worth_it & limit;
    }
    return min(select(is_worth_it, rows, all), all);
  }

  void note_effects() {
    note_lengths();
    effects_.assign(program_.steps.size(), {});
    last_use_.assign(program_.buffers.size(), 0);
    first_use_.assign(program_.buffers.size(), program_.steps.size());
    for (std::size_t at = 0; at < program_.steps.size(); ++at) {
      effects_[at] = effects_of(program_.steps[at]);
      for (auto& [buffer, accessed] : effects_[at].buffers()) {
        last_use_[std::size_t(buffer)] = at;
        first_use_[std::size_t(buffer)] = std::min(first_use_[std::size_t(buffer)], at);
      }
    }
    read_by_lengths_.clear();
    program::for_each_load_of_lengths(program_, [&](Expr load) { read_by_lengths_.insert(load.payload()); });
  }

  // A block has another length than the whole, so that reading a length is reading the buffer. A buffer can only be
  // used when its own lengths are known, which may be those of what the host returned.
  Accesses effects_of(const Step& step) const {
    Accesses out(step);
    for (const std::int64_t buffer : out.lengths) out.read_whole(buffer);
    const Accesses own = out;
    for (auto& [buffer, accessed] : own.buffers()) out.add(of_lengths_[std::size_t(buffer)]);
    return out;
  }

  // What the lengths of each buffer are computed from, besides inputs.
  void note_lengths() {
    of_lengths_.assign(program_.buffers.size(), {});
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
      program::ExprWalk walk;
      Accesses& own = of_lengths_[b];
      for (const Expr& length : program_.buffers[b].shape)
        walk(length, [&](Expr expr) {
          const bool is_dim = expr.code() == Code::dim;
          if (expr.code() == Code::var) own.used.insert(expr.payload());
          if (!is_dim && expr.code() != Code::load) return;
          const std::int64_t buffer = is_dim ? expr.payload() >> 8 : expr.payload();
          const bool is_its_own = buffer == std::int64_t(b);
          if (!is_its_own && program_.buffers[std::size_t(buffer)].role != program::Role::input) own.read_whole(buffer);
        });
    }
  }

  bool is_temporary(std::int64_t buffer) const {
    return program_.buffers[std::size_t(buffer)].role == program::Role::temporary;
  }
  static const BufferArgument& memory(const Call& call, std::size_t at) {
    return std::get<BufferArgument>(call.arguments[at]);
  }

  // Builds the group of the matrix that this step computes, and puts it into the program. Returns whether there is one.
  bool block(std::size_t begin) {
    Group group;
    const auto large = begin_with(group, begin);
    if (!large) return false;
    const auto end = [&] {
      std::size_t last = begin;
      for (const std::int64_t buffer : group.by_row)
        if (is_temporary(buffer)) last = std::max(last, last_use_[std::size_t(buffer)]);
      return last;
    };
    for (std::size_t at = begin + 1; at <= end(); ++at) {
      if (add(group, at)) continue;
      if (effects_[at].touches(*large)) return false;
      const bool stays_behind = depend(effects_[at], group.effects) || depend(effects_[at], group.of_later) ||
                                (effects_[at].may_fail && group.of_later.may_fail);
      if (!stays_behind) {
        group.earlier.push_back(at);
        continue;
      }
      group.later.push_back(at);
      group.of_later.add(effects_[at]);
    }
    if (group.members.size() < 2 || !group.has_product || stores_as_much(group)) return false;
    replace(group, begin);
    return true;
  }

  // The large matrix with which a group begins, of which the step is the first member.
  std::optional<std::int64_t> begin_with(Group& group, std::size_t at) {
    const Step& step = program_.steps[at];
    const auto product = row_product(step, pool_);
    if (product && !is_large(*product)) return std::nullopt;
    if (product) {
      group.rows = product->rows, group.row_length = product->result_step, group.bytes_of_row = product->bytes_of_row;
      group.is_stack = product->is_stack, group.is_vector = product->is_vector, group.by_product = true;
      const std::int64_t result = memory(*program::as_call(step), product->result_at).buffer;
      if (!is_new(result, at) || !add_product(group, at, *product, true)) return std::nullopt;
      return result;
    }
    const auto* loop = program::as_loop(step);
    if (!loop || loop->until.defined() || !loop->carries.empty() || effects_[at].may_fail) return std::nullopt;
    for (auto& [buffer, accessed] : effects_[at].buffers()) {
      const auto& written = program_.buffers[std::size_t(buffer)];
      if (!accessed.writes || written.shape.size() < 2 || !is_by_row(buffer, at) || !is_new(buffer, at) ||
          !is_factor(buffer, at))
        continue;
      if (!lengths_.same(written.shape[0], loop->extent)) continue;
      group.rows = loop->extent, group.row_length = length_of_row(buffer);
      group.bytes_of_row = group.row_length * std::int64_t(itemsize(written.dtype));
      // Where lengths are not known, loops over independent elements may be short, and then run fastest as one loop.
      const bool is_known = (group.rows * group.bytes_of_row).is_constant();
      if (!may_be_large(group.rows, group.bytes_of_row) || !(is_known || carries_within_rows(*loop))) continue;
      add_rows(group, at, loop->extent);
      return buffer;
    }
    return std::nullopt;
  }

  bool is_new(std::int64_t buffer, std::size_t at) const {
    return is_temporary(buffer) && first_use_[std::size_t(buffer)] == at;
  }
  static bool carries_within_rows(const Loop& loop) {
    bool found = false;
    program::visit_steps(loop.body, [&](const Step& step) {
      const auto* inner = program::as_loop(step);
      found |= inner && !inner->carries.empty();
    });
    return found;
  }
  // Whether a later product has it as a factor.
  bool is_factor(std::int64_t buffer, std::size_t at) const {
    for (std::size_t later = at + 1; later <= last_use_[std::size_t(buffer)]; ++later) {
      if (!effects_[later].reads(buffer)) continue;
      const Step& step = program_.steps[later];
      if (row_product(step, pool_) || sum_over_rows(step, pool_)) return true;
    }
    return false;
  }

  // Whether something as large as the product is stored as a whole anyway.
  bool stores_as_much(const Group& group) const {
    return std::any_of(group.by_row.begin(), group.by_row.end(), [&](std::int64_t buffer) {
      return has_rows(buffer, group.row_length, group) && !is_within(group, buffer);
    });
  }

  // Adds a step to the group if it can run by rows. What may fail stays in front of what comes after it.
  bool add(Group& group, std::size_t at) {
    if (effects_[at].may_fail || group.of_later.may_fail || depend(effects_[at], group.of_later)) return false;
    const auto is_defined = [&](std::int64_t var) { return group.effects.defined.contains(var); };
    if (std::ranges::any_of(effects_[at].used, is_defined)) return false;
    const auto product = row_product(program_.steps[at], pool_);
    return (product && add_product(group, at, *product, false)) || add_sum(group, at) || add_loop(group, at);
  }

  bool add_product(Group& group, std::size_t at, const RowProduct& product, bool is_first) {
    if (!lengths_.same(product.rows, group.rows) || product.is_stack != group.is_stack) return false;
    const Call& call = *program::as_call(program_.steps[at]);
    const BufferArgument &left = memory(call, product.left_at), &right = memory(call, product.right_at),
                         &result = memory(call, product.result_at);
    const auto is_written = [&](std::int64_t buffer) { return group.effects.writes(buffer); };
    if (result.offset.defined() || group.effects.touches(result.buffer) ||
        !has_rows(result.buffer, product.result_step, group))
      return false;
    if (result.buffer == left.buffer || result.buffer == right.buffer) return false;
    if (!is_first) {
      // Another product joins where it reads rows of the group, or is as large, and read with them.
      const bool reads_rows = group.by_row.contains(left.buffer);
      if (reads_rows && (left.offset.defined() || !has_rows(left.buffer, product.left_step, group))) return false;
      if (!reads_rows && (!is_large(product) || !is_temporary(result.buffer) || is_written(left.buffer))) return false;
      const bool reads_right = is_written(right.buffer);
      if (reads_right && !(group.by_row.contains(right.buffer) && !right.offset.defined() && product.is_stack &&
                           has_rows(right.buffer, product.right_step, group)))
        return false;
      if (left.buffer == right.buffer && !product.is_stack) return false;
    }
    group.by_row.insert(result.buffer);
    group.has_product = true;
    if (is_first) group.limits.push_back(product.inner <= longest_inner);
    if (!group.by_product && !product.is_vector) group.limits.push_back(product.result_step <= longest_inner);
    join(group, at);
    return true;
  }

  // A sum over rows is added up block by block. It joins where a factor is of the group and as large as its matrix, and
  // its result is small.
  bool add_sum(Group& group, std::size_t at) {
    const auto sum = sum_over_rows(program_.steps[at], pool_);
    if (!sum || group.is_stack || group.is_vector || !lengths_.same(sum->rows, group.rows)) return false;
    const Call& call = *program::as_call(program_.steps[at]);
    const BufferArgument &left = memory(call, sum->left_at), &right = memory(call, sum->right_at),
                         &result = memory(call, sum->result_at);
    const auto& buffer = program_.buffers[std::size_t(result.buffer)];
    const Expr bytes = sum->m * sum->n * std::int64_t(itemsize(buffer.dtype));
    if (result.offset.defined() || group.effects.touches(result.buffer) || result.buffer == left.buffer ||
        result.buffer == right.buffer || first_use_[std::size_t(result.buffer)] != at ||
        !lengths_.same(elements_of(buffer.shape), sum->m * sum->n) ||
        (bytes.is_constant() && bytes.payload() > costs::blocks::bytes))
      return false;
    const auto is_by_row = [&](const BufferArgument& factor, Expr step) {
      return group.by_row.contains(factor.buffer) && !factor.offset.defined() && has_rows(factor.buffer, step, group);
    };
    const bool left_is = is_by_row(left, sum->left_step), right_is = is_by_row(right, sum->right_step);
    const auto is_outside = [&](std::int64_t factor) { return !group.effects.writes(factor); };
    const bool is_large = (left_is && has_rows(left.buffer, group.row_length, group)) ||
                          (right_is && has_rows(right.buffer, group.row_length, group));
    if (!is_large || !(left_is || is_outside(left.buffer)) || !(right_is || is_outside(right.buffer))) return false;
    group.has_product = true;
    group.limits.push_back(bytes <= costs::blocks::bytes);
    group.sums.insert(at);
    join(group, at);
    return true;
  }

  // Whether the buffer consists of as many rows as the group has, of this length.
  bool has_rows(std::int64_t buffer, Expr length, const Group& group) const {
    const auto& shape = program_.buffers[std::size_t(buffer)].shape;
    if (shape.empty() || !lengths_.same(shape[0], group.rows)) return false;
    const Expr row = length_of_row(buffer);
    return lengths_.same(row, length) || row == lengths_.fixed(length);
  }
  Expr length_of_row(std::int64_t buffer) const {
    return elements_of(std::span(program_.buffers[std::size_t(buffer)].shape).subspan(1));
  }
  Expr elements_of(std::span<const Expr> shape) const {
    Expr out = pool_.integer(1);
    for (const Expr length : shape) out = out * lengths_.fixed(length);
    return out;
  }

  bool add_loop(Group& group, std::size_t at) {
    const auto* loop = program::as_loop(program_.steps[at]);
    if (!loop || loop->until.defined() || !lengths_.same(loop->extent, group.rows)) return false;
    const auto can_be_split = [](const program::Carry& carry) { return carry.kind == program::CarryKind::reduce; };
    if (!std::all_of(loop->carries.begin(), loop->carries.end(), can_be_split)) return false;
    const Accesses& own = effects_[at];
    // A sum of numbers, rather than of results of rows, is added in lanes.
    const auto is_written = [](auto& accessed) { return accessed.second.writes; };
    if (!loop->carries.empty() && std::ranges::none_of(own.buffers(), is_written) &&
        std::all_of(loop->body.begin(), loop->body.end(), program::is_simple))
      return false;
    bool reads_rows = false;
    for (auto& [buffer, accessed] : own.buffers()) {
      const bool of_group = group.by_row.contains(buffer);
      if (of_group          ? !is_by_row(buffer, at)
          : accessed.writes ? group.effects.touches(buffer)
                            : group.effects.writes(buffer))
        return false;
      reads_rows |= accessed.reads && of_group;
    }
    if (!reads_rows) return false;
    add_rows(group, at, loop->extent);
    return true;
  }
  void add_rows(Group& group, std::size_t at, Expr rows) {
    for (auto& [buffer, accessed] : effects_[at].buffers())
      if (accessed.writes && is_by_row(buffer, at) &&
          lengths_.same(program_.buffers[std::size_t(buffer)].shape[0], rows))
        group.by_row.insert(buffer);
    join(group, at);
  }
  // Whether the loop accesses the buffer at its own index along the first axis throughout.
  bool is_by_row(std::int64_t buffer, std::size_t at) const {
    return effects_[at].own_axes(buffer, program::as_loop(program_.steps[at])->index) & 1;
  }

  void join(Group& group, std::size_t at) {
    group.members.push_back(at);
    group.effects.add(effects_[at]);
  }

  // ---- the program of a group ----

  void replace(Group& group, std::size_t begin) {
    const Expr rows = group.rows, in_block = rows_in_block(group);
    const Strips strips(declare_, "b", rows, in_block);
    const Expr block = strips.index, size = strips.size, row = declare_.index("i", size);

    Numbers narrowed;
    for (const std::int64_t buffer : group.by_row)
      if (is_within(group, buffer)) narrowed.insert(buffer);
    for (const std::int64_t buffer : narrowed) program_.buffers[std::size_t(buffer)].shape[0] = in_block;

    Loop blocks{block, strips.count, {}, {}, false};
    Steps before, deferred;
    for (const std::size_t at : group.members) {
      Step step = std::move(program_.steps[at]);
      if (group.sums.contains(at)) {
        const auto sum = sum_over_rows(step, pool_);
        // In one block, the product writes them; without rows there is none, though a block has at least one.
        before.push_back(zeros(memory(*program::as_call(step), sum->result_at).buffer, equal(in_block, rows)));
        const auto first_of = [&](std::size_t factor, Expr distance) {
          return narrowed.contains(memory(*program::as_call(step), factor).buffer) ? Expr()
                                                                                   : block * (in_block * distance);
        };
        step = part_of_sum(step, pool_, size, first_of(sum->left_at, sum->left_step),
                           first_of(sum->right_at, sum->right_step),
                           select(in_block < rows, pool_.integer(1), pool_.integer(0)));
      } else if (auto* call = program::as_call(step)) {
        const RowProduct product = *row_product(step, pool_);
        call->arguments[product.rows_at] = size;
        move_to_block(*call, product.left_at, product.left_step, block, in_block, narrowed);
        move_to_block(*call, product.right_at, product.right_step, block, in_block, narrowed);
        move_to_block(*call, product.result_at, product.result_step, block, in_block, narrowed);
      } else {
        auto& loop = *program::as_loop(step);
        for (auto& carry : loop.carries)
          if (!defer(carry, loop, rows, deferred)) blocks.carries.push_back(carry);
        loop.carries.clear();
        move_rows(loop, row, strips.start, narrowed);
        loop.index = row;
        loop.extent = size;
      }
      blocks.body.push_back(std::move(step));
    }

    const std::size_t end = std::max({group.members.back(), group.earlier.empty() ? 0 : group.earlier.back(),
                                      group.later.empty() ? 0 : group.later.back()});
    Steps together;
    for (const std::size_t at : group.earlier) together.push_back(std::move(program_.steps[at]));
    for (auto& each : before) together.push_back(std::move(each));
    together.push_back({std::move(blocks)});
    for (auto& each : deferred) together.push_back(std::move(each));
    for (const std::size_t at : group.later) together.push_back(std::move(program_.steps[at]));
    const auto from = program_.steps.begin() + std::ptrdiff_t(begin);
    const auto behind = program_.steps.erase(from, program_.steps.begin() + std::ptrdiff_t(end) + 1);
    program_.steps.insert(behind, std::make_move_iterator(together.begin()), std::make_move_iterator(together.end()));
  }

  // The elements of a sum over rows before the first block, if there are several or none.
  Step zeros(std::int64_t buffer, Expr is_one) {
    const auto& shape = program_.buffers[std::size_t(buffer)].shape;
    const DType dtype = program_.buffers[std::size_t(buffer)].dtype;
    std::vector<Expr> at, extents;
    for (const Expr length : shape) {
      extents.push_back(at.empty() ? select(is_one, pool_.integer(0), length) : length);
      at.push_back(declare_.index("i", extents.back()));
    }
    Step out{program::Store{buffer, at, pool_.number(0, dtype)}};
    for (std::size_t k = shape.size(); k-- > 0;) {
      Loop loop{at[k], extents[k], {}, {}, false};
      loop.body.push_back(std::move(out));
      out = {std::move(loop)};
    }
    return out;
  }

  // What each row gives once to a reduction is stored, and combined by a loop behind the group, which can run in lanes,
  // and whose order does not depend on blocks.
  bool defer(const program::Carry& carry, Loop& loop, Expr rows, Steps& deferred) {
    const auto updates = [&](const Step& step) {
      const auto* update = program::as_update(step);
      return update && update->var == carry.var;
    };
    std::size_t all = 0;
    program::visit_steps(std::as_const(loop.body), [&](const Step& step) { all += updates(step); });
    const auto found = std::find_if(loop.body.begin(), loop.body.end(), updates);
    if (all != 1 || found == loop.body.end()) return false;
    program::Buffer buffer;
    buffer.name = cat("rows", ++deferred_count_);
    buffer.dtype = carry.var.dtype();
    buffer.shape = {rows};
    const std::int64_t stored = declare_.buffer(std::move(buffer));
    const Expr value = program::as_update(*found)->value;
    found->what = program::Store{stored, {loop.index}, value};
    const Expr at[] = {declare_.index("i", rows)};
    Step update{program::Update{carry.var, carry.combiner, pool_.load(stored, carry.var.dtype(), at)}};
    deferred.push_back({Loop{at[0], rows, {carry}, {std::move(update)}, false}});
    return true;
  }

  // Whether only members of the group use the temporary.
  bool is_within(const Group& group, std::int64_t buffer) const {
    if (!is_temporary(buffer) || read_by_lengths_.contains(buffer)) return false;
    for (std::size_t at = first_use_[std::size_t(buffer)]; at <= last_use_[std::size_t(buffer)]; ++at) {
      const bool is_member = std::find(group.members.begin(), group.members.end(), at) != group.members.end();
      if (!is_member && effects_[at].touches(buffer)) return false;
    }
    return true;
  }

  static void move_to_block(Call& call, std::size_t at, Expr step, Expr block, Expr rows, const Numbers& narrowed) {
    auto& argument = std::get<BufferArgument>(call.arguments[at]);
    if (step.is_constant(0) || narrowed.contains(argument.buffer)) return;
    const Expr offset = block * (rows * step);
    argument.offset = argument.offset.defined() ? argument.offset + offset : offset;
  }

  // The loop's index becomes that of a row in the block, in buffers of a block's size, and that of the same row in the
  // whole elsewhere.
  static void move_rows(Loop& loop, Expr row, Expr first, const Numbers& narrowed) {
    const Expr index = loop.index;
    program::move_elements(loop.body, [&](std::int64_t buffer, std::vector<Expr>& at) {
      if (!at.empty() && at[0] == index && narrowed.contains(buffer)) at[0] = row;
      return buffer;
    });
    program::substitute(loop.body, {{index.id(), first + row}});
  }

  Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  const Lengths& lengths_;
  std::vector<Accesses> effects_;     // by top-level step
  std::vector<Accesses> of_lengths_;  // by buffer
  int deferred_count_ = 0;
  std::vector<std::size_t> first_use_, last_use_;  // by buffer: top-level steps
  Numbers read_by_lengths_;
};

}  // namespace

void block_products(Program& program, Declarations& declare, const Lengths& lengths) {
  Blocker(program, declare, lengths).run();
}

}  // namespace bitale::lowering
