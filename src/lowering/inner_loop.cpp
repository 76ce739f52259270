// Loops over inner graphs. The inner graph is lowered by itself, with its own fusion; the Program that comes of it is
// the body of the loop, in which its inputs are elements of sequences, states and values from around it. A state is a
// carried variable if it is a scalar; else it is one buffer, which starts as the initial value and ends as the final
// one. A next state is written over it directly where nothing reads the state afterwards, and is else copied at the end
// of the step.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "lowering/definitions.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::Code;
using program::Role;
using program::Step;
using program::Steps;

class LoopBody {
 public:
  LoopBody(Definitions& outer, Program body, const InnerLoop& loop)
      : outer_(outer),
        body_(std::move(body)),
        node_(outer.node_),
        sequences_(loop.sequences),
        states_(loop.states),
        has_until_(loop.has_until),
        called_(loop.called) {
    for (std::size_t i = 0; i < loop.inputs.size(); ++i) from_.push_back(1 + i);
    index_buffers();
    for (auto& step : body_.steps) program::for_each_body(step, [&](Steps& body) { store_states_last(body); });
  }
  // A side of a choice: it is run once or not at all, and its outputs are the node's.
  LoopBody(Definitions& outer, Program body, const Side& side)
      : outer_(outer),
        body_(std::move(body)),
        node_(outer.node_),
        sequences_(0),
        states_(0),
        has_until_(false),
        is_side_(true),
        from_(side.from.begin(), side.from.end()) {
    index_buffers();
  }

 private:
  void index_buffers() {
    traces_ = body_.output_count - states_ - int(has_until_);
    inputs_.assign(body_.buffers.size(), -1);
    outputs_.assign(body_.buffers.size(), -1);
    has_address_.assign(body_.buffers.size(), false);
    for (std::size_t b = 0; b < body_.buffers.size(); ++b) {
      if (body_.buffers[b].role == Role::input) inputs_[b] = body_.buffers[b].slot;
      if (body_.buffers[b].role == Role::output) outputs_[b] = body_.buffers[b].slot;
    }
  }

 public:
  // Whether the memory that a step needs is known before the loop, and no step asks for what only the top may do.
  bool can_repeat() {
    bool good = true;
    for (std::size_t b = 0; b < body_.buffers.size(); ++b)
      if (inputs_[b] < 0)
        for (auto& length : body_.buffers[b].shape) good &= is_known_outside(length);
    program::visit_steps(body_.steps, [&](const Step& step) {
      program::for_each_access(step, [&](const program::Access& access) {
        if (access.reach == program::Reach::by_host) good = false;
        if (access.reach == program::Reach::by_call) {
          const auto b = std::size_t(access.buffer);
          if (body_.buffers[b].ndim() == 0)
            has_address_[b] = true;
          else if (inputs_[b] >= 0)
            by_call_.push_back(inputs_[b]);
        }
      });
    });
    for (std::size_t b = 0; b < body_.buffers.size(); ++b)
      if (outputs_[b] >= 0 && body_.buffers[b].ndim() == 0 && !is_stored_once(std::int64_t(b))) has_address_[b] = true;
    return good;
  }

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
    // States keep their shapes, and what a step checks of lengths alone is checked before the loop.
    for (std::size_t b = 0; b < body_.buffers.size(); ++b) {
      const int k = outputs_[b];
      if (k < 0 || k >= states_) continue;
      const auto& state = outer_.values_[&node_->outputs[k]].shape;
      for (std::size_t axis = 0; axis < state.size(); ++axis) {
        const Expr before = outer_.equal_lengths.canonical(state[axis]),
                   after = translate(body_.buffers[b].shape[axis]);
        if (before == after) continue;
        outer_.require((extent_ <= 0) | equal(before, after),
                       cat(called_, ": state ", k, " changes its length in dimension ", axis, " from step to step"));
      }
    }
    Steps kept;
    for (auto& step : body_.steps) {
      auto* check = std::get_if<program::Check>(&step.what);
      if (!check || !is_of_lengths(check->condition)) {
        kept.push_back(std::move(step));
        continue;
      }
      outer_.require((extent_ <= 0) | translate(check->condition), body_.checks[std::size_t(check->check)]);
    }
    body_.steps = std::move(kept);
    number_checks();
  }

  // The node's outputs are these buffers, which the other side writes, too.
  void define_side(std::vector<std::int64_t> outputs) {
    note_reads();
    trace_buffers_ = std::move(outputs);
    number_checks();
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

  void make_buffers_of_side() { make_buffers(); }
  Steps steps_of_side() {
    done_.clear(), indices_.clear(), variables_.clear();
    Steps out;
    store_inputs(out);
    append(body_.steps, out);
    return out;
  }
  // What it reads and writes, and its checks, become those of a computation that is about to be added.
  void add_to(Opaque& opaque) {
    auto& [step, reads, writes, vars] = opaque;
    reads.insert(reads.end(), reads_.begin(), reads_.end());
    for (auto buffer : writes_)
      if (std::find(writes.begin(), writes.end(), buffer) == writes.end()) writes.push_back(buffer);
    for (int check : checks_)
      if (check >= 0) outer_.computations.checks[std::size_t(check)].computation = int(outer_.computations.list.size());
  }

 private:
  // Scalar inputs whose addresses runtime functions take.
  void store_inputs(Steps& to) {
    for (std::size_t b = 0; b < body_.buffers.size(); ++b)
      if (has_address_[b] && inputs_[b] >= 0)
        to.push_back({program::Store{mapped_[b], {}, element_of_input(inputs_[b], body_.buffers[b].dtype, {})}});
  }
  void note_reads() {
    for (int input = 0; input < int(from_.size()); ++input) {
      const Variable& outer = outer_of(input);
      Value& value = outer_.value_of(outer);
      if (std::find(by_call_.begin(), by_call_.end(), input) != by_call_.end() && !is_state(input))
        outer_.want(outer);
      else if (input >= sequences_ + states_ && outer.storage().ndim() > 0 && !value.permuted_from)
        outer_.want(outer);
      value.expanded = true;  // the loop may read it more than once: it is stored if it takes computing
    }
  }
  void number_checks() {
    checks_.assign(body_.checks.size(), -1);
    program::visit_steps(body_.steps, [&](const Step& step) {
      if (auto* check = std::get_if<program::Check>(&step.what); check && checks_[std::size_t(check->check)] < 0)
        checks_[std::size_t(check->check)] = outer_.new_check(body_.checks[std::size_t(check->check)]);
    });
  }

  const Variable& outer_of(int input) const { return node_->inputs[from_[std::size_t(input)]]; }
  bool is_state(int input) const { return input >= sequences_ && input < sequences_ + states_; }
  const Variable& outer_sequence(int k) const { return node_->inputs[std::size_t(1 + k)]; }
  const Variable& outer_initial(int k) const { return node_->inputs[std::size_t(1 + sequences_ + k)]; }

  // A length that is the same in all steps: of shapes, and of values that are constants of the loop.
  bool is_known_outside(Expr length) const {
    return !program::any_within(length, [&](Expr expr) {
      if (expr.code() != Code::load) return expr.code() == Code::var || expr.code() == Code::index;
      const auto b = std::size_t(expr.payload());
      const bool is_outer_scalar = inputs_[b] >= sequences_ + states_ && expr.argument_count() == 0;
      return !is_outer_scalar && body_.buffers[b].role != Role::constant;
    });
  }
  static bool is_of_lengths(Expr condition) {
    return !program::any_within(condition, [](Expr expr) {
      return expr.code() == Code::var || expr.code() == Code::index || expr.code() == Code::load;
    });
  }
  // A scalar result: stored at the top, by one step.
  bool is_stored_once(std::int64_t buffer) const {
    int at_top = 0, all = 0;
    const auto stores = [&](const Step& step) {
      auto* store = std::get_if<program::Store>(&step.what);
      return store && store->buffer == buffer;
    };
    for (auto& step : body_.steps) at_top += stores(step);
    program::visit_steps(body_.steps, [&](const Step& step) {
      program::for_each_access(
          step, [&](const program::Access& access) { all += access.buffer == buffer && access.writes(); });
    });
    return at_top == 1 && all == 1;
  }

  // ---- expressions ----

  Expr length_of(std::int64_t buffer, std::size_t axis) {
    const int input = inputs_[std::size_t(buffer)];
    if (input < 0) return translate(body_.buffers[std::size_t(buffer)].shape[axis]);
    const Variable& outer = outer_of(input);
    return outer_.equal_lengths.canonical(outer_.value_of(outer).shape[axis + std::size_t(input < sequences_)]);
  }

  Expr element_of_input(int input, DType dtype, std::vector<Expr> at) {
    if (is_state(input)) {
      const auto k = std::size_t(input - sequences_);
      return buffers_[k] < 0 ? carried_[k] : outer_.pool().load(buffers_[k], dtype, at);
    }
    if (input < sequences_) at.insert(at.begin(), number_);
    return outer_.equal_lengths.fixed(outer_.read(outer_of(input), at));
  }

  Expr loaded(Expr load, std::vector<Expr> at) {
    const auto b = std::size_t(load.payload());
    const int input = inputs_[b], output = outputs_[b];
    if (input >= 0) return element_of_input(input, load.dtype(), std::move(at));
    if (output >= 0 && at.empty() && !has_address_[b] && !is_traced(output)) return scalars_[std::size_t(output)];
    if (is_in_steps(output)) at.insert(at.begin(), number_);
    return outer_.pool().load(mapped_[b], load.dtype(), at);
  }
  bool is_traced(int output) const { return output >= states_ && output < states_ + traces_; }
  bool is_in_steps(int output) const { return is_traced(output) && !is_side_; }

  Expr made(Expr expr, std::span<const Expr> arguments) {
    ExprPool &from = *body_.pool, &to = outer_.pool();
    switch (expr.code()) {
      case Code::index: return indices_.at(expr.payload());
      case Code::var: {
        if (expr.payload() < 0) return to.var(expr.payload(), expr.dtype());  // a parameter of a function
        auto [found, is_new] = variables_.try_emplace(expr.payload());
        if (is_new) found->second = outer_.declare.var(expr.dtype());
        return found->second;
      }
      case Code::dim: return length_of(expr.payload() >> 8, std::size_t(expr.payload() & 0xff));
      case Code::load: return loaded(expr, {arguments.begin(), arguments.end()});
      case Code::call:
        if (const program::Function* function = body_.function_of(expr))
          return function_call(expr, *function, arguments);
        return to.call(from.function_name(expr.payload()), expr.dtype(), arguments);
      case Code::rare_call:
        return to.rare_call(from.function_name(expr.payload()), arguments[0], arguments[1], arguments.subspan(2));
      case Code::select: return select(arguments[0], arguments[1], arguments[2]);
      case Code::cast: return program::cast(arguments[0], expr.dtype());
      case Code::fma: return late_product(expr.dtype(), arguments);
      default: return to.make(expr.code(), expr.dtype(), arguments, expr.payload());
    }
  }

  // Of a sum of two products, one of which depends on a state and the other does not, the one that does is what is
  // added to in one instruction: the next state then waits for one operation and not for two.
  Expr late_product(DType dtype, std::span<const Expr> arguments) {
    const bool is_negative = arguments[2].code() == Code::neg;
    const Expr product = is_negative ? arguments[2].argument(0) : arguments[2];
    const auto waits = [&](Expr expr) { return on_state_.count(expr.id()) > 0; };
    if (product.code() == Code::mul && waits(product) && !waits(arguments[0]) && !waits(arguments[1]) &&
        !outer_.pool().forbids_contraction(product))
      return program::fma(is_negative ? -product.argument(0) : product.argument(0), product.argument(1),
                          arguments[0] * arguments[1]);
    return outer_.pool().make(Code::fma, dtype, arguments, 0);
  }
  // Whether an expression waits for a state; variables that it names do, too.
  void note_state(Expr out) {
    bool waits = std::find(carried_.begin(), carried_.end(), out) != carried_.end();
    if (out.code() == Code::load) waits |= std::find(buffers_.begin(), buffers_.end(), out.payload()) != buffers_.end();
    for (std::size_t i = 0; i < out.argument_count() && !waits; ++i) waits = on_state_.count(out.argument(i).id()) > 0;
    if (waits) on_state_.insert(out.id());
  }
  void note_name(Expr var, Expr value) {
    if (on_state_.count(value.id())) on_state_.insert(var.id());
  }

  Expr function_call(Expr call, const program::Function& function, std::span<const Expr> arguments) {
    auto [found, is_new] = functions_.try_emplace(call.payload());
    if (is_new) {
      const std::string name =
          cat(body_.pool->function_name(call.payload()), ".in_loop", outer_.program.functions.size());
      program::Function own{function.parameters, function.body};
      for (auto& parameter : own.parameters) parameter = translate(parameter);
      own.body = translate(function.body);
      found->second = outer_.pool().call(name, call.dtype(), arguments).payload();
      outer_.program.functions[found->second] = std::move(own);
    }
    return outer_.pool().make(Code::call, call.dtype(), arguments, found->second);
  }

  Expr translate(Expr root) {
    std::vector<Expr> stack{root}, arguments;
    while (!stack.empty()) {
      const Expr expr = stack.back();
      if (done_.count(expr.id())) {
        stack.pop_back();
        continue;
      }
      arguments.clear();
      const std::size_t before = stack.size();
      for (std::size_t i = 0; i < expr.argument_count(); ++i) {
        const auto found = done_.find(expr.argument(i).id());
        if (found == done_.end())
          stack.push_back(expr.argument(i));
        else
          arguments.push_back(found->second);
      }
      if (stack.size() != before) continue;
      const Expr out = made(expr, arguments);
      done_.emplace(expr.id(), out);
      note_state(out);
      if (body_.pool->forbids_contraction(expr)) outer_.pool().forbid_contraction(out);
      if (const ExprPool::SourceCall* meaning = body_.pool->source_call(expr)) {
        arguments.clear();
        for (auto& argument : meaning->arguments)
          if (const auto found = done_.find(argument.id()); found != done_.end()) arguments.push_back(found->second);
        if (arguments.size() == meaning->arguments.size())
          outer_.pool().annotate_call(out, meaning->function, arguments);
      }
      stack.pop_back();
    }
    return done_.at(root.id());
  }

  // ---- memory ----

  std::int64_t add_buffer(const program::Buffer& like, std::string name) {
    program::Buffer buffer;
    buffer.name = std::move(name);
    buffer.dtype = like.dtype;
    buffer.role = like.role == Role::constant ? Role::constant : Role::temporary;
    buffer.value = like.value;
    for (auto& length : like.shape) buffer.shape.push_back(outer_.equal_lengths.fixed(translate(length)));
    return outer_.declare.buffer(std::move(buffer));
  }

  void make_buffers() {
    done_.clear();
    mapped_.assign(body_.buffers.size(), -1);
    copied_.assign(std::size_t(states_), -1);
    for (std::size_t b = 0; b < body_.buffers.size(); ++b) {
      const int output = outputs_[b];
      if (has_address_[b] && !is_traced(output)) {
        mapped_[b] = add_buffer(body_.buffers[b], body_.buffers[b].name);
        if (body_.buffers[b].role != Role::constant) writes_.push_back(mapped_[b]);
        continue;
      }
      if (inputs_[b] >= 0) continue;
      if (output >= 0 && is_traced(output)) {
        mapped_[b] = trace_buffers_[std::size_t(output - states_)];
        continue;
      }
      if (output >= 0 && body_.buffers[b].ndim() == 0) continue;
      if (output >= 0 && output < states_) {
        const auto k = std::size_t(output);
        if (may_overwrite(std::int64_t(b), output)) {
          mapped_[b] = buffers_[k];
          continue;
        }
        mapped_[b] = copied_[k] = add_buffer(body_.buffers[b], cat("next", output));
        writes_.push_back(mapped_[b]);
        continue;
      }
      mapped_[b] = add_buffer(body_.buffers[b], body_.buffers[b].name);
      if (body_.buffers[b].role != Role::constant) writes_.push_back(mapped_[b]);
    }
    for (auto buffer : buffers_)
      if (buffer >= 0) reads_.push_back(buffer), writes_.push_back(buffer);
    writes_.insert(writes_.end(), trace_buffers_.begin(), trace_buffers_.end());
  }

  // Among stores that share a loop, those of next states come last: the others may then read the state, where the next
  // one is written over it.
  void store_states_last(Steps& steps) {
    for (auto& step : steps) program::for_each_body(step, [&](Steps& body) { store_states_last(body); });
    std::unordered_set<std::int64_t> read;
    for (auto& step : steps) {
      if (!std::holds_alternative<program::Store>(step.what)) return;
      program::ExprWalk exprs;
      program::for_each_load(step, exprs, [&](Expr load) { read.insert(load.payload()); });
    }
    std::stable_partition(steps.begin(), steps.end(), [&](const Step& step) {
      const std::int64_t buffer = std::get<program::Store>(step.what).buffer;
      const int output = outputs_[std::size_t(buffer)];
      return output < 0 || output >= states_ || read.count(buffer) > 0;
    });
  }

  // Whether the next state may be written where the state is: it is stored once, element by element, by a loop that
  // visits each, and of the state nothing is read later, nor another element in that loop.
  bool may_overwrite(std::int64_t next, int k) {
    std::int64_t state = -1;
    for (std::size_t b = 0; b < inputs_.size(); ++b)
      if (inputs_[b] == sequences_ + k) state = std::int64_t(b);
    struct Moment {
      int step = -1, top = -1;  // which step, and which of those at the top it is in
    };
    struct Read {
      Moment when;
      std::optional<std::vector<Expr>> at;  // none: all of it
    };
    std::vector<Read> reads;
    Moment now, stored;
    int writes = 0;
    std::vector<Expr> stored_at, around, indices;
    const auto walk = [&](auto& self, const Steps& steps) -> void {
      for (auto& step : steps) {
        now.top += &steps == &body_.steps;
        ++now.step;
        program::ExprWalk exprs;
        program::for_each_load(step, exprs, [&](Expr load) {
          if (load.payload() == state) reads.push_back({now, program::arguments_of(load)});
        });
        program::for_each_access(step, [&](const program::Access& access) {
          if (access.buffer == state && access.reach != program::Reach::element) reads.push_back({now, {}});
          if (access.buffer != next || !access.writes()) return;
          ++writes;
          if (std::holds_alternative<program::Store>(step.what)) stored = now, stored_at = *access.at, around = indices;
        });
        auto* loop = std::get_if<program::Loop>(&step.what);
        if (loop) indices.push_back(loop->index);
        program::for_each_body(step, [&](const Steps& inner) { self(self, inner); });
        if (loop) indices.pop_back();
      }
    };
    walk(walk, body_.steps);
    if (writes != 1 || stored.step < 0) return false;
    for (auto& index : around)
      if (std::find(stored_at.begin(), stored_at.end(), index) == stored_at.end()) return false;
    // All reads come before the store, and those in its own loop are of the same element.
    return std::all_of(reads.begin(), reads.end(), [&](const Read& read) {
      if (!read.at) return read.when.top < stored.top;
      return read.when.step <= stored.step && (read.when.top != stored.top || *read.at == stored_at);
    });
  }

  Expr row_size(const std::vector<Expr>& shape) {
    Expr out = outer_.pool().integer(1);
    for (std::size_t axis = 1; axis < shape.size(); ++axis) out = out * shape[axis];
    return outer_.equal_lengths.fixed(out);
  }

  // ---- steps ----

  void build_loop() {
    done_.clear(), indices_.clear(), variables_.clear();
    number_ = outer_.declare.index("step", extent_);
    loop_ = {};
    loop_.index = number_;
    loop_.extent = outer_.equal_lengths.fixed(extent_);
    scalars_.assign(std::size_t(body_.output_count), Expr());
    for (int k = 0; k < states_; ++k)
      if (buffers_[std::size_t(k)] < 0)
        loop_.carries.push_back({carried_[std::size_t(k)],
                                 CarryKind::state,
                                 {},
                                 outer_.equal_lengths.fixed(outer_.read(outer_initial(k), {}))});
    // A state of its own keeps the steps in order.
    if (loop_.carries.empty() || has_until_)
      loop_.carries.push_back({count_, CarryKind::state, {}, outer_.pool().integer(0)});
    const auto scalar = [&](std::size_t b) { return outer_.pool().load(mapped_[b], body_.buffers[b].dtype, {}); };
    store_inputs(loop_.body);
    append(body_.steps, loop_.body);
    for (std::size_t b = 0; b < body_.buffers.size(); ++b)
      if (const int output = outputs_[b]; has_address_[b] && output >= 0 && !is_traced(output)) {
        const Expr var = scalars_[std::size_t(output)] = outer_.declare.var(body_.buffers[b].dtype);
        loop_.body.push_back({program::Let{var, scalar(b)}});
      }
    for (int k = 0; k < states_; ++k)
      if (copied_[std::size_t(k)] >= 0) copy_back(k);
    for (int k = 0; k < states_; ++k)
      if (buffers_[std::size_t(k)] < 0)
        loop_.body.push_back({program::Next{carried_[std::size_t(k)], scalars_[std::size_t(k)]}});
    if (loop_.carries.back().var == count_) loop_.body.push_back({program::Next{count_, count_ + 1}});
    if (has_until_) loop_.until = scalars_.back();
  }

  Step nested(std::int64_t buffer, const std::function<Step(const std::vector<Expr>&)>& make,
              std::vector<Expr> first = {}) {
    const std::vector<Expr> shape = outer_.program.buffers[std::size_t(buffer)].shape;
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
    const auto to = buffers_[std::size_t(k)], from = copied_[std::size_t(k)];
    const DType dtype = outer_.program.buffers[std::size_t(to)].dtype;
    loop_.body.push_back(nested(to, [&](const std::vector<Expr>& at) {
      return Step{program::Store{to, at, outer_.pool().load(from, dtype, at)}};
    }));
  }

  // What a trace has beyond the steps that were made is zero.
  void clear_rest() {
    for (auto trace : trace_buffers_) {
      const DType dtype = outer_.program.buffers[std::size_t(trace)].dtype;
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
    if (auto* fill = std::get_if<program::Fill>(&from.what)) {
      const Expr value = translate(fill->value);
      const int output = outputs_[std::size_t(fill->buffer)];
      to.push_back(nested(
          mapped_[std::size_t(fill->buffer)],
          [&](const std::vector<Expr>& at) {
            return Step{program::Store{mapped_[std::size_t(fill->buffer)], at, value}};
          },
          is_in_steps(output) ? std::vector<Expr>{number_} : std::vector<Expr>{}));
      return;
    }
    if (auto* store = std::get_if<program::Store>(&from.what)) {
      const int output = outputs_[std::size_t(store->buffer)];
      if (output >= 0 && store->at.empty() && !is_traced(output) && !has_address_[std::size_t(store->buffer)]) {
        const Expr value = translate(store->value), var = outer_.declare.var(value.dtype());
        scalars_[std::size_t(output)] = var;
        note_name(var, value);
        to.push_back({program::Let{var, value}});
        return;
      }
    }
    Step step = from;
    auto* loop = std::get_if<program::Loop>(&step.what);
    if (loop)
      start(*loop);
    else
      program::for_each_expr(step, [&](Expr& expr) { expr = translate(expr); });
    if (auto* call = std::get_if<program::Call>(&step.what)) {
      for (auto& argument : call->arguments)
        if (auto* memory = std::get_if<program::BufferArgument>(&argument)) *memory = moved(*memory);
    } else {
      program::for_each_access(step, [&](const program::MutableAccess& access) {
        const int output = outputs_[std::size_t(access.buffer)];
        access.buffer = mapped_[std::size_t(access.buffer)];
        if (access.at && is_in_steps(output)) access.at->insert(access.at->begin(), number_);
      });
    }
    if (auto* check = std::get_if<program::Check>(&step.what)) check->check = checks_[std::size_t(check->check)];
    if (!loop) program::for_each_definition(step, [&](Expr& var, program::Definition) { var = translate(var); });
    if (auto* let = std::get_if<program::Let>(&step.what)) note_name(let->var, let->value);
    program::for_each_body(step, [&](Steps& body) {
      const Steps before = std::exchange(body, {});
      append(before, body);
    });
    if (loop && loop->until) loop->until = translate(loop->until);  // it is asked when the body is done
    to.push_back(std::move(step));
  }

  void start(program::Loop& loop) {
    loop.extent = translate(loop.extent);
    // Loops one after the other share an index, which counts to one extent.
    Expr& index = indices_[loop.index.payload()];
    if (!index) index = outer_.declare.index(body_.index_names[std::size_t(loop.index.payload())], loop.extent);
    for (auto& carry : loop.carries) {
      if (carry.init) carry.init = translate(carry.init);
      carry.var = translate(carry.var);
    }
    loop.index = index;
    loop.parallel_cost = {};
  }

  program::BufferArgument moved(program::BufferArgument memory) {
    const auto b = std::size_t(memory.buffer);
    const int input = inputs_[b], output = outputs_[b];
    if (has_address_[b] && !is_traced(output)) {
      memory.buffer = mapped_[b];
      return memory;
    }
    const auto shift = [&](Expr by) { memory.offset = memory.offset ? memory.offset + by : by; };
    if (input >= 0 && is_state(input)) {
      memory.buffer = buffers_[std::size_t(input - sequences_)];
    } else if (input >= 0) {
      const Variable& outer = outer_of(input);
      memory.buffer = outer_.in_memory(outer);
      reads_.push_back(memory.buffer);
      if (input < sequences_) shift(number_ * row_size(outer_.value_of(outer).shape));
    } else {
      memory.buffer = mapped_[b];
      if (is_in_steps(output)) shift(number_ * row_size(outer_.program.buffers[std::size_t(memory.buffer)].shape));
    }
    return memory;
  }

  Definitions& outer_;
  Program body_;
  ApplyNode* const node_;
  const int sequences_, states_;
  const bool has_until_, is_side_ = false;
  const std::string called_;
  std::vector<std::size_t> from_;  // per input of the inner graph: which input of the node
  int traces_ = 0;
  std::vector<int> inputs_, outputs_;  // per buffer of the body: which input or output of the inner graph, or -1
  std::vector<int> by_call_;           // inner inputs whose memory runtime functions read
  std::vector<bool> has_address_;      // per buffer of the body: a scalar that is memory within a step
  Expr extent_, number_, count_;
  std::vector<Expr> carried_;                          // per state that is a scalar: the loop's variable
  std::vector<std::int64_t> buffers_, trace_buffers_;  // per state that is none, and per trace
  std::vector<std::int64_t> copied_;                   // per state: where the next one is made, if not in its place
  std::vector<std::int64_t> mapped_;                   // per buffer of the body: the buffer of the whole
  std::vector<int> checks_;                            // per check of the body: that of the whole
  std::vector<std::int64_t> reads_, writes_;
  std::vector<Expr> scalars_;  // per output of the inner graph that is a scalar, traces left out: its variable
  program::Loop loop_;
  std::unordered_map<std::uint32_t, Expr> done_;  // translated expressions
  std::unordered_set<std::uint32_t> on_state_;    // of the whole: what waits for the state before
  std::unordered_map<std::int64_t, Expr> indices_, variables_;
  std::unordered_map<std::int64_t, std::int64_t> functions_;
};

namespace {

// Nothing where it needs the host.
std::optional<Program> lowered(std::span<const Variable> inputs, std::span<const Variable> outputs,
                               bool (*takes)(const Type& type)) {
  for (auto list : {inputs, outputs})
    for (auto& variable : list)
      if (!takes(variable.type())) return {};
  return lower_body(FunctionGraph(Variables(inputs.begin(), inputs.end()), Variables(outputs.begin(), outputs.end())));
}

}  // namespace

bool Definitions::scan(const InnerLoop& loop) {
  std::optional<Program> program = lowered(
      loop.inputs, loop.outputs, [](const Type& type) { return bool(as_tensor(type)) || bool(as_random(type)); });
  if (!program) return false;
  const auto body = std::make_shared<LoopBody>(*this, std::move(*program), loop);
  if (!body->can_repeat()) return false;
  body->define();
  builders_[node_].push_back([body] { body->build(); });
  return true;
}

bool Definitions::choose(int condition, const Side& then, const Side& otherwise) {
  std::shared_ptr<LoopBody> sides[2];
  for (auto side : {&then, &otherwise}) {
    std::optional<Program> program =
        lowered(side->inputs, side->outputs, [](const Type& type) { return bool(as_tensor(type)); });
    if (!program) return false;
    auto& body = sides[side == &otherwise];
    body = std::make_shared<LoopBody>(*this, std::move(*program), *side);
    if (!body->can_repeat()) return false;
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
    yes->make_buffers_of_side();
    no->make_buffers_of_side();
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
