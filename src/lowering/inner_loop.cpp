// Loops over inner graphs, and branches with two sides. The inner graph is defined and lowered to steps of the outer
// graph's Program by the same passes. In these steps, loads from its inputs stand for elements of sequences, states and
// outer values; they are replaced when it is known which values of the outer graph are stored. Where the inner graph
// needs the host, or memory whose size is only known within a step, its declarations are withdrawn. A scalar state is a
// carried variable; any other state is one buffer, which starts as the initial value and ends as the final one. A next
// state is written over it directly if the state is not read afterwards, and is otherwise copied at the end of the
// step.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "lowering/costs.hpp"
#include "lowering/definitions.hpp"
#include "lowering/passes.hpp"
#include "program/accesses.hpp"
#include "program/substitute.hpp"

namespace bitale::lowering {

using program::Code;
using program::Role;
using program::Step;
using program::Steps;

class LoopBody {
 public:
  // `in_lanes`: the steps run with a batch in lanes, if they are suitable.
  LoopBody(Definitions& outer, const InnerLoop& loop, bool in_lanes)
      : outer_(outer),
        node_(outer.node_),
        sequences_(loop.sequences),
        states_(loop.states),
        has_until_(loop.has_until),
        called_(loop.called) {
    for (std::size_t i = 0; i < loop.inputs.size(); ++i) from_.push_back(1 + i);
    define_steps(loop.inputs, loop.outputs, in_lanes);
    if (in_lanes) is_possible_ &= suits_lanes(steps_);
    for (auto& step : steps_) program::for_each_body(step, [&](Steps& body) { store_states_last(body); });
  }
  // A side of a branch: it runs once or not at all, and its outputs are the outputs of the node.
  LoopBody(Definitions& outer, const Side& side)
      : outer_(outer),
        node_(outer.node_),
        sequences_(0),
        states_(0),
        has_until_(false),
        is_side_(true),
        from_(side.from.begin(), side.from.end()) {
    define_steps(side.inputs, side.outputs, false);
  }
  bool is_possible() const { return is_possible_; }

 private:
  void define_steps(std::span<const Variable> inputs, std::span<const Variable> outputs, bool in_lanes) {
    const auto is_carried = [&](const Variable& variable) {
      return as_tensor(variable.type()) || (as_random(variable.type()) && !is_side_);
    };
    for (auto list : {inputs, outputs})
      if (!std::all_of(list.begin(), list.end(), is_carried)) return;
    std::vector<std::vector<Expr>> shapes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      shapes.push_back(outer_.equal_lengths.canonical(outer_.value_of(outer_of(int(i))).shape));
      if (int(i) < sequences_) shapes.back().erase(shapes.back().begin());
    }
    const FunctionGraph graph(Variables(inputs.begin(), inputs.end()), Variables(outputs.begin(), outputs.end()));
    before_ = outer_.declare.mark();
    Definitions inner(graph, outer_, std::move(shapes), in_lanes);
    inner.define_all();
    if (!inner.callbacks.empty()) return;
    make_steps(inner, [](std::string_view) {});
    steps_ = std::exchange(outer_.program.steps, {});
    traces_ = int(outputs.size()) - states_ - int(has_until_);
    for (auto b = before_.buffers; b < outer_.declare.mark().buffers; ++b) {
      program::Buffer& buffer = buffer_of(b);
      own_.push_back({.mapped = b, .ndim = buffer.ndim()});
      if (buffer.role == Role::input) own_.back().input = buffer.slot;
      if (buffer.role == Role::output) own_.back().output = buffer.slot;
      if (buffer.role != Role::constant) buffer.role = Role::temporary, buffer.slot = -1;
    }
    is_possible_ = can_repeat();
  }

  // Whether the memory that a step needs is known before the loop.
  bool can_repeat() {
    bool good = true;
    for (auto b = before_.buffers; b < end(); ++b)
      if (own(b).input < 0)
        for (auto& length : buffer_of(b).shape) good &= is_known_outside(length);
    program::visit_steps(steps_, [&](const Step& step) {
      program::for_each_access(step, [&](const program::Access& access) {
        if (access.reach != program::Reach::runtime_call || !is_own(access.buffer)) return;
        LoopBuffer& memory = own(access.buffer);
        if (memory.ndim == 0)
          memory.has_address = true;
        else if (memory.input >= 0)
          by_call_.push_back(memory.input);
      });
    });
    for (auto b = before_.buffers; b < end(); ++b)
      if (own(b).output >= 0 && own(b).ndim == 0 && !is_stored_once(b)) own(b).has_address = true;
    return good;
  }

 public:
  // ---- while nodes are defined ----

  void define() {
    const Variables& inputs = node_->inputs;
    const Expr steps = outer_.equal_lengths.canonical(outer_.scalar_of(inputs[0]));
    if (steps.code() != Code::dim) outer_.require(steps >= 0, cat(called_, ": n_steps is negative"));
    for (int k = 0; k < sequences_; ++k)
      outer_.require(equal(outer_.value_of(outer_sequence(k)).shape[0], steps),
                     cat(called_, ": sequence ", k, " does not have as many elements as there are steps"));
    extent_ = outer_.equal_lengths.canonical(steps);
    note_reads();
    for (int k = 0; k < states_; ++k) {
      Value& value = outer_.values_[&node_->outputs[k]];
      carried_.push_back(outer_.declare.var(Variable::of(&node_->outputs[k]).storage().dtype));
      buffers_.push_back(-1);
      if (value.shape.empty()) {
        value.scalar = carried_.back();
        continue;
      }
      value.buffer = buffers_.back() = outer_.result_buffer(Variable::of(&node_->outputs[k]));
      value.reread = true;
    }
    for (int k = 0; k < traces_; ++k) {
      const Variable trace = Variable::of(&node_->outputs[states_ + k]);
      Value& value = outer_.values_[trace.node()];
      value.buffer = outer_.result_buffer(trace);
      value.reread = true;
      trace_buffers_.push_back(value.buffer);
    }
    count_ = outer_.declare.var(DType::Int64);
    if (has_until_) outer_.values_[&node_->outputs[states_ + traces_]].scalar = count_;
    // States keep their shapes, and checks in a step that depend on lengths alone are made before the loop.
    for (auto b = before_.buffers; b < end(); ++b) {
      const int k = own(b).output;
      if (k < 0 || k >= states_) continue;
      const auto& state = outer_.values_[&node_->outputs[k]].shape;
      for (std::size_t axis = 0; axis < state.size(); ++axis) {
        const Expr before = outer_.equal_lengths.canonical(state[axis]), after = rebuild_(buffer_of(b).shape[axis]);
        if (before == after) continue;
        outer_.require((extent_ <= 0) | equal(before, after),
                       cat(called_, ": state ", k, " changes its length in dimension ", axis, " from step to step"));
      }
    }
    Steps kept;
    for (auto& step : steps_) {
      auto* check = program::as_check(step);
      if (!check || !is_of_lengths(check->condition)) {
        kept.push_back(std::move(step));
        continue;
      }
      const Expr condition = (extent_ <= 0) | rebuild_(check->condition);
      if (!condition.is_constant(1)) outer_.require_check(condition, check->check);
    }
    steps_ = std::move(kept);
  }

  // The outputs of the node are these buffers, which both sides write.
  void define_side(std::vector<std::int64_t> outputs) {
    note_reads();
    trace_buffers_ = std::move(outputs);
  }

  // ---- when computations are built ----

  void build() {
    Definitions::NodeScope scope(outer_, node_);
    for (int k = 0; k < states_; ++k)
      if (buffers_[std::size_t(k)] >= 0) outer_.add_copy(outer_initial(k), buffers_[std::size_t(k)]);
    make_buffers();
    outer_.resolve([&] { build_loop(); });
    Opaque opaque;
    add_to(opaque);
    for (auto& carry : loop_.carries) opaque.vars.push_back(carry.var);
    opaque.step = Step{std::move(loop_)};
    outer_.computations.list.push_back({std::move(opaque), outer_.touched_checks_});
    if (has_until_) clear_rest();
  }

  void make_buffers() {
    forget();
    next_.assign(std::size_t(states_), -1);
    for (auto b = before_.buffers; b < end(); ++b) {
      LoopBuffer& memory = own(b);
      for (auto& length : buffer_of(b).shape) length = outer_.equal_lengths.fixed(rebuild_(length));
      const bool is_state = memory.output >= 0 && memory.output < states_;
      if (is_traced(memory.output))
        memory.mapped = trace_buffers_[std::size_t(memory.output - states_)];
      else if (!memory.has_address && (memory.input >= 0 || (memory.output >= 0 && memory.ndim == 0)))
        memory.mapped = -1;
      else if (is_state && !memory.has_address && may_overwrite(b, memory.output))
        memory.mapped = buffers_[std::size_t(memory.output)];
      else if (is_state && !memory.has_address)
        next_[std::size_t(memory.output)] = b;
      if (memory.mapped != b)
        buffer_of(b).shape.clear();  // it is no longer used
      else if (buffer_of(b).role != Role::constant)
        writes_.push_back(b);
    }
    for (auto buffer : buffers_)
      if (buffer >= 0) reads_.push_back(buffer), writes_.push_back(buffer);
    writes_.insert(writes_.end(), trace_buffers_.begin(), trace_buffers_.end());
  }

  Steps steps_of_side() {
    forget();
    Steps out;
    store_inputs(out);
    append(steps_, out);
    return out;
  }
  // Adds the reads, writes and checks of this body to a computation that is about to be added to the list.
  void add_to(Opaque& opaque) {
    auto& [step, reads, writes, vars] = opaque;
    reads.insert(reads.end(), reads_.begin(), reads_.end());
    for (auto buffer : writes_)
      if (std::find(writes.begin(), writes.end(), buffer) == writes.end()) writes.push_back(buffer);
    program::visit_steps(steps_, [&](const Step& each) {
      if (auto* check = program::as_check(each))
        outer_.computations.checks[std::size_t(check->check)].computation = int(outer_.computations.list.size());
    });
  }

 private:
  // Stores scalar inputs whose addresses are passed to runtime functions.
  void store_inputs(Steps& to) {
    for (auto b = before_.buffers; b < end(); ++b)
      if (own(b).has_address && own(b).input >= 0)
        to.push_back({program::Store{b, {}, element_of_input(own(b).input, buffer_of(b).dtype, {})}});
  }
  void note_reads() {
    for (int input = 0; input < int(from_.size()); ++input) {
      const Variable& outer = outer_of(input);
      Value& value = outer_.value_of(outer);
      if (std::find(by_call_.begin(), by_call_.end(), input) != by_call_.end() && !is_state(input))
        outer_.want(outer);
      else if (input >= sequences_ + states_ && outer.storage().ndim() > 0 && !value.permuted_from.defined())
        outer_.want(outer);
      value.expanded = true;  // the loop may read it more than once: it is stored if it is expensive
    }
  }

  struct LoopBuffer {
    int input = -1, output = -1;  // of the inner graph
    bool has_address = false;     // a scalar that is kept in memory within a step
    std::int64_t mapped = -1;     // the buffer that it becomes in the end; -1: none
    int ndim = 0;
  };
  std::int64_t end() const { return before_.buffers + std::int64_t(own_.size()); }
  bool is_own(std::int64_t buffer) const { return buffer >= before_.buffers; }
  LoopBuffer& own(std::int64_t buffer) { return own_[std::size_t(buffer - before_.buffers)]; }
  const LoopBuffer& own(std::int64_t buffer) const { return own_[std::size_t(buffer - before_.buffers)]; }
  program::Buffer& buffer_of(std::int64_t buffer) { return outer_.program.buffers[std::size_t(buffer)]; }
  const Variable& outer_of(int input) const { return node_->inputs[from_[std::size_t(input)]]; }
  bool is_state(int input) const { return input >= sequences_ && input < sequences_ + states_; }
  const Variable& outer_sequence(int k) const { return node_->inputs[std::size_t(1 + k)]; }
  const Variable& outer_initial(int k) const { return node_->inputs[std::size_t(1 + sequences_ + k)]; }

  // Whether a length is the same in all steps: it is made of shapes and of values that are constant in the loop.
  bool is_known_outside(Expr length) const {
    return !program::any_within(length, [&](Expr expr) {
      if (expr.code() != Code::load || !is_own(expr.payload())) return is_variable_here(expr);
      const bool is_outer_scalar = own(expr.payload()).input >= sequences_ + states_ && expr.argument_count() == 0;
      return !is_outer_scalar && outer_.program.buffers[std::size_t(expr.payload())].role != Role::constant;
    });
  }
  bool is_of_lengths(Expr condition) const {
    return !program::any_within(condition, [&](Expr expr) {
      return is_variable_here(expr) || (expr.code() == Code::load && is_own(expr.payload()));
    });
  }
  bool is_variable_here(Expr expr) const {
    return (expr.code() == Code::var && expr.payload() >= before_.vars) ||
           (expr.code() == Code::index && expr.payload() >= before_.indices);
  }
  // Whether a scalar result is stored by exactly one step, at the top level.
  bool is_stored_once(std::int64_t buffer) const {
    int at_top = 0, all = 0;
    const auto stores = [&](const Step& step) {
      auto* store = program::as_store(step);
      return store && store->buffer == buffer;
    };
    for (auto& step : steps_) at_top += stores(step);
    program::visit_steps(steps_, [&](const Step& step) {
      program::for_each_access(
          step, [&](const program::Access& access) { all += access.buffer == buffer && access.writes(); });
    });
    return at_top == 1 && all == 1;
  }

  // ---- expressions ----

  Expr element_of_input(int input, DType dtype, std::vector<Expr> at) {
    if (is_state(input)) {
      const auto k = std::size_t(input - sequences_);
      return buffers_[k] < 0 ? carried_[k] : outer_.pool().load(buffers_[k], dtype, at);
    }
    if (input < sequences_) at.insert(at.begin(), number_);
    return outer_.equal_lengths.fixed(outer_.read(outer_of(input), at));
  }

  Expr loaded(Expr load, std::vector<Expr> at) {
    const LoopBuffer& memory = own(load.payload());
    if (memory.input >= 0) return element_of_input(memory.input, load.dtype(), std::move(at));
    if (memory.output >= 0 && at.empty() && !memory.has_address && !is_traced(memory.output))
      return scalars_[std::size_t(memory.output)];
    if (is_in_steps(memory.output)) at.insert(at.begin(), number_);
    return outer_.pool().load(memory.mapped, load.dtype(), at);
  }
  bool is_traced(int output) const { return output >= states_ && output < states_ + traces_; }
  bool is_in_steps(int output) const { return is_traced(output) && !is_side_; }

  // Translates an expression of the inner graph to the outer one, given its translated arguments.
  Expr made(Expr expr, std::span<const Expr> arguments) {
    if (expr.code() == Code::dim) return outer_.equal_lengths.canonical(expr);
    if (expr.code() == Code::load && is_own(expr.payload())) return loaded(expr, {arguments.begin(), arguments.end()});
    if (expr.code() == Code::fma) return late_product(expr, arguments);
    const auto other = expr.code() == Code::index ? indices_.find(expr.payload()) : indices_.end();
    return other == indices_.end() ? program::with_arguments(expr, arguments) : other->second;
  }

  // In a sum of two products of which only one depends on a state, that one becomes the product of the fma and the
  // other one its addend: the next state then waits for one operation instead of two.
  Expr late_product(Expr sum, std::span<const Expr> arguments) {
    const bool is_negative = arguments[2].code() == Code::neg;
    const Expr product = is_negative ? arguments[2].argument(0) : arguments[2];
    const auto waits = [&](Expr expr) { return on_state_.count(expr.id()) > 0; };
    if (product.code() == Code::mul && waits(product) && !waits(arguments[0]) && !waits(arguments[1]) &&
        !outer_.pool().forbids_contraction(product))
      return program::fma(is_negative ? -product.argument(0) : product.argument(0), product.argument(1),
                          arguments[0] * arguments[1]);
    return program::with_arguments(sum, arguments);
  }
  // Records whether an expression depends on a state; variables that name such an expression do, too.
  void note_state(Expr out) {
    bool waits = std::find(carried_.begin(), carried_.end(), out) != carried_.end();
    if (out.code() == Code::load) waits |= std::find(buffers_.begin(), buffers_.end(), out.payload()) != buffers_.end();
    for (std::size_t i = 0; i < out.argument_count() && !waits; ++i) waits = on_state_.count(out.argument(i).id()) > 0;
    if (waits) on_state_.insert(out.id());
  }
  void note_name(Expr var, Expr value) {
    if (on_state_.count(value.id())) on_state_.insert(var.id());
  }

  // Loops that are rebuilt have new variables.
  void forget() { rebuild_.forget(), indices_.clear(); }

  // ---- memory ----

  // Among the stores of a loop body, those of next states come last: the others may then read the state where the next
  // state is written over it.
  void store_states_last(Steps& steps) {
    for (auto& step : steps) program::for_each_body(step, [&](Steps& body) { store_states_last(body); });
    std::unordered_set<std::int64_t> read;
    for (auto& step : steps) {
      if (!program::as_store(step)) return;
      program::ExprWalk exprs;
      program::for_each_load(step, exprs, [&](Expr load) { read.insert(load.payload()); });
    }
    std::stable_partition(steps.begin(), steps.end(), [&](const Step& step) {
      const std::int64_t buffer = program::as_store(step)->buffer;
      const int output = is_own(buffer) ? own(buffer).output : -1;
      return output < 0 || output >= states_ || read.count(buffer) > 0;
    });
  }

  // Whether the next state may be written over the state: it is stored once, element by element, by a loop that visits
  // each, and the state is not read later, nor at another element in that loop.
  bool may_overwrite(std::int64_t next, int k) {
    std::int64_t state = -1;
    for (auto b = before_.buffers; b < end(); ++b)
      if (own(b).input == sequences_ + k) state = b;
    const program::Accesses accesses(steps_);
    const program::ElementAccess* stored = nullptr;
    for (auto& access : accesses.of(next).list) {
      if (access.kind == program::AccessKind::read) continue;
      if (stored || access.kind != program::AccessKind::write || !access.is_element()) return false;
      stored = &access;
    }
    if (!stored) return false;
    for (int level = stored->level; level >= 0; level = accesses.levels()[std::size_t(level)].outer)
      if (!stored->axis_of(accesses.levels()[std::size_t(level)].index)) return false;
    // All reads come before the store, and those in its own loop are of the same element.
    const int top = accesses.outermost(stored->level);
    return std::ranges::all_of(accesses.of(state).list, [&](const program::ElementAccess& read) {
      const bool in_same_loop = top >= 0 && accesses.outermost(read.level) == top;
      if (!read.is_element()) return read.step < stored->step && !in_same_loop;
      return read.step <= stored->step && (!in_same_loop || std::ranges::equal(read.at, stored->at));
    });
  }

  Expr row_size(const std::vector<Expr>& shape) {
    Expr out = outer_.pool().integer(1);
    for (std::size_t axis = 1; axis < shape.size(); ++axis) out = out * shape[axis];
    return outer_.equal_lengths.fixed(out);
  }

  // ---- steps ----

  void build_loop() {
    forget();
    number_ = outer_.declare.index("step", extent_);
    loop_ = {};
    loop_.index = number_;
    loop_.extent = outer_.equal_lengths.fixed(extent_);
    scalars_.assign(std::size_t(states_ + traces_ + int(has_until_)), Expr());
    for (int k = 0; k < states_; ++k)
      if (buffers_[std::size_t(k)] < 0)
        loop_.carries.push_back({carried_[std::size_t(k)],
                                 CarryKind::state,
                                 {},
                                 outer_.equal_lengths.fixed(outer_.read(outer_initial(k), {}))});
    // Without other states, a step counter as a state keeps the steps in order.
    if (loop_.carries.empty() || has_until_)
      loop_.carries.push_back({count_, CarryKind::state, {}, outer_.pool().integer(0)});
    store_inputs(loop_.body);
    append(steps_, loop_.body);
    for (auto b = before_.buffers; b < end(); ++b)
      if (const LoopBuffer& memory = own(b); memory.has_address && memory.output >= 0 && !is_traced(memory.output)) {
        const DType dtype = buffer_of(b).dtype;
        const Expr var = scalars_[std::size_t(memory.output)] = outer_.declare.var(dtype);
        loop_.body.push_back({program::Let{var, outer_.pool().load(b, dtype, {})}});
      }
    for (int k = 0; k < states_; ++k)
      if (next_[std::size_t(k)] >= 0) copy_back(k);
    for (int k = 0; k < states_; ++k)
      if (buffers_[std::size_t(k)] < 0)
        loop_.body.push_back({program::Next{carried_[std::size_t(k)], scalars_[std::size_t(k)]}});
    if (loop_.carries.back().var == count_) loop_.body.push_back({program::Next{count_, count_ + 1}});
    if (has_until_) loop_.until = scalars_.back();
  }

  Step nested(std::int64_t buffer, const std::function<Step(const std::vector<Expr>&)>& make,
              std::vector<Expr> first = {}) {
    const std::vector<Expr> shape = buffer_of(buffer).shape;
    std::vector<Expr> at = first, indices;
    for (std::size_t axis = first.size(); axis < shape.size(); ++axis) {
      const Expr length = outer_.equal_lengths.fixed(shape[axis]);
      const bool is_one = length.is_constant(1);
      at.push_back(is_one ? outer_.pool().integer(0) : outer_.declare.index("c", length));
    }
    Step step = make(at);
    for (std::size_t axis = shape.size(); axis-- > first.size();)
      if (at[axis].code() == Code::index)
        step = Step{program::Loop{at[axis], outer_.equal_lengths.fixed(shape[axis]), {}, {std::move(step)}, false}};
    return step;
  }

  void copy_back(int k) {
    const auto to = buffers_[std::size_t(k)], from = next_[std::size_t(k)];
    const DType dtype = buffer_of(to).dtype;
    loop_.body.push_back(nested(to, [&](const std::vector<Expr>& at) {
      return Step{program::Store{to, at, outer_.pool().load(from, dtype, at)}};
    }));
  }

  // Sets the elements of a trace after the executed steps to zero.
  void clear_rest() {
    for (auto trace : trace_buffers_) {
      const DType dtype = buffer_of(trace).dtype;
      const Expr rest = outer_.equal_lengths.fixed(extent_) - count_, index = outer_.declare.index("rest", rest);
      Step step = nested(trace,
                         [&](const std::vector<Expr>& at) {
                           return Step{program::Store{trace, at, outer_.pool().number(0, dtype)}};
                         },
                         {count_ + index});
      outer_.add_step({{program::Loop{index, rest, {}, {std::move(step)}, false}}, {}, {trace}});
    }
  }

  void append(const Steps& from, Steps& to) {
    for (auto& step : from) append(step, to);
  }

  void append(const Step& from, Steps& to) {
    if (auto* fill = program::as_fill(from)) {
      const Expr value = rebuild_(fill->value);
      const std::int64_t buffer = own(fill->buffer).mapped;
      to.push_back(nested(
          buffer,
          [&](const std::vector<Expr>& at) {
            return Step{program::Store{buffer, at, value}};
          },
          is_in_steps(own(fill->buffer).output) ? std::vector<Expr>{number_} : std::vector<Expr>{}));
      return;
    }
    if (auto* store = program::as_store(from); store && is_own(store->buffer)) {
      const LoopBuffer& memory = own(store->buffer);
      if (memory.output >= 0 && store->at.empty() && !is_traced(memory.output) && !memory.has_address) {
        const Expr value = rebuild_(store->value), var = outer_.declare.var(value.dtype());
        scalars_[std::size_t(memory.output)] = var;
        note_name(var, value);
        to.push_back({program::Let{var, value}});
        return;
      }
    }
    Step step = from;
    auto* loop = program::as_loop(step);
    if (loop)
      start(*loop);
    else
      program::for_each_expr(step, [&](Expr& expr) { expr = rebuild_(expr); });
    if (auto* call = program::as_call(step)) {
      for (auto& argument : call->arguments)
        if (auto* memory = std::get_if<program::BufferArgument>(&argument)) *memory = moved(*memory);
    } else {
      program::for_each_access(step, [&](const program::MutableAccess& access) {
        const LoopBuffer& memory = own(access.buffer);
        access.buffer = memory.mapped;
        if (access.at && is_in_steps(memory.output)) access.at->insert(access.at->begin(), number_);
      });
    }
    if (auto* let = program::as_let(step)) note_name(let->var, let->value);
    program::for_each_body(step, [&](Steps& body) {
      const Steps before = std::exchange(body, {});
      append(before, body);
    });
    if (loop && loop->until.defined()) loop->until = rebuild_(loop->until);  // it is evaluated after the body
    to.push_back(std::move(step));
  }

  void start(program::Loop& loop) {
    const Expr extent = rebuild_(loop.extent);
    // Consecutive loops may share an index, which has one extent: where the extent changes, they share another one.
    if (!(extent == loop.extent)) {
      const std::int64_t number = loop.index.payload();
      const auto [other, is_new] = indices_.try_emplace(number);
      if (is_new) other->second = outer_.declare.index(outer_.program.index_names[std::size_t(number)], extent);
      loop.index = other->second;
      loop.extent = extent;
    }
    for (auto& carry : loop.carries)
      if (carry.init.defined()) carry.init = rebuild_(carry.init);
  }

  program::BufferArgument moved(program::BufferArgument memory) {
    const auto [input, output, has_address, mapped, ndim] = own(memory.buffer);
    if (has_address && !is_traced(output)) return memory;
    const auto shift = [&](Expr by) { memory.offset = memory.offset.defined() ? memory.offset + by : by; };
    if (input >= 0 && is_state(input)) {
      memory.buffer = buffers_[std::size_t(input - sequences_)];
    } else if (input >= 0) {
      const Variable& outer = outer_of(input);
      memory.buffer = outer_.in_memory(outer);
      reads_.push_back(memory.buffer);
      if (input < sequences_) shift(number_ * row_size(outer_.value_of(outer).shape));
    } else {
      memory.buffer = mapped;
      if (is_in_steps(output)) shift(number_ * row_size(buffer_of(mapped).shape));
    }
    return memory;
  }

  Definitions& outer_;
  ApplyNode* const node_;
  const int sequences_, states_;
  const bool has_until_, is_side_ = false;
  const std::string called_;
  std::vector<std::size_t> from_;  // per input of the inner graph: which input of the node
  int traces_ = 0;
  bool is_possible_ = false;
  Declarations::Mark before_;  // everything numbered from here on belongs to the inner graph
  Steps steps_;
  std::vector<LoopBuffer> own_;  // buffers, in order
  std::vector<int> by_call_;     // inner inputs whose memory runtime functions read
  Expr extent_, number_, count_;
  std::vector<Expr> carried_;                          // per state: the loop's variable, if it is a scalar
  std::vector<std::int64_t> buffers_, trace_buffers_;  // per state that is not a scalar, and per trace
  std::vector<std::int64_t> next_;                     // per state: the buffer of the next one, if not in place
  std::vector<std::int64_t> reads_, writes_;
  std::vector<Expr> scalars_;  // per scalar output of the inner graph, traces excluded: its variable
  program::Loop loop_;
  std::unordered_set<std::uint32_t> on_state_;      // expressions that depend on the previous state
  std::unordered_map<std::int64_t, Expr> indices_;  // indices in place of the inner graph's, where extents differ
  program::Rebuild rebuild_{[this](Expr expr, std::span<const Expr> arguments) {
    const Expr out = made(expr, arguments);
    note_state(out);
    return out;
  }};
};

// Defines the node's inputs first, so that they are kept when the inner graph is withdrawn.
Declarations::Mark Definitions::mark_before_inner_graph() {
  for (auto& input : node_->inputs) value_of(input);
  return declare.mark();
}

namespace {

// Whether some state has a few numbers for each element of a batch, and all others are like it or have few numbers in
// total.
bool has_batch(const InnerLoop& loop) {
  const auto count = [](std::span<const std::int64_t> shape) {
    std::int64_t numbers = 1;
    for (auto length : shape) numbers = numbers < 0 || length < 0 ? -1 : numbers * length;
    return numbers;
  };
  bool found = false;
  for (auto& state : loop.inputs.subspan(std::size_t(loop.sequences), std::size_t(loop.states))) {
    if (!as_tensor(state.type())) return false;
    const std::span<const std::int64_t> shape = state.static_shape();
    if (const auto all = count(shape); all >= 0 && all <= costs::scans::few_numbers) continue;
    const auto numbers = count(shape.subspan(1));
    const std::int64_t most = shape.size() > 2 ? costs::scans::few_numbers : costs::scans::max_in_row;
    if (numbers < 0 || numbers > most || (shape[0] >= 0 && shape[0] < costs::shortest_long)) return false;
    found |= shape.size() > 1;
  }
  return found;
}

}  // namespace

bool Definitions::scan(const InnerLoop& loop) {
  const Declarations::Mark before = mark_before_inner_graph();
  std::shared_ptr<LoopBody> body;
  for (bool in_lanes : {true, false}) {
    if (in_lanes && !has_batch(loop)) continue;
    body = std::make_shared<LoopBody>(*this, loop, in_lanes);
    if (body->is_possible()) break;
    withdraw(before);
    body.reset();
  }
  if (!body) return false;
  body->define();
  builders_[node_].push_back([body] { body->build(); });
  return true;
}

bool Definitions::choose(int condition, const Side& then, const Side& otherwise) {
  const Declarations::Mark before = mark_before_inner_graph();
  std::shared_ptr<LoopBody> sides[2];
  for (auto side : {&then, &otherwise}) {
    auto& body = sides[side == &otherwise] = std::make_shared<LoopBody>(*this, *side);
    if (!body->is_possible()) return withdraw(before), false;
  }
  std::vector<std::int64_t> outputs;
  for (std::uint32_t k = 0; k < node_->output_count; ++k) {
    Value& value = values_[&node_->outputs[k]];
    outputs.push_back(value.buffer = result_buffer(Variable::of(&node_->outputs[k])));
    value.reread = true;
  }
  for (auto& side : sides) side->define_side(outputs);
  builders_[node_].push_back([this, node = node_, condition, outputs, yes = sides[0], no = sides[1]] {
    NodeScope scope(*this, node);
    yes->make_buffers();
    no->make_buffers();
    Opaque opaque;
    resolve([&] {
      const Expr choice = equal_lengths.fixed(read(node->inputs[std::size_t(condition)], {}));
      const Expr truth = choice.dtype() == DType::Bool ? choice : not_equal(choice, pool().number(0, choice.dtype()));
      opaque.step = Step{program::If{truth, yes->steps_of_side(), no->steps_of_side()}};
    });
    yes->add_to(opaque);
    no->add_to(opaque);
    computations.list.push_back({std::move(opaque), touched_checks_});
  });
  return true;
}

}  // namespace bitale::lowering
