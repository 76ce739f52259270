// Nests: computations become loops. A computation joins an existing loop if it runs over the same extent, everything it
// needs is computed before that loop, and what it needs from inside the loop is needed at the same index. Applied row
// by row, this gives a softmax one row loop, and a value with its gradients one loop over the data. Costly elements are
// kept apart from inner loops that they do not need: in a loop without inner loops they are computed in vector lanes,
// in front of an inner loop one by one.
#include <algorithm>
#include <memory>
#include <optional>

#include "lowering/computation.hpp"
#include "lowering/costs.hpp"
#include "program/accesses.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

namespace {

using program::Step;
using program::Steps;

struct Nest;
struct Item {
  std::unique_ptr<Nest> nest;  // or:
  Steps leaf;
  std::vector<int> computations;  // computed here
};
struct Nest {
  Expr index, extent;
  std::vector<program::Carry> carries;
  std::vector<Item> items;
  std::size_t size = 0;
  bool stays_innermost = false;  // for the elements of a costly computation
};

bool has_inner_loops(const Nest& nest) {
  return std::ranges::any_of(nest.items, [](const Item& item) { return bool(item.nest); });
}

// A loop of a computation: an axis of its domain whose extent is not 1.
struct Axis {
  Expr index, extent;
  bool along;  // something is combined along it
};

class NestBuilder {
 public:
  NestBuilder(Program& program, const Declarations& declared, Computations& computations)
      : program_(program),
        declared_(declared),
        given_(computations),
        depends_(computations.list.size(), false),
        writers_(program.buffers.size()),
        scattered_to_(program.buffers.size(), false) {
    const auto is_load = [](Expr expr) { return expr.code() == program::Code::load; };
    for (auto& computation : computations.list)
      if (const auto* stored = computation.as<Stored>(); stored && stored->combiner)
        for (auto& index : stored->at)
          if (program::any_within(index, is_load)) scattered_to_[std::size_t(stored->buffer)] = true;
  }

  void run() {
    for (int id = 0; id < int(given_.list.size()); ++id) {
      const Computation& computation = given_.list[std::size_t(id)];
      if (computation.is_overwritten) continue;
      find_dependencies(computation);
      insert(computation, id);
      if (const auto* opaque = computation.as<Opaque>())
        if (auto* check = program::as_check(opaque->step))
          if (given_.checks[std::size_t(check->check)].is_expected) expected_.push_back(id);
      for_each_result(
          computation, [&](std::int64_t buffer) { writers_[std::size_t(buffer)].push_back(id); },
          [&](Expr var) { producers_[var.payload()] = id; });
      for (int dependency : touched_) depends_[std::size_t(dependency)] = false;
    }
    program_.steps = std::move(given_.entry_checks);
    for (auto& item : top_) append(program_.steps, item);
  }

 private:
  void depend_on(int id) {
    if (id < 0 || depends_[std::size_t(id)]) return;
    depends_[std::size_t(id)] = true;
    touched_.push_back(id);
  }
  void depend_on_writers(std::int64_t buffer) {
    for (int id : writers_[std::size_t(buffer)]) depend_on(id);
  }

  void depend_on_check(int check) { depend_on(given_.checks[std::size_t(check)].computation); }

  // Finds the computations that must precede this one, from the loads, lengths and variables in its expressions.
  void find_dependencies(const Computation& computation) {
    touched_.clear();
    current_ = {};
    size_ = 0;
    program::ExprWalk walk;
    const auto inspect = [&](Expr root) {
      if (!root.defined()) return;
      walk(root, [&](Expr expr) {
        ++size_;
        switch (expr.code()) {
          case program::Code::load:
            current_.add_load(expr);
            depend_on_writers(expr.payload());
            if (auto guards = given_.load_guards.find(expr.id()); guards != given_.load_guards.end())
              for (int check : guards->second) depend_on_check(check);
            break;
          case program::Code::dim: depend_on_writers(expr.payload() >> 8); break;
          case program::Code::var:
            if (auto found = producers_.find(expr.payload()); found != producers_.end()) depend_on(found->second);
            break;
          default: break;
        }
      });
    };
    // A buffer is allocated before its first use: its lengths must be computed before anything that writes it.
    const auto inspect_lengths = [&](std::int64_t buffer) {
      if (buffer < 0) return;
      for (auto& length : program_.buffers[std::size_t(buffer)].shape) inspect(length);
    };
    if (const Elements* elements = computation.elements()) {
      for (auto& length : elements->domain) inspect(length);
      for (auto& index : elements->at) inspect(index);
      inspect(elements->value);
      const auto* scanned = computation.as<Scanned>();
      if (scanned) inspect(scanned->position);
      inspect_lengths(elements->buffer);
      if (scanned) inspect_lengths(scanned->extremes);
      if (elements->buffer >= 0) {
        current_.add_store(elements->buffer, elements->at);
        for (int id : writers_[std::size_t(elements->buffer)])
          if (!have_disjoint_stores(declared_, computation, given_.list[std::size_t(id)])) depend_on(id);
      }
    } else {
      const auto& opaque = *computation.as<Opaque>();
      for (auto buffer : opaque.writes) inspect_lengths(buffer);
      program::for_each_expr_within(opaque.step, inspect);
      for (auto buffer : opaque.reads) depend_on_writers(buffer);
    }
    for (int check : computation.checks) depend_on_check(check);
    if (!expected_.empty() && must_wait(computation))
      for (int id : expected_) depend_on(id);
  }

  // Loops do not wait for expected checks, but calls and the allocation of memory do.
  static bool must_wait(const Computation& computation) {
    if (computation.as<Opaque>()) return true;
    // Loops with computed lengths must wait, too.
    const auto& domain = computation.elements()->domain;
    return std::any_of(domain.begin(), domain.end(), [](Expr length) {
      return program::any_within(
          length, [](Expr expr) { return expr.code() == program::Code::load || expr.code() == program::Code::var; });
    });
  }

  // Whether the current computation reads and overwrites the results of `other_id` only at the index of this loop.
  bool is_only_at(int other_id, Expr index) const {
    const Computation& computation = given_.list[std::size_t(other_id)];
    const Elements* other = computation.elements();
    if (!other || other->buffer < 0) return false;
    if (const auto* stored = computation.as<Stored>(); stored && stored->combiner) return false;
    const auto own = current_.own_axes(other->buffer, index);
    for (std::size_t axis = 0; axis < other->at.size(); ++axis)
      if (other->at[axis] == index && (own >> axis & 1)) return true;
    return false;
  }

  bool needs(const Item& item) const {
    return std::any_of(item.computations.begin(), item.computations.end(),
                       [&](int id) { return depends_[std::size_t(id)]; });
  }

  // A computation that is being inserted into loops.
  struct Inserted {
    const Elements& elements;
    const Scanned* scanned;  // exactly one of the two is set
    const Stored* stored;
    int id;
    bool is_costly;
    std::vector<Axis> axes = {};
    std::size_t carried_from = 0;  // along the axes from here on, it is carried in a variable
    bool in_memory = false;        // along other axes, it is combined in the buffer
    bool is_prefix() const { return scanned && scanned->kind == CarryKind::prefix; }
  };

  // Whether its axis of this depth can be the loop of the item.
  bool can_join(const Item& item, const Inserted& in, std::size_t depth) const {
    if (!item.nest) return false;
    const Axis& axis = in.axes[depth];
    const bool is_innermost = depth + 1 == in.axes.size();
    if (item.nest->stays_innermost && !is_innermost) return false;
    if (in.is_costly && is_innermost && has_inner_loops(*item.nest) && !needs(item)) return false;
    if (!(item.nest->extent == axis.extent) || !(item.nest->index == axis.index)) return false;
    if (item.nest->size + size_ > costs::nest::largest) return false;
    return std::all_of(item.computations.begin(), item.computations.end(),
                       [&](int id) { return !depends_[std::size_t(id)] || is_only_at(id, axis.index); });
  }

  // The first position in `list` after everything that the computation needs, as far as the search goes back.
  std::size_t earliest(const std::vector<Item>& list) const {
    std::size_t i = list.size();
    while (i > 0 && list.size() - i < costs::nest::look_back && !needs(list[i - 1])) --i;
    return i;
  }

  // The position in `list` of the loop that the computation joins, or of a new one. A new loop comes as early as
  // possible, so that its results are available to what follows.
  std::size_t position_of_loop(std::vector<Item>& list, const Inserted& in, std::size_t depth) {
    const std::size_t start = earliest(list);
    const std::size_t first = start > 0 && can_join(list[start - 1], in, depth) ? start - 1 : start;
    for (std::size_t i = first; i < list.size(); ++i)
      if (can_join(list[i], in, depth)) return i;
    const Axis& axis = in.axes[depth];
    Item item;
    item.nest = std::make_unique<Nest>();
    item.nest->index = axis.index;
    item.nest->extent = axis.extent;
    const std::size_t position = past_leaves(list, start);
    list.insert(list.begin() + std::ptrdiff_t(position), std::move(item));
    return position;
  }

  // Steps that are not loops never block a later item, and keep their order.
  static std::size_t past_leaves(const std::vector<Item>& list, std::size_t position) {
    while (position < list.size() && !list[position].nest) ++position;
    return position;
  }

  static void add_leaf(std::vector<Item>& list, std::size_t position, Step step, int id) {
    Item item;
    item.leaf.push_back(std::move(step));
    item.computations.push_back(id);
    list.insert(list.begin() + std::ptrdiff_t(position), std::move(item));
  }
  void add_leaf(std::vector<Item>& list, Step step, int id) const {
    add_leaf(list, past_leaves(list, earliest(list)), std::move(step), id);
  }

  void insert(const Computation& computation, int id) {
    const Elements* elements = computation.elements();
    if (!elements) return add_leaf(top_, top_.size(), computation.as<Opaque>()->step, id);
    Inserted in{*elements, computation.as<Scanned>(), computation.as<Stored>(), id, computation.is_costly};
    if (is_start_of_scatter(in)) return add_leaf(top_, {program::Fill{elements->buffer, elements->value}}, id);
    for (std::size_t k = 0; k < elements->domain.size(); ++k)
      if (!elements->domain[k].is_constant(1))
        in.axes.push_back({elements->indices[k], elements->domain[k], in.scanned && in.scanned->along[k]});
    in.carried_from = in.axes.size();
    while (in.carried_from > 0 && in.axes[in.carried_from - 1].along) --in.carried_from;
    in.in_memory = std::any_of(in.axes.begin(), in.axes.begin() + std::ptrdiff_t(in.carried_from),
                               [](const Axis& axis) { return axis.along; });
    // A segment of a prefix scan continues from the row before it, which may belong to another segment, whatever its
    // own length: it is combined in memory.
    if (in.is_prefix() && elements->is_segment) {
      in.carried_from = in.axes.size();
      in.in_memory = true;
    }
    insert(in, top_, 0);
  }

  // Whether it gives all elements of a buffer that nothing was written to one number, to which others are then added by
  // index. In a loop with other computations over the buffer, it would make the additions wait for those, so that they
  // needed a loop of their own.
  bool is_start_of_scatter(const Inserted& in) const {
    const auto& [domain, indices, value, buffer, at, is_segment] = in.elements;
    if (!in.stored || in.stored->combiner || buffer < 0 || !scattered_to_[std::size_t(buffer)]) return false;
    const auto& filled = program_.buffers[std::size_t(buffer)];
    return writers_[std::size_t(buffer)].empty() && !is_segment && value.is_constant() &&
           value.dtype() == filled.dtype && at == indices && domain == filled.shape;
  }

  // Inserts into the loops of `list`; the loops of the axes before `depth` are open.
  void insert(const Inserted& in, std::vector<Item>& list, std::size_t depth) {
    if (depth == in.axes.size()) {
      for (auto& step : innermost(in)) add_leaf(list, std::move(step), in.id);
      return;
    }
    std::size_t position = position_of_loop(list, in, depth);
    if (in.in_memory && depth == 0 && !in.is_prefix()) {
      Item start;  // before the loop that accumulates, which may be an older one
      start.leaf = starts(in);
      list.insert(list.begin() + std::ptrdiff_t(position++), std::move(start));
    }
    Item& item = list[position];
    item.computations.push_back(in.id);
    item.nest->size += size_;
    if (in.is_costly && depth + 1 == in.axes.size() && !has_inner_loops(*item.nest)) item.nest->stays_innermost = true;
    if (depth == in.carried_from) {
      item.nest->carries.push_back({in.scanned->var, in.scanned->kind, in.scanned->combiner});
      if (in.scanned->position_var.defined())
        item.nest->carries.push_back({in.scanned->position_var, CarryKind::position});
    }
    insert(in, item.nest->items, depth + 1);
    if (depth == in.carried_from && !in.is_prefix() && in.elements.buffer >= 0)
      add_leaf(list, past_leaves(list, position + 1), stored(in, combined(*in.scanned)), in.id);
  }

  // The steps for each element.
  Steps innermost(const Inserted& in) const {
    const auto& [domain, indices, value, buffer, at, is_segment] = in.elements;
    const Scanned* scan = in.scanned;
    if (in.carried_from < in.axes.size()) {
      Steps out{{program::Update{scan->var, scan->combiner, value, scan->position_var, scan->position}}};
      if (in.is_prefix()) out.push_back(stored(in, scan->var));
      return out;
    }
    if (!in.in_memory || !scan->position_var.defined()) return {stored(in, value)};
    const Expr best = program_.pool->load(scan->extremes, value.dtype(), at);
    const Expr position = program_.pool->load(buffer, DType::Int64, at);
    const Expr taken = program::more_extreme(scan->combiner, value, best);
    return {{program::Store{buffer, at, select(taken, scan->position, position)}},
            {program::Store{scan->extremes, at, select(taken, value, best)}}};
  }

  // The variable that holds the result of a scan.
  static Expr combined(const Scanned& scanned) {
    return scanned.position_var.defined() ? scanned.position_var : scanned.var;
  }

  // The step that stores the value at its destination.
  Step stored(const Inserted& in, Expr value) const {
    const auto& [domain, indices, own, buffer, at, is_segment] = in.elements;
    if (buffer < 0) return {program::Let{combined(*in.scanned), value}};
    if (in.stored && in.stored->combiner) return {program::Accumulate{buffer, at, *in.stored->combiner, value}};
    const Expr converted = program::cast(value, program_.buffers[std::size_t(buffer)].dtype);
    if (in.in_memory && in.is_prefix()) return {program::Store{buffer, at, with_previous(*in.scanned)}};
    if (in.in_memory) return {program::Accumulate{buffer, at, in.scanned->combiner, converted}};
    return {program::Store{buffer, at, converted}};
  }

  // A prefix scan along an outer axis: each row is combined with the previous one, so that the elements of a row are
  // independent.
  Expr with_previous(const Scanned& scanned) const {
    const auto axis = std::size_t(std::find(scanned.along.begin(), scanned.along.end(), true) - scanned.along.begin());
    std::vector<Expr> before = scanned.at;
    before[axis] = max(before[axis] - 1, program_.pool->integer(0));
    const Expr previous = program_.pool->load(scanned.buffer, scanned.value.dtype(), before);
    return select(scanned.at[axis] > 0, program::combine(scanned.combiner, previous, scanned.value), scanned.value);
  }

  // Sets the initial values of the buffers in which something is combined.
  Steps starts(const Inserted& in) const {
    const auto identity = [&](std::int64_t buffer, Combiner combiner) {
      return program::identity(combiner, *program_.pool, program_.buffers[std::size_t(buffer)].dtype);
    };
    const auto fill = [&](std::int64_t buffer, Combiner combiner) {
      return Step{program::Fill{buffer, identity(buffer, combiner)}};
    };
    const auto& [domain, indices, value, buffer, at, is_segment] = in.elements;
    const Scanned& scanned = *in.scanned;
    if (scanned.position_var.defined()) return {fill(buffer, Combiner::add), fill(scanned.extremes, scanned.combiner)};
    if (!is_segment) return {fill(buffer, scanned.combiner)};
    // The rest of the buffer belongs to other computations.
    Step step{program::Store{buffer, at, identity(buffer, scanned.combiner)}};
    for (std::size_t k = domain.size(); k-- > 0;)
      if (!scanned.along[k] && !domain[k].is_constant(1))
        step = Step{program::Loop{indices[k], domain[k], {}, {std::move(step)}, false}};
    return {step};
  }

  // The recursion is only as deep as arrays have dimensions.
  static void append(Steps& steps, Item& item) {
    if (!item.nest) {
      for (auto& step : item.leaf) steps.push_back(std::move(step));
      return;
    }
    program::Loop loop{item.nest->index, item.nest->extent, std::move(item.nest->carries), {}, false};
    for (auto& inner : item.nest->items) append(loop.body, inner);
    steps.push_back({std::move(loop)});
  }

  Program& program_;
  const Declarations& declared_;
  Computations& given_;
  std::vector<Item> top_;
  // State of the computation being inserted:
  std::vector<bool> depends_;
  std::vector<int> touched_;
  program::Accesses current_;  // its loads, and where it stores
  std::size_t size_ = 0;
  // State of all computations before it:
  std::vector<std::vector<int>> writers_;  // buffer -> computations
  std::vector<bool> scattered_to_;         // buffers: whether elements are combined with at indices from memory
  std::unordered_map<std::int64_t, int> producers_;  // variable -> computation
  std::vector<int> expected_;                        // checks that loops don't wait for
};

}  // namespace

void build_nests(Program& program, const Declarations& declared, Computations& computations) {
  NestBuilder(program, declared, computations).run();
}

}  // namespace bitale::lowering
