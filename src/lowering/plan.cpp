// Definition: every op says what its outputs are; lengths become int64 expressions on the way.
#include "lowering/plan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::lowering {

std::size_t Plan::MemoHash::operator()(const MemoKey& key) const {
  std::size_t hash = std::hash<const void*>{}(key.variable);
  for (auto id : key.at) hash = hash * 1000003 + id;
  return hash;
}

namespace {

// A complex tensor is, to a Program, its pairs: another axis, of length 2, behind all others.
void add_pair_axis(ExprPool& pool, const Variable& variable, std::vector<Expr>& shape) {
  if (is_complex(variable)) shape.push_back(pool.integer(2));
}

}  // namespace

Plan::Plan(const FunctionGraph& graph, InputLayouts layouts) : graph_(graph), layouts_(std::move(layouts)) {}

void Plan::define_all() {
  program.input_count = int(graph_.inputs().size());
  program.output_count = int(graph_.outputs().size());
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) output_slots_[graph_.outputs()[i].node()].push_back(int(i));
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) define_input(graph_.inputs()[i], int(i));
  nodes_ = graph_.toposort();
  for (auto& node : nodes_) define(node);
}

// ---- leaves ---------------------------------------------------------------------------------------------------------

void Plan::define_input(const Variable& variable, int slot) {
  Value& value = values_[variable.node()];
  const auto buffer = std::int64_t(program.buffers.size());
  for (int axis = 0; axis < variable.storage().ndim(); ++axis) {
    const std::int64_t length = variable.storage().shape[std::size_t(axis)];
    value.shape.push_back(length == unknown_length ? pool().dim(buffer, axis) : pool().integer(length));
  }
  add_pair_axis(pool(), variable, value.shape);
  value.buffer = add_buffer(variable, program::Role::input);
  program.buffers.back().slot = slot;
  if (!layouts_.empty() && layouts_[std::size_t(slot)]) {
    value.buffer = -1;  // not C-contiguous: who needs such makes a copy
    define_strided(variable, *layouts_[std::size_t(slot)], buffer);
  }
}

void Plan::define_strided(const Variable& variable, const InputLayout& layout, std::int64_t buffer) {
  const int rank = variable.storage().ndim();
  const int places = layout.order.empty() ? 0 : int(layout.order.size()) + !layout.unit;
  auto& lengths = program.buffers[std::size_t(buffer)].shape;
  for (int axis = rank; axis < rank + places; ++axis) lengths.push_back(pool().dim(buffer, axis));
  Value& value = values_[variable.node()];
  value.rule = [this, layout, rank, buffer, shape = value.shape, dtype = variable.storage().dtype](Index at) {
    std::vector<Expr> place(std::size_t(rank), pool().integer(0));
    for (auto& [axis, reversed] : layout.order) {
      const Expr index = at[std::size_t(axis)];
      place.push_back(reversed ? shape[std::size_t(axis)] - 1 - index : index);
    }
    if (!layout.unit) place.push_back(pool().integer(0));
    return pool().load(buffer, dtype, place);
  };
}

namespace {

// All elements are bit for bit the same: then the array is a scalar, whatever its shape.
bool is_uniform(const Array& array) {
  const auto size = array.size();
  if (size == 0) return false;
  const auto* bytes = static_cast<const char*>(array.data());
  const std::size_t width = itemsize(array.dtype());
  for (std::int64_t i = 1; i < size; ++i)
    if (std::memcmp(bytes, bytes + std::size_t(i) * width, width) != 0) return false;
  return true;
}

Expr constant_expr(ExprPool& pool, const Array& array) {
  const Dims origin(std::size_t(array.ndim()), 0);
  if (is_float(array.dtype())) return pool.number(array.at(origin), array.dtype());
  return visit_dtype(array.dtype(), [&]<class T>() {
    return pool.integer(std::int64_t(*static_cast<const T*>(array.data())), array.dtype());
  });
}

}  // namespace

void Plan::define_constant(const Variable& variable, Value& value) {
  const Array& given = *variable.constant();
  const Array array = (is_complex(variable) ? given.as_pairs() : given).contiguous();
  for (auto length : array.shape()) value.shape.push_back(pool().integer(length));
  if (!array.object() && is_uniform(array)) {  // an address is no part of the code
    value.scalar = constant_expr(pool(), array);
    return;
  }
  value.buffer = add_buffer(variable, program::Role::constant);
  program.buffers.back().shape = value.shape;
  program.buffers.back().value = array;
}

Value& Plan::value_of(const Variable& variable) {
  if (Value* known = values_.find(variable.node())) return *known;
  if (!variable.is_constant()) throw InternalError(cat("lowering: ", variable.str(), " is used before it is defined"));
  kept_leaves_.push_back(variable);
  Value& value = values_[variable.node()];
  define_constant(variable, value);
  return value;
}

std::int64_t Plan::add_buffer(const Variable& variable, program::Role role) {
  program::Buffer buffer;
  const auto id = std::int64_t(program.buffers.size());
  buffer.name = variable.name().empty() ? cat(role == program::Role::input ? "in" : "b", id) : variable.name();
  buffer.dtype = component_dtype(variable.storage().dtype);
  buffer.role = role;
  if (const Value* value = values_.find(variable.node())) buffer.shape = value->shape;
  return declare.buffer(std::move(buffer));
}

std::int64_t Plan::result_buffer(const Variable& variable) {
  const auto slot = take_output_slot(variable);
  const auto id = add_buffer(variable, slot ? program::Role::output : program::Role::temporary);
  if (slot) program.buffers.back().slot = *slot;
  return id;
}

std::optional<int> Plan::take_output_slot(const Variable& variable) {
  auto found = output_slots_.find(variable.node());
  if (found == output_slots_.end() || found->second.empty()) return {};
  const int slot = found->second.front();
  found->second.erase(found->second.begin());
  return slot;
}

// ---- lengths --------------------------------------------------------------------------------------------------------

Variables Plan::shape_variables(const Variable& variable) {
  static const Type length_type = tensor_type(DType::Int64, 0);
  Variables out;
  const std::span<const Expr> lengths = value_of(variable).shape;
  for (auto& length : lengths.first(std::size_t(variable.storage().ndim()))) {
    Variable& known = length_variables_[length.id()];
    if (!known) {
      known = length.is_constant() ? constant(Array(length.payload())) : Variable(length_type);
      values_[known.node()].scalar = length;
    }
    out.push_back(known);
  }
  return out;
}

Expr Plan::scalar_of(const Variable& variable) {
  const auto is_known = [&](const Variable& v) { return values_.find(v.node()) != nullptr; };
  if (variable.has_owner() && !is_known(variable)) {
    // Walk only what is new: nodes whose outputs have no value yet.
    std::vector<Apply> stack{variable.owner()};
    while (!stack.empty()) {
      const Apply node = stack.back();
      if (is_known(node.output())) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      for (auto& input : node.inputs())
        if (input.has_owner() && !is_known(input)) stack.push_back(input.owner());
      if (stack.size() != before) continue;
      kept_.push_back(node);
      define(node);
      stack.pop_back();
    }
  }
  return program::cast(read(variable, {}), DType::Int64);
}

bool Plan::infer_shapes(const Apply& node) {
  std::vector<Shape> inferred;
  for (std::size_t k = 0; k < node.output_count(); ++k) {
    const Variable output = node.output(int(k));
    const Dims& known = output.storage().shape;
    std::vector<Expr> lengths;
    for (std::size_t axis = 0; axis < known.size(); ++axis) {
      if (known[axis] != unknown_length) {
        lengths.push_back(pool().integer(known[axis]));
        continue;
      }
      if (inferred.empty()) {
        std::vector<Shape> inputs;
        for (auto& input : node.inputs()) inputs.push_back(shape_variables(input));
        inferred = node.op().infer_shape(node, inputs);
        if (inferred.empty()) return false;
      }
      lengths.push_back(equal_lengths.canonical(scalar_of(inferred[k][axis])));
    }
    add_pair_axis(pool(), output, lengths);
    values_[output.node()].shape = std::move(lengths);
  }
  return true;
}

bool Plan::known_at_entry(Expr root) const {
  const auto role_of = [&](std::int64_t buffer) { return program.buffers[std::size_t(buffer)].role; };
  bool known = true;
  program::ExprWalk()(root, [&](Expr expr) {
    switch (expr.code()) {
      case program::Code::index:
      case program::Code::var: known = false; break;
      case program::Code::dim: known &= role_of(expr.payload() >> 8) == program::Role::input; break;
      case program::Code::load:
        known &= role_of(expr.payload()) == program::Role::input || role_of(expr.payload()) == program::Role::constant;
        break;
      default: break;
    }
  });
  return known;
}

// ---- what ops say ---------------------------------------------------------------------------------------------------

void Plan::define(const Apply& node) {
  NodeScope scope(*this, node.node());
  const bool shapes_known = infer_shapes(node);
  const bool by_host = node.op().complex_form() != ComplexForm::memory && touches_complex(node);
  if (by_host || !shapes_known || !node.op().emit(*this, node)) define_host_call(node);
  definition_order_.push_back(node.node());
}

Expr Plan::in(int input, Index at) {
  return parameters_.empty() ? read(node_->inputs[std::size_t(input)], at) : parameters_[std::size_t(input)];
}
std::span<const Expr> Plan::shape_in(int input) { return value_of(node_->inputs[std::size_t(input)]).shape; }
std::span<const Expr> Plan::shape_out(int output) { return values_[&node_->outputs[std::size_t(output)]].shape; }

ElementRule Plan::bound(ElementRule rule) {
  return [this, node = node_, rule = std::move(rule)](Index at) {
    NodeScope scope(*this, node);
    return rule(at);
  };
}

void Plan::element(int output, ElementRule rule, int cost) {
  Value& value = values_[&node_->outputs[std::size_t(output)]];
  value.rule = bound(std::move(rule));
  value.own_cost = cost;
  if (cost >= materialize_threshold && node_->op->elementwise()) ++expensive_calls_[node_->op->kind()];
}

void Plan::permute(int output, int input, std::span<const int> order) {
  Value& value = values_[&node_->outputs[std::size_t(output)]];
  value.permuted_from = node_->inputs[std::size_t(input)];
  value.order.assign(order.begin(), order.end());
  value.own_cost = 0;
  const int input_ndim = value.permuted_from.ndim();
  value.rule = bound([this, input, input_ndim, order = value.order](Index at) {
    std::vector<Expr> source(std::size_t(input_ndim), pool().integer(0));
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] >= 0) source[std::size_t(order[k])] = at[k];
    return in(input, source);
  });
}

void Plan::reduce(int output, Combiner combiner, std::vector<Expr> domain, std::vector<bool> reduced, DType dtype,
                  ElementRule rule) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  Value& value = values_[variable.node()];
  const bool is_scalar = variable.storage().ndim() == 0;
  const Expr var = declare.var(dtype);
  std::int64_t buffer = -1;
  const DType stored = variable.storage().dtype;
  if (is_scalar) {
    value.scalar = program::cast(var, stored);
  } else if (computing_dtype(stored) == stored) {
    buffer = value.buffer = result_buffer(variable);
  } else {  // nothing is combined in memory of such a dtype
    buffer = add_buffer(variable, program::Role::temporary);
    program.buffers.back().dtype = dtype;
    element(
        output,
        [this, buffer, dtype, stored](Index at) { return program::cast(pool().load(buffer, dtype, at), stored); }, 0);
  }
  builders_[node_].push_back([=, this, rule = bound(std::move(rule))] {
    Computation root;
    root.kind = Computation::Kind::reduce;
    root.buffer = buffer;
    root.domain = domain;
    root.reduced = reduced;
    root.combiner = combiner;
    root.var = var;
    const ElementRule in_accumulator = [&](Index at) { return program::cast(rule(at), dtype); };
    add_computation(std::move(root), in_accumulator, [&](Index at) {
      std::vector<Expr> kept;
      for (std::size_t k = 0; k < at.size(); ++k)
        if (!reduced[k]) kept.push_back(at[k]);
      // keepdims is a permutation made elsewhere: the output has exactly the kept axes.
      return kept;
    });
  });
}

// The buffer of `base`, when nobody but the node that makes `result` reads it: its elements may be overwritten.
std::optional<std::int64_t> Plan::reuse_buffer(const Variable& base, const Variable& result) {
  const Value& value = value_of(base);
  if (value.buffer < 0 || value.host_allocates || value.reread || base.is_constant() ||
      graph_.clients(base).size() != 1)
    return {};
  program::Buffer& buffer = program.buffers[std::size_t(value.buffer)];
  if (buffer.role != program::Role::temporary) return {};
  if (auto slot = take_output_slot(result)) {
    buffer.role = program::Role::output;
    buffer.slot = *slot;
  }
  return value.buffer;
}

void Plan::assemble(int output, std::optional<int> base, std::vector<Piece> pieces) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  const auto inherited = base ? reuse_buffer(node_->inputs[std::size_t(*base)], variable) : std::nullopt;
  if (inherited) base.reset();
  const std::int64_t buffer = values_[variable.node()].buffer = inherited ? *inherited : result_buffer(variable);
  for (auto& piece : pieces) {
    piece.value = bound(std::move(piece.value));
    piece.target = [this, node = node_, target = std::move(piece.target)](Index at) {
      NodeScope scope(*this, node);
      return target(at);
    };
  }
  std::optional<Variable> source;
  if (base) source = node_->inputs[std::size_t(*base)];
  builders_[node_].push_back([this, buffer, source, pieces = std::move(pieces)] {
    if (source) add_copy(*source, buffer);
    for (auto& piece : pieces) {
      Computation root;
      root.buffer = buffer;
      root.domain = piece.domain;
      root.combiner = piece.combiner;
      add_computation(std::move(root), piece.value, piece.target);
    }
  });
}

void Plan::want(const Variable& variable) { value_of(variable).wanted = true; }

MatrixLayout Plan::matrix(int input) {
  const Variable& variable = node_->inputs[std::size_t(input)];
  const Value& value = value_of(variable);
  const bool transposed = value.permuted_from && value.order == std::vector<int>{1, 0};
  const Variable source = transposed ? value.permuted_from : variable;
  want(source);
  matrix_sources_[node_][input] = source;
  return {transposed};
}

bool Plan::is_computed(int input) {
  const Variable& variable = node_->inputs[std::size_t(input)];
  const Value& value = value_of(variable);
  return value.rule && value.buffer < 0 && !value.permuted_from && graph_.clients(variable).size() == 1;
}

void Plan::observe() {
  const Apply node = Apply::of(node_);
  for (auto& input : node.inputs()) want(input);
  add_host_call(node, {});
}

void Plan::define_host_call(const Apply& node) {
  for (auto& input : node.inputs()) want(input);
  for (std::size_t k = 0; k < node.output_count(); ++k) {
    const Variable output = node.output(int(k));
    Value& value = values_[output.node()];
    // The host says the lengths: they are known after the call, whatever infer_shape promises.
    value.shape.clear();
    const std::int64_t buffer = result_buffer(output);
    for (int axis = 0; axis < output.storage().ndim(); ++axis) {
      const std::int64_t length = output.storage().shape[std::size_t(axis)];
      value.shape.push_back(length == unknown_length ? pool().dim(buffer, axis) : pool().integer(length));
    }
    add_pair_axis(pool(), output, value.shape);
    program.buffers[std::size_t(buffer)].shape = value.shape;
    value.buffer = buffer;
    value.host_allocates = true;
  }
  std::vector<std::int64_t> outputs;
  for (auto& output : node.outputs()) outputs.push_back(values_[output.node()].buffer);
  add_host_call(node, std::move(outputs));
}

void Plan::add_host_call(const Apply& node, std::vector<std::int64_t> outputs) {
  const int callback = int(callbacks.size());
  callbacks.push_back(node);
  program.callbacks.push_back(node.op().label());
  builders_[node_].push_back([this, node, callback, outputs = std::move(outputs)] {
    Computation root;
    root.kind = Computation::Kind::step;
    for (auto& input : node.inputs()) root.reads.push_back(in_memory(input));
    root.writes = outputs;
    root.step = program::Step{program::HostCall{callback, root.reads, root.writes}};
    computations.push_back(std::move(root));
  });
}

// ---- checks ---------------------------------------------------------------------------------------------------------

namespace {
// 0 <= index < length, in one comparison.
Expr is_below(Expr index, Expr length) {
  return program::cast(index, DType::UInt64) < program::cast(length, DType::UInt64);
}
}  // namespace

int Plan::new_check(std::string message) {
  const int id = int(program.checks.size());
  program.checks.push_back(std::move(message));
  check_nodes.push_back(Apply::of(node_));
  check_computations.push_back(-1);
  is_expected.push_back(false);
  return id;
}

int Plan::add_check(Expr condition, std::string message) {
  const int id = new_check(std::move(message));
  if (known_at_entry(condition)) {
    entry_checks.push_back({program::Check{condition, id}});
    return id;
  }
  builders_[node_].push_back([this, condition, id] {
    Computation root;
    root.kind = Computation::Kind::step;
    root.value = condition;
    root.step = program::Step{program::Check{condition, id}};
    check_computations[std::size_t(id)] = int(computations.size());
    computations.push_back(std::move(root));
  });
  return id;
}

void Plan::require(Expr condition, std::string message) {
  if (condition.is_constant(1)) return;
  if (condition.code() == program::Code::eq && known_at_entry(condition)) {
    const Expr a = equal_lengths.canonical(condition.argument(0)), b = equal_lengths.canonical(condition.argument(1));
    if (a == b) return;
    condition = equal(a, b);
    equal_lengths.equate(a, b);
  }
  const int token = add_check(condition, std::move(message));
  for (std::uint32_t k = 0; k < node_->output_count; ++k) values_[&node_->outputs[k]].checks.push_back(token);
}

void Plan::expect(Expr condition, std::string message) {
  if (!condition.is_constant(1)) is_expected[std::size_t(add_check(condition, std::move(message)))] = true;
}

// Whether `index` counts along an axis of that length, so that it is always in range.
bool Plan::counts_along(Expr index, Expr length) const {
  return index.code() == program::Code::index && declare.extent_of(index) == equal_lengths.canonical(length);
}

// The check is made in the loop that reads the index, with what else that loop does; until it is made, an index out of
// range reads and writes element 0.
void Plan::require_in_range(int input, Expr length, std::string message) {
  const Variable variable = node_->inputs[std::size_t(input)];
  if (variable.storage().ndim() == 0) {
    const Expr index = program::cast(in(input, {}), DType::Int64);
    require((index >= -length) & (index < length), std::move(message));
    return;
  }
  length = equal_lengths.canonical(length);
  if (!range_checks_.emplace(variable.node(), length.id()).second) return;
  Expr count = pool().integer(1);
  for (auto& extent : value_of(variable).shape) count = count * extent;
  require((length > 0) | equal(count, pool().integer(0)), message);
  const int id = new_check(std::move(message));
  const Expr var = declare.var(DType::Bool);
  builders_[node_].push_back([this, variable, length, id, var] {
    const std::vector<Expr> domain = equal_lengths.canonical(value_of(variable).shape);
    const std::vector<Expr> indices = declare.indices_of(domain);
    const Expr seen = program::cast(resolved_read(variable, indices), DType::Int64);
    if (counts_along(seen, length)) return;
    Computation scan;
    scan.kind = Computation::Kind::reduce;
    scan.domain = domain;
    scan.reduced.assign(domain.size(), true);
    scan.combiner = Combiner::bit_and;
    scan.var = var;
    add_computation(
        std::move(scan),
        [&](Index at) {
          const Expr index = program::cast(read(variable, at), DType::Int64);
          return is_below(wrap_index(index, length), length);
        },
        nullptr);
    Computation check;
    check.kind = Computation::Kind::step;
    check.value = var;
    check.step = program::Step{program::Check{var, id}};
    check_computations[std::size_t(id)] = int(computations.size());
    computations.push_back(std::move(check));
  });
}

Expr Plan::index_in(int input, Index at, Expr length, bool wraps) {
  const Expr index = program::cast(in(input, at), DType::Int64);
  if (counts_along(index, length)) return index;
  const Expr wrapped = wraps ? wrap_index(index, length) : index;
  if (node_->inputs[std::size_t(input)].ndim() == 0) return wrapped;  // checked before
  return select(is_below(wrap_index(index, length), length), wrapped, pool().integer(0));
}

}  // namespace bitale::lowering
